#include "common/blame/blame_replay.h"

#include "common/base/array.h"
#include "common/blame/blame_culprits.h"
#include "common/select/select.h"

/* Finds the number of the process's main thread, plus 1. False if out of memory. */
static bool number_process(struct blame *b, uint64_t pid, uint32_t *number)
{
	uint64_t identity[3] = { b->captures, pid, pid };
	uint32_t id;

	if (!intern_add(&b->identities, (struct slice){ (const uint8_t *)identity, sizeof(identity) }, &id))
		return false;
	*number = id + 1;
	return true;
}

static bool is_timed(const struct blame *b)
{
	return b->asked->from.kind || b->asked->to.kind;
}

/* Finds the window up to this time. If a time of day comes several times, the first one counts. */
static void extend_window(struct blame *b, uint64_t time)
{
	const struct select asked = { b->asked, &b->gather.capture, b->gather.base };
	struct blame_window *w = &b->window;
	uint64_t n, after, from;

	if (!b->gather.based || time <= w->seen)
		return;
	w->seen = w->seen ? w->seen : b->gather.base;
	n = time > w->seen ? select_overlap(&asked, time, time - w->seen, &after) : 0;
	from = n ? time - after - n : 0;
	if (n && (!w->to || w->to == from)) {
		w->from = w->to ? w->from : from;
		w->to = time - after;
	}
	w->seen = time;
}

struct blame_life *blame_replay_seen(struct blame *b, uint64_t id, uint32_t thread, uint64_t time)
{
	const struct capture *c = &b->gather.capture;
	const struct capture_process *p = &c->processes[c->threads[id].process];
	struct blame_life *l;

	if (!grow_array(&b->lives, &b->cap_lives, thread, sizeof(*b->lives))) {
		b->failed = true;
		return NULL;
	}
	l = &b->lives[thread];
	l->end = time > l->end ? time : l->end;
	if (is_timed(b)) {
		extend_window(b, time);
		l->from = b->window.from;
		l->to = b->window.to;
	}
	if (!number_process(b, p->pid, &l->process) ||
	    (p->parent && !number_process(b, c->processes[p->parent].pid, &l->parent)))
		b->failed = true;
	return l;
}

void blame_replay_sample(struct blame *b, const struct record_sample *r, uint32_t thread)
{
	struct blame_life *l = blame_replay_seen(b, r->thread, thread, r->time);

	if (l)
		l->wanted = l->wanted || b->wanted[b->tap.key];
	blame_culprits_sample(b, r, thread);
}

void blame_replay_woken(struct blame *b, const struct record_woken *r, uint32_t thread)
{
	culprits_queue(&b->culprits, b->threads[thread].queue_cpu, thread,
		       r->time - (r->queued - blame_throttled(r)), r->time);
	blame_replay_seen(b, r->thread, thread, r->time);
}

/* Cuts the time from one moment to another to the window of the thread. Returns false if nothing is left. */
static bool cut_span(const struct blame *b, uint32_t thread, uint64_t *from, uint64_t *to)
{
	const struct blame_life *l = &b->lives[thread];

	*from = *from > l->from ? *from : l->from;
	*to = *to < l->to ? *to : l->to;
	return *from < *to;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Samples stay whole, as in other views. Sums of short waits are cut. */
static bool cut_part(const struct blame *b, struct chain_part *p)
{
	uint64_t from = p->time - earlier(p->weight, p->time), to = p->time;
	const struct blame_life *l = &b->lives[p->thread];

	if (!p->waits)
		return l->from <= p->time && p->time < l->to;
	if (!cut_span(b, p->thread, &from, &to))
		return false;
	p->time = to;
	p->weight = to - from;
	return true;
}

/* A longer wait ends with the window, as if its waker had ended it then. */
static bool cut_wait(const struct blame *b, struct chain_wait *w)
{
	if (!cut_span(b, w->thread, &w->start, &w->on))
		return false;
	w->woken = w->woken > w->start ? earlier(w->woken, w->on) : w->start;
	w->throttled = earlier(w->throttled, w->on);
	return true;
}

void blame_replay_cut(struct blame *b)
{
	struct culprits *q = &b->culprits;
	struct chain *c = &b->chain;
	size_t n = 0;

	if (!is_timed(b))
		return;
	for (size_t i = 0; i < c->n_parts; i++) {
		c->parts[n] = c->parts[i];
		n += cut_part(b, &c->parts[n]);
	}
	c->n_parts = n;
	n = 0;
	for (size_t i = 0; i < c->n_waits; i++) {
		c->waits[n] = c->waits[i];
		n += cut_wait(b, &c->waits[n]);
	}
	c->n_waits = n;
	n = 0;
	for (size_t i = 0; i < q->n_queues; i++) {
		q->queues[n] = q->queues[i];
		n += cut_span(b, q->queues[n].thread, &q->queues[n].from, &q->queues[n].to);
	}
	q->n_queues = n;
	for (size_t t = 0; t < b->cap_lives; t++) {
		struct blame_life *l = &b->lives[t];

		l->exited = l->exited && l->end <= l->to;
		l->end = earlier(l->end, l->to);
	}
}
