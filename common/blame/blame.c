#include "common/blame/blame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/blame/blame_culprits.h"
#include "common/blame/blame_locks.h"
#include "common/blame/blame_replay.h"
#include "common/blame/blame_write.h"
#include "common/blame/what_if.h"
#include "common/gather/gather_keys.h"
#include "common/profile/sanitize.h"
#include "common/select/select.h"

static bool end_segment(void *context, const uint32_t *leaves);

/* All threads, because any may be a waker. */
static struct view view_of_all(const struct view *asked)
{
	struct view v = *asked;

	v.n_pids = v.n_tids = v.n_comms = v.n_groups = v.n_users = v.n_labels = 0;
	v.wall = true;
	v.weight = WEIGHT_NS;
	v.modules = NULL;
	v.moment_ns = 0;
	if (asked->blame == BLAME_CULPRITS)
		return v;
	if (asked->blame == BLAME_REPLAY) { /* it cuts waits and runs to the time window itself */
		v.parts = 0;
		v.from = v.to = (struct time_arg){ 0 };
	}
	v.tid = true;
	v.n_keys = view_frame_keys(asked) && asked->blame != BLAME_REPLAY ? asked->n_keys : 0;
	return v;
}

static bool add_key(struct view *v, enum view_by by)
{
	if (v->n_keys == VIEW_KEYS)
		return false;
	v->keys[v->n_keys++].by = by;
	return true;
}

/* Keeps stacks of other groups and users apart, by outermost frames. Returns the number of these. */
static uint32_t split_stacks(struct view *v, const struct view *asked)
{
	uint32_t n = 0;

	if (asked->blame == BLAME_CULPRITS || (!asked->n_groups && !asked->n_users))
		return 0;
	if (!v->n_keys)
		add_key(v, BY_FUNCTION);
	if (asked->n_groups)
		n += add_key(v, BY_CONTAINER);
	if (asked->n_users)
		n += add_key(v, BY_USER);
	return n;
}

bool blame_init(struct blame *b, struct profile *p, unsigned int side, const struct view *view)
{
	*b = (struct blame){ .asked = view, .view = view_of_all(view), .p = p, .side = side };
	b->hidden = split_stacks(&b->view, view);
	b->roots = (uint32_t)view_roots(&b->view) + b->view.container + 1;
	b->tap = (struct gather_tap){ .context = b, .segment = end_segment };
	chain_init(&b->chain);
	intern_init(&b->identities);
	intern_init(&b->pairs);
	if (!profile_init(&b->wall) || !gather_init(&b->gather, &b->wall, 0, &b->view))
		return false;
	b->gather.tap = &b->tap;
	return true;
}

void blame_release(struct blame *b)
{
	gather_release(&b->gather);
	profile_release(&b->wall);
	chain_release(&b->chain);
	culprits_release(&b->culprits);
	intern_release(&b->identities);
	intern_release(&b->pairs);
	buf_release(&b->lock_name);
	free(b->tap.leaves);
	free(b->threads);
	free(b->lives);
	free(b->wanted);
	free(b->spans);
	free(b->shown);
	*b = (struct blame){ 0 };
}

/* Returns the thread's number, the same in all segments of a capture; CHAIN_NO_THREAD if out of memory. */
static uint32_t identify(struct blame *b, uint64_t thread)
{
	const struct capture *c = &b->gather.capture;
	const struct capture_thread *t = &c->threads[thread];
	uint64_t identity[3] = { b->captures, c->processes[t->process].pid, t->tid };
	uint32_t id;

	if (!intern_add(&b->identities, (struct slice){ (const uint8_t *)identity, sizeof(identity) }, &id) ||
	    !grow_array(&b->threads, &b->cap_threads, id, sizeof(*b->threads))) {
		b->failed = true;
		return CHAIN_NO_THREAD;
	}
	if (b->threads[id].segment != b->segment + 1)
		b->threads[id] =
			(struct blame_thread){ .label = b->threads[id].label, .segment = b->segment + 1 };
	return id;
}

/* Names the thread as the roots of wall are named. */
static void name_thread(struct blame *b, uint64_t thread, uint32_t id)
{
	const struct capture *c = &b->gather.capture;
	const struct capture_thread *t = &c->threads[thread];
	struct blame_thread *to = &b->threads[id];
	struct buf text = { 0 };

	if (to->label && to->comm == t->comm)
		return;
	if (t->comm)
		sanitize_append(&text, capture_text(c, t->comm));
	else
		buf_printf(&text, "[pid %" PRIu64 "]", c->processes[t->process].pid);
	buf_printf(&text, "-%" PRIu64 "/%" PRIu64, c->processes[t->process].pid, t->tid);
	to->comm = t->comm;
	if (text.failed || !profile_label(&b->wall, buf_view(&text), &to->label))
		b->failed = true;
	buf_release(&text);
}

/* Keys keep the command, the group and the user of their time: they may be others by now. */
static bool is_wanted(struct blame *b, uint32_t key)
{
	const struct select select = { b->asked, &b->gather.capture, 0 };
	struct gather_key k = gather_keys_at(&b->gather, key);
	struct capture_thread *t = &b->gather.capture.threads[k.thread], thread = *t;
	struct capture_process *p = &b->gather.capture.processes[t->process], process = *p;
	bool wanted;

	t->comm = k.comm;
	if (b->asked->n_groups)
		p->cgroup = k.cgroup;
	if (b->asked->n_users)
		p->owner = k.owner;
	wanted = select_thread(&select, k.thread);
	*t = thread;
	*p = process;
	return wanted;
}

static void see_keys(struct blame *b)
{
	for (; b->n_wanted < b->gather.keys.n; b->n_wanted++) {
		if (!grow_array(&b->wanted, &b->cap_wanted, b->n_wanted, sizeof(*b->wanted))) {
			b->failed = true;
			return;
		}
		b->wanted[b->n_wanted] = is_wanted(b, (uint32_t)b->n_wanted);
	}
}

static void see_sample(struct blame *b, const struct record_sample *r)
{
	enum capture_wait wait = capture_wait(&b->gather.capture, r->event);
	uint32_t thread = identify(b, r->thread), key = b->tap.key + 1;
	struct blame_last *last;

	if (thread == CHAIN_NO_THREAD)
		return;
	if (b->asked->blame == BLAME_CULPRITS) {
		blame_culprits_sample(b, r, thread);
		return;
	}
	name_thread(b, r->thread, thread);
	chain_part(&b->chain,
		   &(struct chain_part){ b->tap.time, b->tap.weight, thread, key, wait != CAPTURE_RUNS });
	if (b->asked->blame == BLAME_REPLAY)
		blame_replay_sample(b, r, thread);
	if (wait == CAPTURE_RUNS)
		return;
	last = wait == CAPTURE_QUEUED	   ? &b->threads[thread].queued
	       : wait == CAPTURE_THROTTLED ? &b->threads[thread].throttled
					   : &b->threads[thread].slept;
	*last = (struct blame_last){ key, b->chain.n_parts };
}

static void see_outside(struct blame *b, const struct record_outside *r)
{
	uint32_t thread = b->asked->blame == BLAME_CULPRITS ? identify(b, r->thread) : CHAIN_NO_THREAD;

	if (thread != CHAIN_NO_THREAD)
		blame_culprits_outside(b, r, thread);
}

static void see_ran(struct blame *b, const struct record_ran *r)
{
	uint32_t thread = identify(b, r->thread);

	if (thread != CHAIN_NO_THREAD && r->span < r->time)
		chain_since(&b->chain, thread, r->time - r->span);
	if (thread != CHAIN_NO_THREAD && b->asked->blame == BLAME_REPLAY) {
		name_thread(b, r->thread, thread);
		blame_replay_seen(b, r->thread, thread, r->time);
	}
}

static void see_exit(struct blame *b, const struct record_exit *r)
{
	uint32_t thread = identify(b, r->thread);
	struct blame_life *l =
		thread != CHAIN_NO_THREAD ? blame_replay_seen(b, r->thread, thread, r->time) : NULL;

	if (l)
		l->exited = true;
}

/* Takes the long wait out of the sample that ends with it; the rest are short waits before it. */
static void take_out(struct blame *b, size_t part, uint64_t ns, uint64_t start)
{
	struct chain_part *p = part ? &b->chain.parts[part - 1] : NULL;

	if (!p || !ns)
		return;
	p->weight -= ns < p->weight ? ns : p->weight;
	p->time = start < p->time ? start : p->time;
}

/* The wait is to be explained if its thread is wanted, as far as it is in the time window. */
static void add_span(struct blame *b, const struct chain_wait *w)
{
	const struct select select = { &b->view, &b->gather.capture, b->gather.base };
	uint64_t after, n = select_overlap(&select, w->woken, w->woken - w->start, &after);

	if (!n || !w->place || !b->wanted[w->place - 1])
		return;
	if (!grow_array(&b->spans, &b->cap_spans, b->n_spans, sizeof(*b->spans))) {
		b->failed = true;
		return;
	}
	b->spans[b->n_spans++] = (struct blame_span){ *w, w->woken - after - n, w->woken - after, 0 };
}

/* Notes the lock of the wait that was just added. */
static void see_lock(struct blame *b, const struct record_woken *r)
{
	uint32_t holder = r->owner ? identify(b, r->owner) : CHAIN_NO_THREAD;

	if (holder != CHAIN_NO_THREAD)
		name_thread(b, r->owner, holder);
	blame_locks_note(b, &b->spans[b->n_spans - 1], r, holder);
}

static void see_woken(struct blame *b, const struct record_woken *r)
{
	uint64_t woken = r->time - r->queued, start = woken - r->slept, throttled = blame_throttled(r);
	uint32_t thread = identify(b, r->thread), waker = CHAIN_NO_THREAD;
	size_t spans = b->n_spans;
	uint32_t waking = 0;
	const struct blame_thread *t;
	struct chain_wait w;

	if (thread != CHAIN_NO_THREAD && b->asked->blame == BLAME_CULPRITS) {
		blame_culprits_queue(b, r, thread);
		return;
	}
	if (r->waker)
		waker = identify(b, r->waker);
	if (thread == CHAIN_NO_THREAD || b->failed)
		return;
	if (waker != CHAIN_NO_THREAD)
		name_thread(b, r->waker, waker);
	if (waker != CHAIN_NO_THREAD && (r->user >= NODE_FIRST || r->kernel >= NODE_FIRST) &&
	    !gather_keys_see(&b->gather, r->waker, r->user, r->kernel, &waking))
		b->failed = true;
	see_keys(b);
	t = &b->threads[thread];
	take_out(b, t->slept.part, r->slept, start);
	take_out(b, t->throttled.part, throttled, start);
	take_out(b, t->queued.part, r->queued - throttled, start);
	w = (struct chain_wait){ start,
				 woken,
				 r->time,
				 thread,
				 waker,
				 r->slept ? t->slept.key : 0,
				 t->queued.key,
				 waking,
				 (uint8_t)(r->by < WOKEN_BYS ? r->by : WOKEN_BY_UNKNOWN),
				 throttled ? woken + throttled : 0,
				 t->throttled.key };
	if (r->slept && b->gather.based)
		add_span(b, &w);
	if (b->n_spans > spans && r->lock && b->asked->blame == BLAME_LOCKS)
		see_lock(b, r);
	if (b->asked->blame == BLAME_REPLAY)
		blame_replay_woken(b, r, thread);
	chain_wait(&b->chain, &w);
}

static uint32_t leaf_of(const uint32_t *leaves, uint32_t key)
{
	return key ? leaves[key - 1] : 0;
}

/* The ids of the segment end: puts nodes of wall in place of keys. */
static bool end_segment(void *context, const uint32_t *leaves)
{
	struct blame *b = context;

	if (b->asked->blame == BLAME_CULPRITS) {
		blame_culprits_segment(b, leaves);
		b->segment++;
		return !b->failed;
	}
	see_keys(b);
	for (; b->parts_done < b->chain.n_parts; b->parts_done++)
		b->chain.parts[b->parts_done].place = leaf_of(leaves, b->chain.parts[b->parts_done].place);
	for (; b->waits_done < b->chain.n_waits; b->waits_done++) {
		b->chain.waits[b->waits_done].place = leaf_of(leaves, b->chain.waits[b->waits_done].place);
		b->chain.waits[b->waits_done].waking =
			leaf_of(leaves, b->chain.waits[b->waits_done].waking);
		b->chain.waits[b->waits_done].queue = leaf_of(leaves, b->chain.waits[b->waits_done].queue);
		b->chain.waits[b->waits_done].quota = leaf_of(leaves, b->chain.waits[b->waits_done].quota);
	}
	for (; b->spans_done < b->n_spans; b->spans_done++) {
		b->spans[b->spans_done].wait.place = leaf_of(leaves, b->spans[b->spans_done].wait.place);
		b->spans[b->spans_done].wait.waking = leaf_of(leaves, b->spans[b->spans_done].wait.waking);
	}
	if (b->asked->blame == BLAME_REPLAY)
		blame_culprits_segment(b, leaves);
	if (!grow_array(&b->shown, &b->cap_shown, b->wall.n, sizeof(*b->shown)))
		return false;
	for (size_t i = 0; i < b->n_wanted; i++)
		b->shown[leaves[i]] = b->shown[leaves[i]] || b->wanted[i];
	b->n_wanted = 0;
	b->segment++;
	return !b->failed;
}

const char *blame_apply(struct blame *b, const struct record *r)
{
	const struct capture *c = &b->gather.capture;
	const char *wrong;

	if (r->type == RECORD_SEGMENT && !(c->end_seen && c->end_reason == END_CONTINUES)) {
		b->captures++;
		b->window = (struct blame_window){ 0 };
	}
	wrong = gather_apply(&b->gather, r);
	if (b->asked->blame != BLAME_CULPRITS)
		see_keys(b);
	if (b->tap.took)
		see_sample(b, &r->sample);
	else if (!wrong && r->type == RECORD_RAN)
		see_ran(b, &r->ran);
	else if (!wrong && r->type == RECORD_WOKEN)
		see_woken(b, &r->woken);
	else if (!wrong && r->type == RECORD_OUTSIDE)
		see_outside(b, &r->outside);
	else if (!wrong && r->type == RECORD_EXIT && b->asked->blame == BLAME_REPLAY &&
		 capture_has_thread(c, r->exit.thread))
		see_exit(b, &r->exit);
	return wrong;
}

bool blame_finish(struct blame *b)
{
	bool good = gather_finish(&b->gather) && !b->failed && !b->culprits.failed;

	if (b->asked->blame == BLAME_CULPRITS)
		return good && blame_culprits_write(b);
	if (b->asked->blame == BLAME_WAKERS)
		return good && !b->chain.failed && blame_write(b);
	if (b->asked->blame == BLAME_REPLAY)
		return good && !b->chain.failed && what_if_find(b);
	chain_sort(&b->chain);
	if (good && b->asked->blame == BLAME_LOCKS)
		blame_locks_explain(b);
	for (size_t i = 0; b->asked->blame == BLAME_CHAINS && good && !b->chain.failed && i < b->n_spans; i++)
		chain_explain(&b->chain, b->spans[i].wait.place, &b->spans[i].wait, b->spans[i].from,
			      b->spans[i].to);
	if (good && !b->chain.failed)
		chain_settle(&b->chain);
	return good && !b->chain.failed && blame_write(b);
}
