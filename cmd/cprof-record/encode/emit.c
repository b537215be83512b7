#include "cmd/cprof-record/encode/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-record/encode/emit_internal.h"
#include "cmd/shared/version.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"

enum {
	JIT_STEP_BYTES = 16 << 20, /* the limit of one call, so that samples do not wait */
	CLOCK_OFF = 100000000,     /* ns by which the wall clock of a segment may be wrong */
	/* ns between segments that are due to the clock alone: a program may set it again and again */
	CLOCK_SEGMENT = 2000000000,
};

static void add_unwinding(void *emit, uint64_t watched, uid_t uid, const struct jitfile_code *code,
			  struct slice eh_frame)
{
	struct emit *e = emit;

	jit_tables_add(e->jit, (struct proc *)(uintptr_t)watched, uid, code, eh_frame);
}

bool emit_init(struct emit *e)
{
	idmap_init(&e->said_cgroups);
	idmap_init(&e->said_users);
	user_names_read(&e->users);
	intern_init(&e->said_ksyms);
	intern_init(&e->said_locks);
	probe_labels_init(&e->labels);
	e->perf_maps = perf_maps_new(e->procs->scan.opener, &e->jit_budget);
	e->jit_dumps = jit_dumps_new(e->procs->scan.opener, &e->jit_budget);
	e->cgroups = cgroups_new();
	e->wait_sites = wait_sites_new();
	wakers_init(&e->wakers, e->ksym);
	e->stacks = (struct stacks){ .options = e->options, .engine = e->engine, .procs = e->procs,
				     .user_walk = e->user_walk, .runtimes = e->runtimes,
				     .frames.ksym = e->ksym };
	if (e->user_walk)
		e->jit = jit_tables_new(e->user_walk, e->user_walk->tables->poll);
	if (e->jit && e->jit_dumps)
		jit_dumps_unwind_by(e->jit_dumps, add_unwinding, e);
	return stacks_init(&e->stacks) && e->perf_maps && e->jit_dumps && e->cgroups && e->wait_sites &&
	       !e->jit == !e->user_walk;
}

void emit_release(struct emit *e)
{
	stacks_release(&e->stacks);
	idmap_release(&e->said_cgroups);
	idmap_release(&e->said_users);
	user_names_release(&e->users);
	intern_release(&e->said_ksyms);
	intern_release(&e->said_locks);
	probe_labels_release(&e->labels);
	perf_maps_free(e->perf_maps);
	jit_dumps_free(e->jit_dumps);
	jit_budget_release(&e->jit_budget); /* after those that hold some of it */
	jit_tables_free(e->jit);
	cgroups_free(e->cgroups);
	wait_sites_free(e->wait_sites);
	wakers_release(&e->wakers);
	outsiders_release(&e->outsiders);
}

static void put_meta(void *arg, const char *key, const char *value)
{
	emit_record(arg, (struct record){ .type = RECORD_META, .meta = { slice_of(key), slice_of(value) } });
}

static void put_meta_hex(struct emit *e, const char *key, const struct buf *bytes)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < bytes->n; i++)
		buf_printf(&text, "%02x", bytes->p[i]);
	put_meta(e, key, buf_cstr(&text));
	buf_release(&text);
}

/* The option "service=checkout" becomes "label.service" with the value "checkout". */
static void put_labels(struct emit *e)
{
	struct buf key = { 0 };

	for (size_t i = 0; i < e->options->n_labels; i++) {
		const char *text = e->options->labels[i];

		buf_clear(&key);
		buf_printf(&key, "label.%.*s", (int)strcspn(text, "="), text);
		put_meta(e, buf_cstr(&key), text + strcspn(text, "=") + 1);
	}
	buf_release(&key);
}

/* The unit is "events". A hardware counter's samples have weights of their own, unless a period was given. */
static void put_others(struct emit *e)
{
	for (size_t i = 0; i < e->options->n_events; i++) {
		const struct event *o = &e->options->events[i];
		uint64_t period = event_period(o);

		emit_record(e, (struct record){ .type = RECORD_EVENT,
						.event = { EVENT_OTHERS + i, slice_of(o->name),
							   slice_of("events"), period,
							   period ? 0 :
							   (uint64_t)e->engine->rate.hertz * 1000 } });
	}
}

static void put_events(struct emit *e)
{
	if (e->options->ticks)
		emit_record(e, (struct record){
			.type = RECORD_EVENT,
			.event = { EVENT_TICK, slice_of(e->options->cycles ? "cycles" : "cpu-clock"),
				   slice_of(e->options->cycles ? "cycles" : "ns"), e->period,
				   (uint64_t)e->engine->rate.hertz * 1000 } });
	if (e->options->off_cpu)
		emit_wait_events(e);
	put_others(e);
}

static void put_header(struct emit *e, uint64_t now)
{
	struct buf id = { 0 }, recorder = { 0 };
	char number[32];

	e->epoch = host_epoch_ns();
	host_facts(put_meta, e, e->epoch + now);
	if (kernel_build_id(&id))
		put_meta_hex(e, "kernel-build-id", &id);
	buf_release(&id);
	if (ksym_stext(e->ksym)) {
		snprintf(number, sizeof(number), "%" PRIx64, ksym_stext(e->ksym));
		put_meta(e, "kernel-stext", number);
	}
	snprintf(number, sizeof(number), "%" PRIu64, now);
	put_meta(e, "clock", "monotonic");
	put_meta(e, "start-monotonic-ns", number);
	if (e->options->off_cpu) {
		snprintf(number, sizeof(number), "%" PRIu64, e->waits_since);
		put_meta(e, META_WAITS_SINCE, number);
	}
	buf_printf(&recorder, "cprof-record %s", cprof_version);
	put_meta(e, "recorder", buf_cstr(&recorder));
	buf_release(&recorder);
	put_meta(e, "engine", e->engine->ops->name);
	if (e->options->off_cpu)
		put_meta(e, "wait-stacks", e->engine->exact_waits ? "exact" : "adaptive");
	if (e->options->latency)
		put_meta(e, META_PARALLELISM, "process,group");
	put_meta(e, "command-line", e->command_line);
	put_labels(e);
	put_events(e);
}

void emit_segment(struct emit *e, uint64_t now)
{
	e->segment++;
	e->segment_began = now;
	e->period = engine_period(e->engine);
	e->segment_samples = 0;
	e->next_process = e->next_thread = e->next_file = e->next_script = e->next_function = 1;
	if (e->runtimes && runtimes_full(e->runtimes))
		runtimes_restart(e->runtimes);
	e->said_frames = 1;
	e->said_nodes = NODE_FIRST;
	e->said_vdso = false;
	stacks_restart(&e->stacks);
	idmap_clear(&e->said_cgroups);
	idmap_clear(&e->said_users);
	cgroups_trim(e->cgroups);
	intern_release(&e->said_ksyms);
	intern_release(&e->said_locks);
	probe_labels_restart(&e->labels);
	perf_maps_restart(e->perf_maps);
	jit_dumps_restart(e->jit_dumps);
	emit_record(e, (struct record){ .type = RECORD_SEGMENT,
					.segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	put_header(e, now);
	emit_record(e, (struct record){ .type = RECORD_FLUSH });
}

/* If the clock was set, or the machine suspended, the header's wall clock does not apply to later records. */
static bool is_clock_off(const struct emit *e, uint64_t now)
{
	int64_t off = (int64_t)(host_epoch_ns() - e->epoch);

	return (off > CLOCK_OFF || off < -CLOCK_OFF) && now - e->segment_began >= CLOCK_SEGMENT;
}

bool emit_segment_due(const struct emit *e, uint64_t now)
{
	return now - e->segment_began >= SEGMENT_SECONDS * 1000000000ull || is_clock_off(e, now) ||
	       e->stacks.tree.n_nodes >= SEGMENT_NODES ||
	       (e->runtimes && runtimes_full(e->runtimes)) ||
	       writer_segment_bytes(e->w) >=
	       SEGMENT_BYTES + 2 * (perf_maps_repeated(e->perf_maps) + jit_dumps_repeated(e->jit_dumps));
}

bool emit_awaits(const struct emit *e, const struct change_effect *effect)
{
	return !e->dont_wait && effect->mapped && effect->proc->segment == e->segment &&
	       procs_awaits(e->procs, effect->mapped, host_mono_ns());
}

/* Code of the kernel came or went: frames of other code that was there, and its symbol, no longer count. */
static void change_kernel(struct emit *e, const struct change *c)
{
	if (c->kind == CHANGE_KSYM)
		ksym_add(e->ksym, c->start, c->length, c->text);
	else
		ksym_remove(e->ksym, c->start, c->length);
	if (stacks_forget_kernel(&e->stacks, c->start, c->length))
		intern_release(&e->said_ksyms);
}

void emit_change(struct emit *e, const struct change *c, const struct change_effect *effect)
{
	if (c->kind == CHANGE_KSYM || c->kind == CHANGE_KSYM_GONE)
		change_kernel(e, c);
	if (effect->mapped && effect->proc->segment == e->segment)
		emit_mapped(e, effect->proc, effect->mapped, c->time);
	if (effect->renamed)
		effect->task->renamed = c->time;
	if (effect->exited && effect->task->proc->dead && effect->task->proc->jit_segment == e->segment)
		perf_maps_exited(e->perf_maps, emit_watch_id(effect->task->proc));
	if (effect->exited && effect->task->segment == e->segment)
		emit_record(e, (struct record){ .type = RECORD_EXIT, .exit = { c->time, effect->task->id } });
}

/* Writes how many threads had a CPU at a tick, if that has changed. */
static void put_parallel(struct emit *e, const struct sample_head *s, struct proc *p)
{
	if (p->parallel_segment != e->segment)
		p->running = p->group_running = 1;
	p->parallel_segment = e->segment;
	if (!s->running || (s->running == p->running && s->group_running == p->group_running))
		return;
	p->running = s->running;
	p->group_running = s->group_running;
	emit_record(e, (struct record){ .type = RECORD_PARALLEL,
					.parallel = { s->time, p->id, p->running, p->group_running } });
}

/* Writes a tick, or a sample of another event. */
static enum emitted emit_event(struct emit *e, const struct sample_head *s, struct task *t,
			       const struct stack *stack)
{
	bool tick = s->what == SAMPLE_TICK;
	struct record r = { .type = RECORD_SAMPLE,
			    .sample = { .time = s->time, .event = tick ? EVENT_TICK : EVENT_OTHERS + s->event,
					.cpu = s->cpu, .thread = t->id,
					.weight = s->weight ? s->weight : e->period } };

	if (!stacks_nodes(&e->stacks, t->proc, stack, &r.sample.user, &r.sample.kernel))
		return EMIT_NO_MEMORY;
	e->roots[stack->user.end]++;
	emit_cgroup(e, t->proc, s->cgroup, s->time);
	emit_owner(e, t->proc, s->owner, s->time);
	emit_tree(e, t->proc, r.sample.user, s->time);
	if (tick && e->options->latency)
		put_parallel(e, s, t->proc);
	emit_put_sample(e, &r);
	if (tick)
		e->samples++;
	else
		e->others[s->event % EVENTS_MAX]++;
	if (!tick && !e->output->suspended)
		e->kept[s->event % EVENTS_MAX]++;
	return EMIT_WRITTEN;
}

enum emitted emit_sample(struct emit *e, const struct sample_head *s)
{
	uint64_t room[STACK_ROOM];
	struct stack stack;
	struct task *t;

	if (s->what == SAMPLE_OUTSIDE) {
		outsiders_put(&e->outsiders, s);
		return EMIT_WRITTEN;
	}
	t = procs_task(e->procs, s->pid, s->tid, s->time);
	if (s->what == SAMPLE_LABEL) {
		probe_labels_take(&e->labels, e->options, (const struct sample_label *)s);
		return EMIT_WRITTEN;
	}
	if (s->what == SAMPLE_WAKER) {
		emit_waker(e, (const struct waker *)s);
		return EMIT_WRITTEN;
	}
	if (!t)
		return EMIT_NO_MEMORY;
	if (!e->dont_wait && t->proc->segment != e->segment &&
	    (readings_awaits(&e->procs->readings, t->proc->serial) ||
	     procs_awaits_any(e->procs, t->proc, host_mono_ns())))
		return EMIT_WAITS; /* for its mappings, or the build IDs of its files */
	if (s->what == SAMPLE_WAIT)
		emit_task(e, t, emit_wait_time((const struct wait *)s));
	else if (s->what != SAMPLE_STACK)
		emit_task(e, t, s->time);
	if (s->what == SAMPLE_WAIT)
		return emit_wait(e, (const struct wait *)s, t);
	if (s->what == SAMPLE_RAN)
		return emit_ran(e, (const struct ran *)s, t);
	if (stacks_take(&e->stacks, s, t->proc, room, &stack) == STACK_WAITS)
		return EMIT_WAITS;
	stack.label = s->what == SAMPLE_EVENT ? probe_labels_find(&e->labels, s) : 0;
	if (s->what != SAMPLE_STACK)
		return emit_event(e, s, t, &stack);
	if (!wait_sites_put(e->wait_sites, s, t->proc, &stack))
		e->engine->ops->restart(e->engine); /* too many wait sites: all were forgotten */
	return EMIT_WRITTEN;
}

struct jit_sink {
	struct emit *e;
	uint64_t now, bytes;
};

static void put_perf_map(void *arg, uint64_t watched, uint64_t generation, const uint8_t *data, size_t n)
{
	struct jit_sink *sink = arg;
	struct proc *p = (struct proc *)(uintptr_t)watched;

	emit_process(sink->e, p);
	emit_record(sink->e, (struct record){ .type = RECORD_JITMAP,
					      .jitmap = { sink->now, p->id, generation, { data, n } } });
	sink->bytes += n;
}

static void deliver_jit(struct emit *e, uint64_t now, uint64_t limit)
{
	struct jit_sink sink = { e, now, 0 };

	while (perf_maps_poll(e->perf_maps, now, put_perf_map, &sink) > 0 && sink.bytes < limit)
		;
}

void emit_jit(struct emit *e, uint64_t now)
{
	if (now == UINT64_MAX)
		deliver_jit(e, host_mono_ns(), UINT64_MAX);
	else
		deliver_jit(e, now, JIT_STEP_BYTES);
}

/* A piece of code in the queue. Its process is found again by pid, if it is still the same process. */
struct code_item {
	uint32_t pid;
	uint64_t serial;
	uint64_t kind, address, size, old;
}; /* its name follows */

struct dump_sink {
	struct queue *q;
	struct buf item;
};

static void queue_code(void *arg, uint64_t watched, const struct jitfile_code *code)
{
	const struct proc *p = (struct proc *)(uintptr_t)watched;
	struct dump_sink *sink = arg;
	struct code_item head;

	memset(&head, 0, sizeof(head));
	head = (struct code_item){ p->pid, p->serial, code->kind, code->address, code->size, code->old };
	buf_clear(&sink->item);
	buf_bytes(&sink->item, &head, sizeof(head));
	buf_bytes(&sink->item, code->name.p, code->name.n);
	if (!sink->item.failed)
		queue_push(sink->q, ITEM_CODE, code->time, sink->item.p, sink->item.n);
}

void emit_dumps(struct emit *e, struct queue *q, bool all)
{
	struct dump_sink sink = { .q = q };
	size_t before = q->bytes.n;

	while (jit_dumps_poll(e->jit_dumps, queue_code, &sink) > 0 &&
	       (all || q->bytes.n - before < JIT_STEP_BYTES))
		;
	buf_release(&sink.item);
}

void emit_code(struct emit *e, const struct item *i, const void *bytes)
{
	struct code_item c;
	struct proc *p;

	memcpy(&c, bytes, sizeof(c));
	p = procs_find(e->procs, c.pid);
	/* If the segment does not have the process, the file is read from its start once it has. */
	if (p && p->serial == c.serial && p->segment == e->segment)
		emit_record(e, (struct record){ .type = RECORD_JITCODE,
						.jitcode = { i->time, p->id, c.kind, c.address,
							     c.size, c.old,
							     { (const uint8_t *)bytes + sizeof(c),
							       i->n - sizeof(c) } } });
}

static void put_code(void *arg, uint64_t watched, const struct jitfile_code *c)
{
	struct emit *e = arg;
	struct proc *p = (struct proc *)(uintptr_t)watched;

	if (p->segment == e->segment)
		emit_record(e, (struct record){ .type = RECORD_JITCODE,
						.jitcode = { c->time, p->id, c->kind, c->address,
							     c->size, c->old, c->name } });
}

void emit_gone(struct emit *e, struct proc *p)
{
	struct jit_sink sink = { e, host_mono_ns(), 0 };

	if (p->jit_segment == e->segment)
		perf_maps_finish(e->perf_maps, emit_watch_id(p), sink.now, put_perf_map, &sink);
	else if (p->jit_segment) /* it is not in this segment */
		perf_maps_forget(e->perf_maps, emit_watch_id(p));
	jit_dumps_finish(e->jit_dumps, emit_watch_id(p), put_code, e);
	if (e->jit)
		jit_tables_gone(e->jit, p);
	if (e->user_walk)
		user_walk_gone(e->user_walk, p, sink.now);
	if (e->runtimes)
		runtimes_gone(e->runtimes, p);
	if (p->dead && procs_find(e->procs, p->pid) == p) /* unless another image or process has its pid */
		e->engine->ops->forget(e->engine, p->pid);
}

void emit_end(struct emit *e, uint64_t now, enum end_reason reason)
{
	struct jit_sink sink = { e, now, 0 };

	deliver_jit(e, now, UINT64_MAX); /* data beyond the limit of earlier calls */
	if (reason == END_CLOSED)
		perf_maps_end(e->perf_maps, now, put_perf_map, &sink);
	emit_record(e, (struct record){ .type = RECORD_END, .end = { now, reason, e->segment_samples } });
	emit_record(e, (struct record){ .type = RECORD_FLUSH });
}

void emit_ledger(struct emit *e, uint64_t now, uint64_t cpu, enum outcome outcome, uint64_t count)
{
	emit_record(e, (struct record){ .type = RECORD_LEDGER, .ledger = { now, cpu, outcome, count } });
}

void emit_tally(struct emit *e, uint64_t now, size_t event, enum outcome outcome, uint64_t count)
{
	emit_record(e, (struct record){ .type = RECORD_TALLY,
					.tally = { now, EVENT_OTHERS + event, outcome, count } });
}

void emit_cost(struct emit *e, uint64_t now, enum cost what, uint64_t count)
{
	emit_record(e, (struct record){ .type = RECORD_COST, .cost = { now, what, count } });
}
