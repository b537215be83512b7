#include "cmd/cprof-record/encode/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-record/host/vdso.h"
#include "cmd/shared/version.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"

enum { JIT_STEP_BYTES = 16 << 20 }; /* the limit of one call, so that samples do not wait */

static void emit_record(struct emit *e, struct record r)
{
	writer_put(e->w, &r); /* the writer keeps its first error, which the flush checks */
}

bool emit_init(struct emit *e)
{
	idmap_init(&e->said_cgroups);
	intern_init(&e->said_ksyms);
	e->jitmaps = perf_maps_new(e->procs->scan.opener, &e->jitbudget);
	e->jitdumps = jit_dumps_new(e->procs->scan.opener, &e->jitbudget);
	e->cgroups = cgroups_new();
	e->places = wait_sites_new();
	e->stacks = (struct stacks){ .options = e->options, .engine = e->engine, .spaces = e->spaces,
				     .runtimes = e->runtimes, .frames.ksym = e->ksym };
	return stacks_init(&e->stacks) && e->jitmaps && e->jitdumps && e->cgroups && e->places;
}

void emit_release(struct emit *e)
{
	stacks_release(&e->stacks);
	idmap_release(&e->said_cgroups);
	intern_release(&e->said_ksyms);
	jit_budget_release(&e->jitbudget);
	perf_maps_free(e->jitmaps);
	jit_dumps_free(e->jitdumps);
	cgroups_free(e->cgroups);
	wait_sites_free(e->places);
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

static void put_waits(struct emit *e)
{
	static const char *const names[WAIT_REASONS] = {
		[WAIT_SLEEP] = "off-cpu:sleep",
		[WAIT_UNINTERRUPTIBLE] = "off-cpu:uninterruptible",
		[WAIT_CPU] = "off-cpu:run-queue",
	};

	for (unsigned int i = 0; i < WAIT_REASONS; i++)
		emit_record(e, (struct record){ .type = RECORD_EVENT, .event = { EVENT_WAITS + i, slice_of(names[i]), slice_of("ns"), 0, 0 } });
}

/* The unit is "events". A hardware counter's samples have weights of their own, unless a period was given. */
static void put_others(struct emit *e)
{
	for (size_t i = 0; i < e->options->n_events; i++) {
		const struct event *o = &e->options->events[i];
		uint64_t period = event_period(o);

		emit_record(e, (struct record){ .type = RECORD_EVENT,
						.event = { EVENT_OTHERS + i, slice_of(o->name), slice_of("events"), period,
							   period ? 0 : (uint64_t)e->engine->rate.hertz * 1000 } });
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
		put_waits(e);
	put_others(e);
}

static void put_header(struct emit *e, uint64_t now)
{
	struct buf id = { 0 }, recorder = { 0 };
	char number[32];

	host_facts(put_meta, e, now);
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
	put_meta(e, "command-line", e->command_line);
	put_labels(e);
	put_events(e);
}

static void put_vdso(struct emit *e)
{
	struct buf image = { 0 }, id = { 0 };

	if (vdso_image(&image, &id))
		emit_record(e, (struct record){ .type = RECORD_IMAGE,
						.image = { slice_of("[vdso]"), buf_view(&id), buf_view(&image) } });
	buf_release(&image);
	buf_release(&id);
}

void emit_segment(struct emit *e, uint64_t now)
{
	e->segment++;
	e->segment_began = now;
	e->period = engine_period(e->engine);
	e->segment_samples = 0;
	e->next_process = e->next_thread = e->next_file = e->next_script = e->next_function = 1;
	if (e->runtimes && script_functions_full(&e->runtimes->functions))
		runtimes_restart(e->runtimes);
	e->said_frames = 1;
	e->said_nodes = NODE_FIRST;
	e->said_vdso = false;
	stacks_restart(&e->stacks);
	idmap_clear(&e->said_cgroups);
	cgroups_trim(e->cgroups);
	intern_release(&e->said_ksyms);
	perf_maps_restart(e->jitmaps);
	jit_dumps_restart(e->jitdumps);
	emit_record(e, (struct record){ .type = RECORD_SEGMENT, .segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	put_header(e, now);
	emit_record(e, (struct record){ .type = RECORD_FLUSH });
}

bool emit_segment_due(const struct emit *e, uint64_t now)
{
	return now - e->segment_began >= SEGMENT_SECONDS * 1000000000ull ||
	       e->stacks.tree.n_nodes >= SEGMENT_NODES || (e->runtimes && script_functions_full(&e->runtimes->functions)) ||
	       writer_segment_bytes(e->w) >= SEGMENT_BYTES + 2 * (perf_maps_repeated(e->jitmaps) + jit_dumps_repeated(e->jitdumps));
}

static uint64_t file_id(struct emit *e, uint32_t file)
{
	struct exe *x;

	if (file == 0)
		return 0;
	x = &e->procs->exes[file - 1];
	if (x->segment != e->segment) {
		x->segment = e->segment;
		x->id = e->next_file++;
		emit_record(e, (struct record){ .type = RECORD_FILE,
						.file = { x->id, x->major, x->minor, x->inode, x->generation, x->build_id,
							  x->path } });
	}
	return x->id;
}

/* The id is the process's address: it does not move until emit_gone, which ends the watch. */
static uint64_t watch_id(const struct proc *p)
{
	return (uintptr_t)p;
}

/* A process that writes a jitdump file has the file mapped. */
static void watch_dump(struct emit *e, struct proc *p, const struct map *m)
{
	const struct exe *x = m->file ? &e->procs->exes[m->file - 1] : NULL;

	if (x && jit_dumps_is(x->path))
		jit_dumps_watch(e->jitdumps, watch_id(p), (pid_t)p->pid,
			       &(struct jitdump_mapping){ x->path, m->start, m->end, x->inode });
}

/* A JIT compiler's code is in memory that has no file on disk. */
static void watch_jit(struct emit *e, struct proc *p, const struct map *m)
{
	if (p->jit_segment == e->segment || (m->file && e->procs->exes[m->file - 1].path.p[0] == '/' &&
			       e->procs->exes[m->file - 1].inode + e->procs->exes[m->file - 1].build_id.n != 0 &&
			       strncmp((const char *)e->procs->exes[m->file - 1].path.p, "/memfd:", 7) != 0 &&
			       strncmp((const char *)e->procs->exes[m->file - 1].path.p, "/dev/", 5) != 0))
		return;
	if (m->file && e->procs->exes[m->file - 1].path.p[0] == '[')
		return; /* [vdso], [vsyscall], [uprobes] */
	if (perf_maps_watch(e->jitmaps, watch_id(p), (pid_t)p->pid, 0))
		p->jit_segment = e->segment;
}

static void put_mapping(struct emit *e, struct proc *p, const struct map *m, uint64_t time)
{
	uint64_t file = file_id(e, m->file);

	emit_record(e, (struct record){ .type = RECORD_MAPPING,
					.mapping = { time, p->id, m->start, m->end - m->start, m->offset, m->prot, file } });
	watch_jit(e, p, m);
	watch_dump(e, p, m);
}

/* Returns the parent's id if the child has just the parent's mappings at this point of the stream, or 0. */
static uint64_t parent_to_inherit(const struct emit *e, const struct proc *p)
{
	const struct proc *parent = p->via == VIA_FORK ? procs_find(e->procs, p->parent_pid) : NULL;

	if (!parent || parent->serial != p->parent_serial || parent->segment != e->segment ||
	    parent->version != p->parent_version || p->version != 0)
		return 0;
	return parent->id;
}

static void say_process(struct emit *e, struct proc *p)
{
	bool exec = p->via == VIA_EXEC;
	uint64_t parent = !exec ? parent_to_inherit(e, p) : p->exec_segment == e->segment ? p->exec_of : 0;

	if (p->segment == e->segment)
		return;
	p->segment = e->segment;
	p->id = e->next_process++;
	p->cgroup = 0;
	e->processes++;
	emit_record(e, (struct record){ .type = RECORD_PROCESS,
					.process = { p->id, p->time, p->pid, 0, parent, p->start, p->generation, p->via } });
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		if (parent && !exec)
			watch_jit(e, p, m); /* the dump that is mapped there is the parent's */
		else
			put_mapping(e, p, m, p->time);
	}
}

static void say_comm(struct emit *e, const struct task *t, uint64_t time)
{
	emit_record(e, (struct record){ .type = RECORD_COMM, .comm = { time, t->id, slice_of(t->comm) } });
}

static void say_task(struct emit *e, struct task *t, uint64_t time)
{
	say_process(e, t->proc);
	if (t->segment == e->segment)
		return;
	t->segment = e->segment;
	t->id = e->next_thread++;
	emit_record(e, (struct record){ .type = RECORD_THREAD, .thread = { t->id, time, t->proc->id, t->tid } });
	say_comm(e, t, time);
}

static void say_cgroup(struct emit *e, struct proc *p, uint64_t cgroup, uint64_t time)
{
	uint32_t said;

	if (cgroup == 0 || p->cgroup == cgroup)
		return;
	p->cgroup = cgroup;
	if (!idmap_find(&e->said_cgroups, cgroup, &said)) {
		const char *path = cgroup_path(e->cgroups, cgroup);

		if (!path)
			return;
		idmap_set(&e->said_cgroups, cgroup, 0);
		emit_record(e, (struct record){ .type = RECORD_CGROUP, .cgroup = { cgroup, slice_of(path) } });
	}
	emit_record(e, (struct record){ .type = RECORD_MEMBER, .member = { time, p->id, cgroup } });
}

bool emit_awaits(const struct emit *e, const struct change_effect *effect)
{
	return !e->dont_wait && effect->mapped && effect->proc->segment == e->segment &&
	       procs_awaits(e->procs, effect->mapped, host_mono_ns());
}

void emit_change(struct emit *e, const struct change *c, const struct change_effect *effect)
{
	if (c->kind == CHANGE_KSYM)
		ksym_add(e->ksym, c->start, c->length, c->text);
	if (c->kind == CHANGE_KSYM_GONE)
		ksym_remove(e->ksym, c->start, c->length);
	if (effect->mapped && effect->proc->segment == e->segment)
		put_mapping(e, effect->proc, effect->mapped, c->time);
	if (effect->renamed && effect->task->segment == e->segment)
		say_comm(e, effect->task, c->time);
	if (effect->exited && effect->task->proc->dead && effect->task->proc->jit_segment == e->segment)
		perf_maps_exited(e->jitmaps, watch_id(effect->task->proc));
	if (effect->exited && effect->task->segment == e->segment)
		emit_record(e, (struct record){ .type = RECORD_EXIT, .exit = { c->time, effect->task->id } });
}

/* Writes the symbol of a kernel address, once a segment. Returns false if the address has none. */
static bool say_ksym(struct emit *e, uint64_t address, uint64_t time)
{
	struct kernel_symbol s;
	struct buf key = { 0 };
	uint32_t id;

	if (!ksym_find(e->ksym, address, &s))
		return false;
	buf_varint(&key, s.address);
	buf_slice(&key, s.name);
	if (!key.failed && !intern_find(&e->said_ksyms, buf_view(&key), &id) &&
	    intern_add(&e->said_ksyms, buf_view(&key), &id))
		emit_record(e, (struct record){ .type = RECORD_KSYM, .ksym = { time, s.address, s.size, s.name, s.module } });
	buf_release(&key);
	return true;
}

/* Returns the address to look up: for a return address, one byte back, inside the call. */
static uint64_t looked_up(const struct calltree_frame *f)
{
	return f->kind == FRAME_RETURN ? f->address - 1 : f->address;
}

/* Counts the new frames of a process by origin. The first frame in the vDSO also writes its image, 8 kB. */
static void look_at_frames(struct emit *e, const struct proc *p)
{
	for (uint32_t i = e->said_frames; i < e->stacks.tree.n_frames; i++) {
		const struct calltree_frame *f = &e->stacks.tree.frames[i];
		const struct map *m;

		if (f->process != p->id || f->kind == STACK_FRAME_LANG)
			continue;
		m = maps_find(&p->maps, looked_up(f));
		e->origins[!m ? FRAME_NOWHERE : m->file ? FRAME_IN_FILE : FRAME_IN_MEMORY]++;
		if (m && m->file && !e->said_vdso && slice_is(e->procs->exes[m->file - 1].path, "[vdso]")) {
			put_vdso(e);
			e->said_vdso = true;
		}
	}
}

/* Writes the function, and its script, unless the segment has them. Returns its id. */
static uint64_t say_function(struct emit *e, struct function *f)
{
	struct script *s = &e->runtimes->functions.scripts[f->script];

	if (s->segment != e->segment) {
		s->segment = e->segment;
		s->id = e->next_script++;
		emit_record(e, (struct record){ .type = RECORD_SCRIPT, .script = { s->id, s->language, 0, s->path } });
	}
	if (f->segment != e->segment) {
		f->segment = e->segment;
		f->id = e->next_function++;
		emit_record(e, (struct record){ .type = RECORD_FUNCTION, .function = { f->id, s->id, f->name, f->line, f->flags } });
	}
	return f->id;
}

static void say_lang_frame(struct emit *e, uint64_t id, const struct calltree_frame *frame)
{
	uint64_t at = frame->address >> 32;
	struct function *f = at ? &e->runtimes->functions.items[at - 1] : NULL;
	struct record r = { .type = RECORD_LANG_FRAME, .lang_frame = { .id = id, .process = frame->process } };

	if (f) {
		r.lang_frame.function = say_function(e, f);
		r.lang_frame.language = f->language;
		r.lang_frame.line = (uint32_t)frame->address;
	} else {
		r.lang_frame.state = frame->address & ((1 << STACK_LANG_STATE_BITS) - 1);
		r.lang_frame.language = frame->address >> STACK_LANG_STATE_BITS;
		if (r.lang_frame.state == LANG_OK || r.lang_frame.state >= LANG_STATES)
			r.lang_frame.state = LANG_UNREADABLE;
		if (r.lang_frame.language >= LANGUAGES)
			r.lang_frame.language = LANGUAGE_NONE;
	}
	emit_record(e, r);
}

/* Writes the frames and nodes of the tree that the stream does not have yet. */
static void say_tree(struct emit *e, uint64_t time)
{
	for (uint32_t i = e->said_frames; i < e->stacks.tree.n_frames; i++) {
		const struct calltree_frame *f = &e->stacks.tree.frames[i];

		if (f->process == 0)
			e->origins[say_ksym(e, looked_up(f), time) ? FRAME_IN_KERNEL :
								     FRAME_IN_KERNEL_UNNAMED]++;
	}
	for (; e->said_frames < e->stacks.tree.n_frames; e->said_frames++) {
		const struct calltree_frame *f = &e->stacks.tree.frames[e->said_frames];

		if (f->kind == STACK_FRAME_LANG) {
			say_lang_frame(e, e->said_frames, f);
			continue;
		}
		emit_record(e, (struct record){ .type = RECORD_FRAME,
						.frame = { e->said_frames, f->process, f->kind, f->address } });
	}
	for (; e->said_nodes < e->stacks.tree.n_nodes; e->said_nodes++) {
		const struct calltree_node *n = &e->stacks.tree.nodes[e->said_nodes];

		emit_record(e, (struct record){ .type = RECORD_NODE, .node = { e->said_nodes, n->parent, n->frame } });
	}
}

/* Writes a sample of any event. */
static void put_sample(struct emit *e, const struct record *r)
{
	writer_put(e->w, r);
	e->segment_samples++;
}

/* Writes a tick, or a sample of another event. */
static enum emitted emit_event(struct emit *e, const struct sample_head *s, struct task *t, const struct stack *stack)
{
	bool tick = s->what == SAMPLE_TICK;
	struct record r = { .type = RECORD_SAMPLE,
			    .sample = { .time = s->time, .event = tick ? EVENT_TICK : EVENT_OTHERS + s->event, .cpu = s->cpu,
					.thread = t->id, .weight = s->weight ? s->weight : e->period } };

	if (!stacks_nodes(&e->stacks, t->proc, stack, &r.sample.user, &r.sample.kernel))
		return EMIT_NO_MEMORY;
	e->roots[stack->user.end]++;
	say_cgroup(e, t->proc, s->cgroup, s->time);
	look_at_frames(e, t->proc);
	say_tree(e, s->time);
	put_sample(e, &r);
	if (tick)
		e->samples++;
	else
		e->others[s->event % EVENTS_MAX]++;
	if (!tick && !e->output->suspended)
		e->kept[s->event % EVENTS_MAX]++;
	return EMIT_WRITTEN;
}

/* Writes one sample per reason, the wait itself first: it ended when the wait for a CPU began. */
static enum emitted emit_wait(struct emit *e, const struct wait *w, struct task *t)
{
	struct wait_site *place = wait_sites_find(e->places, w->head.weight);
	struct record r = { .type = RECORD_SAMPLE,
			    .sample = { .time = w->head.time, .cpu = w->head.cpu, .thread = t->id,
					.user = ROOT_FORGOTTEN, .kernel = ROOT_FORGOTTEN } };

	if (place && !wait_sites_nodes(&e->stacks, e->segment, place, t->proc, &r.sample.user, &r.sample.kernel))
		return EMIT_NO_MEMORY;
	say_cgroup(e, t->proc, place ? place->cgroup : 0, w->head.time);
	look_at_frames(e, t->proc);
	say_tree(e, w->head.time);
	for (unsigned int i = 0; i < WAIT_REASONS; i++) {
		r.sample.event = EVENT_WAITS + i;
		r.sample.weight = w->ns[i];
		r.sample.time = w->head.time - (i == WAIT_CPU ? 0 : w->ns[WAIT_CPU]);
		if (r.sample.weight)
			put_sample(e, &r);
	}
	e->waits++;
	if (w->gone)
		wait_sites_remove(e->places, w->head.weight);
	return EMIT_WRITTEN;
}

static enum emitted emit_ran(struct emit *e, const struct ran *r, const struct task *t)
{
	uint64_t time = r->head.time;

	say_cgroup(e, t->proc, r->head.cgroup, time);
	emit_record(e, (struct record){ .type = RECORD_RAN,
					.ran = { time, t->id, r->head.weight, r->since < time ? time - r->since : 0 } });
	return EMIT_WRITTEN;
}

enum emitted emit_sample(struct emit *e, const struct sample_head *s)
{
	struct task *t = procs_task(e->procs, s->pid, s->tid, s->time);
	uint64_t room[STACK_ROOM];
	struct stack stack;

	if (!t)
		return EMIT_NO_MEMORY;
	if (!e->dont_wait && t->proc->segment != e->segment &&
	    procs_awaits_any(e->procs, t->proc, host_mono_ns()))
		return EMIT_WAITS; /* for the build IDs of its files */
	if (s->what == SAMPLE_WAIT) /* the wait itself ended before that for a CPU, and is written first */
		say_task(e, t, s->time - ((const struct wait *)s)->ns[WAIT_CPU]);
	else if (s->what != SAMPLE_STACK)
		say_task(e, t, s->time);
	if (s->what == SAMPLE_WAIT)
		return emit_wait(e, (const struct wait *)s, t);
	if (s->what == SAMPLE_RAN)
		return emit_ran(e, (const struct ran *)s, t);
	if (stacks_take(&e->stacks, s, t->proc, room, &stack) == STACK_WAITS)
		return EMIT_WAITS;
	if (s->what != SAMPLE_STACK)
		return emit_event(e, s, t, &stack);
	if (!wait_sites_put(e->places, s, t->proc, &stack))
		e->engine->ops->restart(e->engine); /* too many wait sites: all were forgotten */
	return EMIT_WRITTEN;
}

struct jit_sink {
	struct emit *e;
	uint64_t now, bytes;
};

static void put_jitmap(void *arg, uint64_t watched, uint64_t generation, const uint8_t *data, size_t n)
{
	struct jit_sink *sink = arg;
	struct proc *p = (struct proc *)(uintptr_t)watched;

	say_process(sink->e, p);
	emit_record(sink->e, (struct record){ .type = RECORD_JITMAP, .jitmap = { sink->now, p->id, generation, { data, n } } });
	sink->bytes += n;
}

static void deliver_jit(struct emit *e, uint64_t now, uint64_t limit)
{
	struct jit_sink sink = { e, now, 0 };

	while (perf_maps_poll(e->jitmaps, now, put_jitmap, &sink) > 0 && sink.bytes < limit)
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

	while (jit_dumps_poll(e->jitdumps, queue_code, &sink) > 0 && (all || q->bytes.n - before < JIT_STEP_BYTES))
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
						.jitcode = { i->time, p->id, c.kind, c.address, c.size, c.old,
							     { (const uint8_t *)bytes + sizeof(c), i->n - sizeof(c) } } });
}

static void put_code(void *arg, uint64_t watched, const struct jitfile_code *c)
{
	struct emit *e = arg;
	struct proc *p = (struct proc *)(uintptr_t)watched;

	if (p->segment == e->segment)
		emit_record(e, (struct record){ .type = RECORD_JITCODE,
						.jitcode = { c->time, p->id, c->kind, c->address, c->size, c->old, c->name } });
}

void emit_gone(struct emit *e, struct proc *p)
{
	struct jit_sink sink = { e, host_mono_ns(), 0 };

	if (p->jit_segment == e->segment)
		perf_maps_finish(e->jitmaps, watch_id(p), sink.now, put_jitmap, &sink);
	else if (p->jit_segment) /* it is not in this segment */
		perf_maps_forget(e->jitmaps, watch_id(p));
	jit_dumps_finish(e->jitdumps, watch_id(p), put_code, e);
	if (e->spaces)
		user_walk_gone(e->spaces, p, sink.now);
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
		perf_maps_end(e->jitmaps, now, put_jitmap, &sink);
	emit_record(e, (struct record){ .type = RECORD_END, .end = { now, reason, e->segment_samples } });
	emit_record(e, (struct record){ .type = RECORD_FLUSH });
}

void emit_ledger(struct emit *e, uint64_t now, uint64_t cpu, enum outcome outcome, uint64_t count)
{
	emit_record(e, (struct record){ .type = RECORD_LEDGER, .ledger = { now, cpu, outcome, count } });
}

void emit_tally(struct emit *e, uint64_t now, size_t event, enum outcome outcome, uint64_t count)
{
	emit_record(e, (struct record){ .type = RECORD_TALLY, .tally = { now, EVENT_OTHERS + event, outcome, count } });
}

void emit_cost(struct emit *e, uint64_t now, enum cost what, uint64_t count)
{
	emit_record(e, (struct record){ .type = RECORD_COST, .cost = { now, what, count } });
}
