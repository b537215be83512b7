#include "cmd/cprof-record/encode/emit_internal.h"

void emit_wait_events(struct emit *e)
{
	static const char *const names[WAIT_REASONS] = {
		[WAIT_SLEEP] = "off-cpu:sleep",
		[WAIT_UNINTERRUPTIBLE] = "off-cpu:uninterruptible",
		[WAIT_CPU] = "off-cpu:run-queue",
		[WAIT_THROTTLED] = "off-cpu:throttled",
	};

	for (unsigned int i = 0; i < WAIT_REASONS; i++) {
		if (i == WAIT_THROTTLED && !e->engine->throttled_waits)
			continue;
		emit_record(e, (struct record){ .type = RECORD_EVENT,
						.event = { EVENT_WAITS + i, slice_of(names[i]),
							   slice_of("ns"), 0, 0 } });
	}
}

struct lock_question {
	const struct procs *procs;
	uint32_t pid;
};

static bool is_thread(const void *context, uint32_t tid, bool shared)
{
	const struct lock_question *q = context;
	const struct task *t = procs_known_task(q->procs, tid);

	return t && (shared || t->proc->pid == q->pid);
}

/* At the waking, because a thread that was joined is forgotten some time after it. */
void emit_waker(struct emit *e, const struct waker *w)
{
	struct lock_question q = { e->procs, w->head.pid };
	struct futex futex;
	struct lock_found lock;
	enum woken_by by;

	memcpy(&futex, &w->futex, sizeof(futex));
	lock = lock_owner_find(&futex, w->head.tid, is_thread, &q);
	if (wakers_put(&e->wakers, w, &lock, &by) && e->engine->ops->know_interrupt)
		e->engine->ops->know_interrupt(e->engine, w->fingerprint, by);
}

/* Returns the id of the lock in the segment; 0 if out of memory. */
static uint64_t put_lock(struct emit *e, const struct proc *p, const struct lock_found *lock)
{
	uint64_t identity[3] = { p->serial, lock->kind, lock->address };
	size_t before = e->said_locks.n;
	uint32_t at;

	if (!intern_add(&e->said_locks, (struct slice){ (const uint8_t *)identity, sizeof(identity) }, &at))
		return 0;
	if (e->said_locks.n > before)
		emit_record(e, (struct record){ .type = RECORD_LOCK,
						.lock = { at + 1, p->id, lock->kind, lock->address } });
	return at + 1;
}

static void add_lock(struct emit *e, struct record_woken *r, const struct lock_found *lock,
		     const struct task *t, uint64_t time)
{
	struct task *owner = lock->tid ? procs_known_task(e->procs, lock->tid) : NULL;

	if (!lock->address)
		return;
	r->lock = put_lock(e, t->proc, lock);
	if (!owner)
		return;
	emit_task(e, owner, time);
	r->owner = owner->id;
}

/* Adds the stack of the waker. */
static void add_site(struct emit *e, struct record_woken *r, struct wait_site *site, struct proc *p)
{
	if (!site || !wait_sites_nodes(&e->stacks, e->segment, site, p, &r->user, &r->kernel))
		r->user = r->kernel = 0;
	else
		emit_tree(e, p, r->user, r->time);
}

/* Writes the last wait as a whole. The waker may be a thread that is not recorded. */
static void put_woken(struct emit *e, const struct wait *w, const struct task *t)
{
	struct waker_found found = wakers_find(&e->wakers, w->head.tid, w->times.woken);
	struct record_woken r = { .time = w->times.on, .thread = t->id, .slept = w->times.slept,
				  .queued = w->times.queued, .by = found.by, .throttled = w->times.throttled };
	struct task *waker = NULL;

	if (w->times.slept && w->times.slept < e->options->off_cpu_ns)
		r.by = WOKEN_BY_BRIEF;
	if (r.by == WOKEN_BY_TASK)
		waker = procs_task(e->procs, found.pid, found.tid, w->head.time);
	if (waker) {
		emit_task(e, waker, w->head.time);
		r.waker = waker->id;
		add_site(e, &r, wait_sites_find(e->wait_sites, found.site), waker->proc);
	}
	add_lock(e, &r, &found.lock, t, w->head.time);
	emit_record(e, (struct record){ .type = RECORD_WOKEN, .woken = r });
}

/* Writes the samples of others on the CPU for which the thread was queued. */
static void put_outsiders(struct emit *e, const struct wait *w)
{
	size_t at = outsiders_find(&e->outsiders, w->times.on - w->times.queued + w->times.throttled);
	const struct outsider *s;

	while ((s = outsiders_next(&e->outsiders, &at, w->head.cpu, w->times.on))) {
		uint64_t thread = emit_outsider(e, s->pid, s->tid, s->cgroup, s->time);

		if (thread)
			emit_record(e, (struct record){ .type = RECORD_OUTSIDE,
							.outside = { s->time, EVENT_TICK, s->cpu, thread } });
	}
}

/* Returns when the part of the wait for this reason ended. */
static uint64_t end_of_part(const struct wait *w, unsigned int reason)
{
	return w->head.time - (reason < WAIT_CPU ? w->times.ns[WAIT_CPU] : 0) -
	       (reason < WAIT_THROTTLED ? w->times.ns[WAIT_THROTTLED] : 0);
}

uint64_t emit_wait_time(const struct wait *w)
{
	return end_of_part(w, WAIT_SLEEP);
}

enum emitted emit_wait(struct emit *e, const struct wait *w, struct task *t)
{
	struct wait_site *site = wait_sites_find(e->wait_sites, w->head.weight);
	struct record r = { .type = RECORD_SAMPLE,
			    .sample = { .time = w->head.time, .cpu = w->head.cpu, .thread = t->id,
					.user = ROOT_FORGOTTEN, .kernel = ROOT_FORGOTTEN } };

	if (site && !wait_sites_nodes(&e->stacks, e->segment, site, t->proc, &r.sample.user,
				      &r.sample.kernel))
		return EMIT_NO_MEMORY;
	emit_cgroup(e, t->proc, site ? site->cgroup : 0, w->head.time);
	emit_owner(e, t->proc, site ? site->owner : 0, w->head.time);
	emit_tree(e, t->proc, r.sample.user, w->head.time);
	for (unsigned int i = 0; i < WAIT_REASONS; i++) {
		r.sample.event = EVENT_WAITS + i;
		r.sample.weight = w->times.ns[i];
		r.sample.time = end_of_part(w, i);
		if (r.sample.weight)
			emit_put_sample(e, &r);
	}
	if (w->times.queued > w->times.throttled)
		put_outsiders(e, w);
	if (w->times.slept + w->times.queued)
		put_woken(e, w, t);
	e->waits++;
	if (w->gone)
		wait_sites_remove(e->wait_sites, w->head.weight);
	return EMIT_WRITTEN;
}

enum emitted emit_ran(struct emit *e, const struct ran *r, const struct task *t)
{
	uint64_t time = r->head.time, span = r->since < time ? time - r->since : 0;

	emit_cgroup(e, t->proc, r->head.cgroup, time);
	emit_owner(e, t->proc, r->head.owner, time);
	emit_record(e, (struct record){ .type = RECORD_RAN, .ran = { time, t->id, r->head.weight, span } });
	return EMIT_WRITTEN;
}
