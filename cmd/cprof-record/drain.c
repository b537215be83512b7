#include "cmd/cprof-record/drain.h"

#include <poll.h>

#include "cmd/cprof-record/process/reread.h"

enum {
	QUEUE_MOST = 64 << 20, /* bytes: with more, nothing waits for an unwind table any more */
	REPORT_SHARE = 2000,   /* reports of current waits may take one part in 2000 of the time */
	KTHREADD = 2,          /* the parent of the kernel's threads */
	LAST_MOST = 250000000, /* ns that the end of a file waits for a table */
};

/*
 * How long after its time a record waits for a table or a build ID, ns. A drain comes every quarter of a
 * second, so the record is written within a second, and no more is lost if the recorder is killed. Records
 * have more time in the beginning, when no file has a table and little can be lost, and in the end, when
 * nothing newer waits.
 */
#define PATIENCE 750000000ull
#define PATIENCE_AT_ENDS TABLE_CACHE_PATIENCE
#define BEGINNING 3000000000ull

static void change_user_walk(struct recorder *r, const struct change *c, const struct change_effect *effect)
{
	struct proc *parent, *child;

	if (effect->mapped)
		user_walk_mapped(&r->user_walk, effect->proc, effect->mapped);
	if (effect->mapped && r->emit.runtimes)
		runtimes_mapped(&r->runtimes, effect->proc, effect->mapped);
	if (c->kind != CHANGE_FORK || c->pid == c->ppid)
		return;
	parent = procs_find(&r->procs, c->ppid);
	child = procs_find(&r->procs, c->pid);
	if (parent && child)
		user_walk_forked(&r->user_walk, parent, child);
	if (parent && child && r->emit.runtimes)
		runtimes_forked(&r->runtimes, parent, child);
}

/* Can the change bring unknown mappings or code? New threads, and everything that ends, cannot. */
static bool may_map_code(const struct change *c)
{
	return c->kind != CHANGE_EXIT && c->kind != CHANGE_COMM &&
	       (c->kind != CHANGE_FORK || (c->pid != c->ppid && c->ppid != KTHREADD));
}

/* The effect of the held mapping, which was applied before and has waited since then to be written. */
static struct change_effect effect_of_held(const struct recorder *r, const struct change *c)
{
	struct proc *p = procs_find(&r->procs, c->pid);
	const struct map *m = p ? maps_find(&p->maps, c->start) : NULL;

	return (struct change_effect){ .proc = p, .mapped = m };
}

/* Applies a change to everything but the stream. */
static struct change_effect take_change(struct recorder *r, const struct change *c)
{
	struct change_effect effect;

	if (c->kind == CHANGE_FORK && c->pid != c->ppid && options_targeted(&r->o))
		r->engine->ops->follow(r->engine, c->ppid, c->pid);
	procs_apply(&r->procs, c, &effect);
	if (r->emit.user_walk)
		change_user_walk(r, c, &effect);
	targets_change(&r->targets, c, &effect);
	return effect;
}

/* False: it waits. */
static bool apply_change(struct recorder *r, const struct item *i)
{
	bool own = r->engine->by_cpu; /* the trailer: of the side-band's own events, or of perf's samples */
	struct change_effect effect;
	struct change c;

	if (!sideband_decode(&c, queue_bytes(&r->queue, i), own ? 8 : 24, own ? 8 : 16))
		return true;
	if (may_map_code(&c))
		r->last_change = i->time;
	if (c.kind == CHANGE_LOST) {
		/* In perf's ring these may be samples as well, and the engine counts them. */
		if (own)
			ledger_count(&r->ledger, 0, OUTCOME_SIDEBAND_LOST, c.lost);
		reread_lost(&r->procs, i->time);
		return true;
	}
	if (r->held.is && r->held.time == i->time && r->held.pid == c.pid && r->held.start == c.start)
		effect = effect_of_held(r, &c);
	else
		effect = take_change(r, &c);
	if (emit_awaits(&r->emit, &effect)) {
		r->held = (struct held){ true, i->time, c.pid, c.start };
		return false;
	}
	r->held.is = false;
	emit_change(&r->emit, &c, &effect);
	return true;
}

/* Applies the changes that readings of /proc up to this time brought. */
static void take_reread(struct recorder *r, uint64_t until)
{
	struct change_effect effect;
	struct change c;

	while (reread_next(&r->procs, until, &c, &effect)) {
		if (r->emit.user_walk)
			change_user_walk(r, &c, &effect);
		emit_change(&r->emit, &c, &effect);
	}
}

/* Reads a sampled process again after records were lost. */
static void want_reread(struct recorder *r, uint32_t pid)
{
	struct proc *p = r->procs.lost ? procs_find(&r->procs, pid) : NULL;

	if (p)
		reread_want(&r->procs, p);
}

size_t drain_row_of(const struct recorder *r, const struct sample_head *s)
{
	return r->engine->by_cpu ? (size_t)s->cpu + 1 : 0;
}

static bool is_span(const struct sample_head *s)
{
	return s->what == SAMPLE_WAIT || s->what == SAMPLE_RAN;
}

/* There was no memory for a record of waits. The program sends the stacks again, as one may be missing. */
static void lose_wait(struct recorder *r, const struct sample_head *s)
{
	r->ledger.waits_lost += is_span(s);
	if (s->what == SAMPLE_STACK)
		r->engine->ops->restart(r->engine);
}

/* False: it waits. */
static bool apply_sample(struct recorder *r, const struct item *i)
{
	const struct sample_head *s = queue_bytes(&r->queue, i);
	size_t row = drain_row_of(r, s);
	enum emitted is = emit_sample(&r->emit, s);
	enum outcome outcome = is == EMIT_NO_MEMORY ? OUTCOME_NO_MEMORY :
			       r->output.suspended  ? OUTCOME_NO_SPACE : OUTCOME_EMITTED;

	if (s->deferred || is == EMIT_WAITS)
		r->last_change = i->time;
	if (is != EMIT_WAITS && s->what != SAMPLE_OUTSIDE)
		want_reread(r, s->pid);
	if (is != EMIT_WAITS && s->what == SAMPLE_TICK)
		ledger_count(&r->ledger, row, outcome, 1);
	if (is != EMIT_WAITS && s->what == SAMPLE_EVENT)
		ledger_tally(&r->ledger, s->event, outcome, s->weight);
	if (is == EMIT_NO_MEMORY)
		lose_wait(r, s);
	if (is == EMIT_WRITTEN && s->what == SAMPLE_WAIT)
		(*(r->output.suspended ? &r->ledger.waits_lost : &r->ledger.waits_written))++;
	return is != EMIT_WAITS;
}

/* Can nothing wait any more, however new it is? */
static bool is_impatient(const struct recorder *r)
{
	return r->dont_wait || queue_waiting(&r->queue) > QUEUE_MOST ||
	       (r->stopped && host_mono_ns() - r->stopped > TABLE_CACHE_PATIENCE);
}

static void set_waiting(struct recorder *r, bool may_wait)
{
	r->user_walk.dont_wait = r->emit.dont_wait = !may_wait;
}

/* Writes items in order of time, so one that waits delays all later ones. Returns how many were written. */
static size_t apply_items(struct recorder *r, size_t ripe)
{
	bool impatient = is_impatient(r);
	uint64_t now = host_mono_ns(),
		 patience = r->stopped || now - r->started < BEGINNING ? PATIENCE_AT_ENDS : PATIENCE;

	set_waiting(r, !impatient);
	for (size_t i = 0; i < ripe; i++) {
		set_waiting(r, !impatient && now < r->queue.items[i].time + patience);
		take_reread(r, r->queue.items[i].time);
		if (r->queue.items[i].kind == ITEM_SIDEBAND) {
			if (!apply_change(r, &r->queue.items[i]))
				return i;
		} else if (r->queue.items[i].kind == ITEM_CODE) {
			emit_code(&r->emit, &r->queue.items[i], queue_bytes(&r->queue, &r->queue.items[i]));
		} else if (!apply_sample(r, &r->queue.items[i])) {
			return i;
		}
	}
	return ripe;
}

/* Is this memory that a JIT compiler may have mapped for its code? */
static bool is_for_code(const struct change *c)
{
	return c->kind == CHANGE_MMAP && (slice_begins(c->text, "//") || slice_begins(c->text, "/memfd:") ||
					  slice_begins(c->text, "/dev/zero"));
}

/*
 * Notes owners of processes that map memory for code, by the items of the queue from first on. A process may
 * exit, and leave a perf map, while its records wait in the queue for a table of another one.
 */
static void note_owners(struct recorder *r, size_t first)
{
	bool own = r->engine->by_cpu;
	struct change c;

	for (size_t i = first; i < r->queue.n; i++) {
		const struct item *item = &r->queue.items[i];

		if (item->kind == ITEM_SIDEBAND &&
		    sideband_decode(&c, queue_bytes(&r->queue, item), own ? 8 : 24, own ? 8 : 16) && is_for_code(&c))
			perf_maps_note(r->emit.perf_maps, (pid_t)c.pid, host_mono_ns());
	}
}

/* Takes the files that have been opened meanwhile. */
static void take_opened(struct recorder *r)
{
	struct opener_answer a;

	while (opener_take(r->opener, host_mono_ns(), &a)) {
		if (a.want == OPENER_IDENTITY)
			procs_identified(&r->procs, &a);
		else if (a.want == OPENER_FILE)
			table_cache_opened(&r->tables, &a, host_mono_ns());
		else if (a.want == OPENER_DUMP)
			jit_dumps_opened(r->emit.jit_dumps, &a);
		else
			perf_maps_opened(r->emit.perf_maps, &a, host_mono_ns());
	}
}

/* Counts what the queue had no memory for. Changes are read again from /proc. */
static void count_lost(struct recorder *r)
{
	uint64_t *lost = r->queue.lost, changes = lost[ITEM_SIDEBAND] + lost[ITEM_CODE];

	ledger_count(&r->ledger, 0, OUTCOME_NO_MEMORY, lost[ITEM_SAMPLE]);
	ledger_count(&r->ledger, 0, OUTCOME_SIDEBAND_LOST, changes);
	if (lost[ITEM_SIDEBAND])
		reread_lost(&r->procs, host_mono_ns());
	memset(lost, 0, sizeof(r->queue.lost));
}

bool drain_until(struct recorder *r, uint64_t until)
{
	size_t ripe, done, first = r->queue.n;

	take_opened(r);
	reread_step(&r->procs);
	if (r->emit.user_walk)
		table_cache_step(&r->tables, host_mono_ns());
	r->engine->ops->drain(r->engine, &r->queue);
	note_owners(r, first);
	if (r->emit.runtimes)
		runtimes_drain(&r->runtimes);
	/* After the samples: their code may be in the newest records of the dumps. */
	emit_dumps(&r->emit, &r->queue, until == UINT64_MAX);
	if (r->emit.jit)
		jit_tables_step(r->emit.jit, host_mono_ns());
	ripe = queue_ripe(&r->queue, until);
	done = apply_items(r, ripe);
	if (done == ripe)
		take_reread(r, until);
	queue_drop(&r->queue, done);
	count_lost(r);
	reread_step(&r->procs); /* readings that were wanted just now begin at once */
	emit_jit(&r->emit, until);
	if (r->overdue && done)
		writer_flush(r->emit.w);
	r->overdue = r->overdue && done < ripe;
	if (r->emit.user_walk)
		user_walk_publish(&r->user_walk);
	return done == ripe;
}

void drain_report_waits(struct recorder *r)
{
	uint64_t now = host_mono_ns(), took;
	bool all = r->engine->ops->report_waits(r->engine);

	took = host_mono_ns() - now;
	if (all) {
		r->reported[1] = r->reported[0];
		r->reported[0] = now;
		r->reported_end[1] = r->reported_end[0];
		r->reported_end[0] = now + took;
	}
	r->report_due = now + (took * REPORT_SHARE > WAITS_INTERVAL ? took * REPORT_SHARE : WAITS_INTERVAL);
}

/*
 * A wait that is not written yet may have begun long ago. A wait reported in one round of drain_report_waits,
 * or that ended since the previous round, began no earlier than the previous round, because that round
 * reported everything up to then.
 */
uint64_t drain_waits_since(const struct recorder *r)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < r->queue.n; i++) {
		const struct sample_head *s = queue_bytes(&r->queue, &r->queue.items[i]);

		if (r->queue.items[i].kind == ITEM_SAMPLE && is_span(s) && s->time < oldest)
			oldest = s->time;
	}
	if (oldest > r->reported_end[0])
		return r->reported[0];
	return oldest > r->reported_end[1] ? r->reported[1] : 0;
}

static void wait_for_helpers(const struct recorder *r)
{
	struct pollfd fds[] = { { r->emit.user_walk ? table_cache_fd(&r->tables) : -1, POLLIN, 0 },
				{ opener_fd(r->opener), POLLIN, 0 } };

	poll(fds, 2, 10);
}

void drain_write(struct recorder *r, uint64_t now)
{
	poll(NULL, 0, MARGIN / 1000000);
	while (!drain_until(r, now) && host_mono_ns() - now < LAST_MOST)
		wait_for_helpers(r);
}

void drain_write_waits(struct recorder *r)
{
	drain_report_waits(r);
	drain_write(r, host_mono_ns());
}

void drain_finish(struct recorder *r)
{
	const struct emit *e = &r->emit;

	perf_maps_ends(e->perf_maps);
	jit_dumps_ends(e->jit_dumps);
	while (!drain_until(r, UINT64_MAX) ||
	       (!e->dont_wait && perf_maps_asked(e->perf_maps) + jit_dumps_asked(e->jit_dumps)))
		wait_for_helpers(r);
}
