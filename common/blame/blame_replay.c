#include "common/blame/blame_replay.h"

#include "common/base/array.h"
#include "common/blame/blame_culprits.h"

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
