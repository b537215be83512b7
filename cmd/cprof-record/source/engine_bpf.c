/* Sampling by a BPF program on a perf event of each CPU, with the side-band beside it. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bpf/follow.skel.h"
#include "bpf/mm/vma.h"
#include "bpf/sample.skel.h"
#include "cmd/shared/cli.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/source/dither.h"
#include "cmd/cprof-record/source/engine.h"
#include "cmd/cprof-record/source/bpf_percpu.h"
#include "cmd/cprof-record/source/bpf_offcpu.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/cprof-record/host/run_queues.h"
#include "cmd/cprof-record/source/bpf_tables.h"
#include "cmd/cprof-record/source/sideband.h"
#include "common/base/array.h"

enum { WANTED_MAX = 65536,
       DRAIN_MOST = 20000,
       SPACES_MOST = 131072, SPACES_LEAST = 32768, SPACES_PER_CPU = 4096 };

/* The ways to load the program, best first. */
static const struct way {
	bool by_table;
	bool preallocate;
	bool calls; /* tail calls beside functions, for languages: 5.10 */
	enum sample_regs regs;
} ways[] = {
	{ true, false, true, REGS_BY_HELPER }, /* 6.1 */
	{ true, true, true, REGS_BY_HELPER },  /* 5.15 */
	{ true, true, true, REGS_BY_STACK },   /* 5.10, with BTF */
	{ true, true, false, REGS_BY_STACK },  /* 5.8 */
	{ true, true, false, REGS_BY_SP },
	{ false, true, false, REGS_BY_SP },
};

struct cpu_event {
	unsigned int cpu;
	int fd;
	struct bpf_link *link;
	uint64_t began; /* host_mono_ns */
};

struct bpf_engine {
	struct engine base;
	struct sample_bpf *sample;
	struct bpf_program *ticks; /* the program of this object that is called at each tick */
	struct offcpu *offcpu;     /* NULL: waiting time is not recorded */
	struct bpf_events *counted;   /* NULL: no other events are recorded */
	struct bpf_calls *calls; /* NULL: there are no call probes */
	bool stopped;
	int walk_errno; /* error of loading the program that walks by tables; 0: none, or it is not wanted */
	bool walk_refused; /* by the verifier */
	struct follow_bpf *follow; /* NULL: the side-band follows children */
	struct bpf_link *follow_link, *forget_link;
	bool follow_tried;
	struct bpf_tables shards;
	struct percpu percpu;
	struct dither dither;
	struct ring_buffer *rings; /* the waker, and the rings of other events and waiting time */
	struct sideband sideband;
	struct cpu_event *events;
	size_t n, cap;
	struct cpu_list cpus; /* online at the start */
	bool idle_known;      /* the idle loop's addresses; without them the kernel skips pid 0's ticks */
	size_t taken;        /* samples read from the rings in this drain */
	struct queue *queue; /* receives them; set only during the drain */
};

static struct bpf_engine *to_bpf(struct engine *e)
{
	return (struct bpf_engine *)e;
}

static int take_sample(void *arg, void *data, size_t n)
{
	struct bpf_engine *b = arg;

	if (n >= sizeof(struct sample_head))
		queue_push(b->queue, ITEM_SAMPLE, ((struct sample_head *)data)->time, data, n);
	b->taken++;
	return !b->stopped && b->taken >= DRAIN_MOST ? -1 : 0;
}

static int take_word(void *arg, void *data, size_t n)
{
	struct bpf_engine *b = arg;
	uint64_t word;

	if (n < sizeof(word))
		return 0;
	memcpy(&word, data, sizeof(word));
	if (word == WAKE_INTERPRETER)
		b->base.interpreter = host_mono_ns();
	return 0;
}

static void drain_rings(struct engine *e, struct queue *q)
{
	struct bpf_engine *b = to_bpf(e);

	sideband_drain(&b->sideband, q);
	b->queue = q;
	b->taken = 0;
	ring_buffer__consume(b->rings); /* up to DRAIN_MOST: at a high rate they may never be empty */
	percpu_drain(&b->percpu, e->options->cycles ? NULL : &b->dither, q);
	if (b->offcpu)
		offcpu_drain(b->offcpu, q);
	b->queue = NULL;
}

static void drop_event(struct bpf_engine *b, size_t at)
{
	bpf_link__destroy(b->events[at].link); /* closes the event too */
	b->events[at] = b->events[--b->n];
}

/*
 * If the kernel skips our program while those of other events run, our program looks for missing ticks. It
 * cannot do so if the kernel leaves out idle ticks: they would look missing.
 */
static void period_changed(struct bpf_engine *b, unsigned int cpu, uint64_t now)
{
	bool looks = ((b->counted && bpf_events_keeps_out(b->counted)) || (b->calls && uprobe_keeps_out())) &&
		     b->idle_known;

	dither_changed(&b->dither, cpu, now);
	percpu_period(&b->percpu, cpu, looks ? dither_period(&b->dither, cpu) : 0);
}

static bool add_event(struct bpf_engine *b, unsigned int cpu)
{
	struct perf_event_attr attr;
	struct cpu_event *ev;

	if (!b->base.options->ticks || !options_samples(b->base.options, cpu))
		return true;
	if (!percpu_add(&b->percpu, cpu))
		return false;
	if (!grow_array(&b->events, &b->cap, b->n, sizeof(*b->events))) {
		errno = ENOMEM;
		return false;
	}
	ev = &b->events[b->n];
	engine_attr(&attr, &b->base);
	if (!b->base.options->cycles)
		attr.sample_period = dither_choose(&b->dither, cpu);
	attr.exclude_idle = !b->idle_known;
	ev->cpu = cpu;
	ev->fd = event_open(&attr, -1, (int)cpu);
	if (ev->fd < 0)
		return false;
	ev->link = bpf_program__attach_perf_event(b->ticks, ev->fd);
	if (!ev->link) {
		int saved = errno;

		close(ev->fd);
		errno = saved;
		return false;
	}
	ev->began = host_mono_ns();
	period_changed(b, cpu, ev->began);
	b->n++;
	return true;
}

static uint64_t cpu_began(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);

	for (size_t i = 0; i < b->n; i++) {
		if (b->events[i].cpu == cpu)
			return b->events[i].began;
	}
	return host_mono_ns();
}

static void drop_cpu(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);

	sideband_drop(&b->sideband, cpu);
	if (b->counted)
		bpf_events_drop_cpu(b->counted, cpu);
	for (size_t i = 0; i < b->n; i++) {
		if (b->events[i].cpu == cpu) {
			drop_event(b, i);
			return;
		}
	}
}

static bool add_cpu(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);
	int saved;

	run_queues_add(b->sample, cpu);
	if (sideband_add(&b->sideband, cpu) && (!b->offcpu || offcpu_add_cpu(b->offcpu, cpu)) && add_event(b, cpu) &&
	    (!b->counted || bpf_events_add_cpu(b->counted, cpu)))
		return true;
	saved = errno;
	drop_cpu(e, cpu);
	errno = saved;
	return false;
}

static bool has_event(const struct bpf_engine *b, unsigned int cpu)
{
	size_t i = 0;

	if (!b->base.options->ticks || !options_samples(b->base.options, cpu))
		return true;
	while (i < b->n && b->events[i].cpu != cpu)
		i++;
	return i < b->n;
}

static bool has_cpu(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);

	return sideband_has(&b->sideband, cpu) && has_event(b, cpu) && (!b->counted || bpf_events_has_cpu(b->counted, cpu));
}

/* Allocates all memory before the first event: ticks during the allocation would not be expected. */
static bool make_rings(struct bpf_engine *b)
{
	for (size_t i = 0; i < b->cpus.n; i++) {
		if (b->base.options->ticks && options_samples(b->base.options, b->cpus.items[i]) &&
		    !percpu_add(&b->percpu, b->cpus.items[i]))
			return false;
	}
	return true;
}

static bool begin_sampling(struct engine *e, struct buf *error)
{
	struct bpf_engine *b = to_bpf(e);

	if (!make_rings(b)) {
		diagnose_bpf(errno, error);
		return false;
	}
	for (size_t i = 0; i < b->cpus.n; i++) {
		/* CPUs that went offline, now or before the side-band was opened, are left to hotplug.c. */
		if (sideband_has(&b->sideband, b->cpus.items[i]) && !add_event(b, b->cpus.items[i]) && errno != ENODEV) {
			diagnose_perf(errno, true, error);
			return false;
		}
	}
	if (b->n == 0 && b->base.options->ticks) {
		diagnose_perf(ENODEV, true, error);
		return false;
	}
	return (!b->counted || bpf_events_begin(b->counted, &b->cpus, error)) &&
	       (!b->offcpu || offcpu_begin(b->offcpu, error)) &&
	       (!b->calls || bpf_calls_begin(b->calls, b->cpus.items[0], error));
}

static void watch_ring(int ring, int epoll)
{
	/* Edge-triggered: otherwise each sample wakes us again as long as another one follows. */
	epoll_ctl(epoll, EPOLL_CTL_ADD, ring, &(struct epoll_event){ EPOLLIN | EPOLLET, { .fd = ring } });
}

static void watch_descriptors(struct engine *e, int epoll)
{
	struct bpf_engine *b = to_bpf(e);

	watch_ring(bpf_map__fd(b->sample->maps.waker), epoll);
	if (b->offcpu)
		watch_ring(offcpu_ring(b->offcpu), epoll);
	if (b->counted)
		watch_ring(bpf_events_ring(b->counted), epoll);
	for (size_t i = 0; i < b->sideband.n; i++)
		perf_ring_watch(&b->sideband.rings[i], epoll);
}

static void read_counts(struct engine *e, unsigned int cpu, struct engine_counts *c)
{
	const volatile struct sample_counts *of_cpu = percpu_counts(&to_bpf(e)->percpu, cpu);
	const volatile unsigned long long *n;

	*c = (struct engine_counts){ 0 };
	if (!of_cpu)
		return;
	n = of_cpu->n;
	c->outcomes[OUTCOME_EMITTED] = n[COUNT_EMITTED];
	c->outcomes[OUTCOME_IDLE] = n[COUNT_IDLE];
	c->outcomes[OUTCOME_FILTERED] = n[COUNT_FILTERED];
	c->outcomes[OUTCOME_RING_FULL] = n[COUNT_RING_FULL];
	c->outcomes[OUTCOME_NESTED] = n[COUNT_NESTED];
	c->kept_out = n[COUNT_KEPT_OUT];
	c->run_ns = n[COUNT_RUN_NS];
	c->runs = n[COUNT_RUNS];
}

static bool publish_space(struct engine *e, uint32_t pid, const struct unwind_space *space)
{
	int fd = bpf_map__fd(to_bpf(e)->sample->maps.spaces);

	int failed = space ? bpf_map_update_elem(fd, &pid, space, BPF_ANY) : bpf_map_delete_elem(fd, &pid);

	if (space || !failed) /* most processes that go were not published */
		store_changed(e->store);
	return failed == 0;
}

static void publish_file(struct engine *e, const struct unwind_file_id *id, const struct unwind_file_known *known)
{
	bpf_map_update_elem(bpf_map__fd(to_bpf(e)->sample->maps.known_files), id, known, BPF_ANY);
}

static void follow_fork(struct engine *e, uint32_t parent, uint32_t child)
{
	int fd = bpf_map__fd(to_bpf(e)->sample->maps.wanted);
	uint32_t one = 1;

	if (e->options->n_tids == 0 && bpf_map_lookup_elem(fd, &parent, &one) == 0)
		bpf_map_update_elem(fd, &child, &one, BPF_ANY);
}

static void forget_process(struct engine *e, uint32_t pid)
{
	if (options_targeted(e->options) && e->options->n_tids == 0)
		bpf_map_delete_elem(bpf_map__fd(to_bpf(e)->sample->maps.wanted), &pid);
}

/* Applies to all programs: those of other events share the map. */
static bool want_group(const struct bpf_engine *b, size_t place)
{
	uint32_t at = (uint32_t)place;

	return bpf_map_update_elem(bpf_map__fd(b->sample->maps.groups), &at, &b->base.options->groups[place].fd, BPF_ANY) == 0;
}

static bool replace_group(struct engine *e, size_t place)
{
	if (!want_group(to_bpf(e), place))
		return false;
	if (to_bpf(e)->offcpu)
		offcpu_regroup(to_bpf(e)->offcpu, place, e->options->groups[place].id);
	return true;
}

static void read_waits(struct engine *e, struct wait_counts *c)
{
	if (to_bpf(e)->offcpu)
		offcpu_counts(to_bpf(e)->offcpu, c);
}

static bool report_waits(struct engine *e)
{
	if (to_bpf(e)->offcpu)
		return offcpu_report_waits(to_bpf(e)->offcpu);
	return true;
}

static void resend_stacks(struct engine *e)
{
	if (to_bpf(e)->offcpu)
		offcpu_restart(to_bpf(e)->offcpu);
}

static void read_sums(struct engine *e, size_t event, struct bpf_events_sums *s)
{
	bpf_events_sums(to_bpf(e)->counted, event, s);
}

static void read_calls(struct engine *e, struct bpf_calls_counts *c)
{
	*c = (struct bpf_calls_counts){ 0 };
	if (to_bpf(e)->calls)
		bpf_calls_counts(to_bpf(e)->calls, c);
}

static void set_reader_rests(struct engine *e, bool rests)
{
	to_bpf(e)->sample->data->reader_rests = rests;
}

/* Returns false if the event keeps its old period. */
static bool change_period(struct bpf_engine *b, const struct cpu_event *ev, uint64_t period)
{
	if (ioctl(ev->fd, PERF_EVENT_IOC_PERIOD, &period) != 0)
		return false;
	period_changed(b, ev->cpu, host_mono_ns());
	return true;
}

static void apply_rate(struct engine *e)
{
	struct bpf_engine *b = to_bpf(e);

	if (b->counted)
		bpf_events_rate(b->counted, &e->rate);
	dither_rate(&b->dither, engine_period(e));
	for (size_t i = 0; i < b->n; i++)
		change_period(b, &b->events[i], e->options->cycles ? e->rate.hertz : dither_choose(&b->dither, b->events[i].cpu));
}

static uint64_t cpu_period(struct engine *e, unsigned int cpu)
{
	return dither_period(&to_bpf(e)->dither, cpu);
}

static void dither_periods(struct engine *e, uint64_t now, engine_epoch_fn *changed, void *arg)
{
	struct bpf_engine *b = to_bpf(e);

	for (size_t i = 0; i < b->n; i++) {
		uint64_t before;

		if (!dither_due(&b->dither, b->events[i].cpu, now))
			continue;
		before = host_mono_ns();
		if (change_period(b, &b->events[i], dither_choose(&b->dither, b->events[i].cpu)))
			changed(arg, b->events[i].cpu, before, dither_since(&b->dither, b->events[i].cpu));
	}
}

/* Ends the ticks first, on all CPUs at once: detaching the other programs takes time. */
static void stop_sampling(struct engine *e)
{
	struct bpf_engine *b = to_bpf(e);

	for (size_t i = 0; i < b->n; i++)
		ioctl(b->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	e->ended = host_mono_ns();
	if (b->offcpu)
		offcpu_stop(b->offcpu);
	if (b->counted)
		bpf_events_stop(b->counted);
	if (b->calls)
		bpf_calls_stop(b->calls);
	b->stopped = true;
	while (b->n)
		drop_event(b, b->n - 1);
}

static void close_engine(struct engine *e)
{
	struct bpf_engine *b = to_bpf(e);

	stop_sampling(e);
	sideband_close(&b->sideband);
	ring_buffer__free(b->rings);
	bpf_link__destroy(b->forget_link);
	bpf_link__destroy(b->follow_link);
	follow_bpf__destroy(b->follow);
	offcpu_close(b->offcpu);
	bpf_events_close(b->counted);
	bpf_lang_free(b->base.lang);
	bpf_calls_close(b->calls);
	store_free(b->base.store);
	bpf_tables_release(&b->shards);
	percpu_release(&b->percpu);
	dither_release(&b->dither);
	sample_bpf__destroy(b->sample);
	cpu_list_release(&b->cpus);
	free(b->events);
	free(b);
}

static bool load_walk(struct engine *e, struct buf *error);

static const struct engine_ops ops = {
	.name = "bpf", .sample = begin_sampling, .add_cpu = add_cpu, .has_cpu = has_cpu, .drop_cpu = drop_cpu,
	.drain = drain_rings, .watch = watch_descriptors, .counts = read_counts, .walk = load_walk,
	.publish = publish_space, .publish_file = publish_file,
	.follow = follow_fork, .forget = forget_process, .regroup = replace_group, .began = cpu_began,
	.rest = set_reader_rests, .rate = apply_rate, .period = cpu_period, .dither = dither_periods, .waits = read_waits,
	.report_waits = report_waits, .restart = resend_stacks, .sums = read_sums, .calls = read_calls,
	.stop = stop_sampling, .close = close_engine,
};

/* Returns the offset of task_struct.stack; 0: not found in BTF. */
static uint32_t find_task_stack(void)
{
	struct btf_place stack = { "task_struct", "stack", 0 };

	return btf_find(BTF_KERNEL, &stack, 1) ? stack.at : 0;
}

/* Returns the size of the process map. Without preallocation, only its hash table costs memory and time. */
static uint32_t spaces_of(const struct way *way)
{
	uint32_t n = SPACES_LEAST, cpus = (uint32_t)libbpf_num_possible_cpus();

	while (!way->preallocate && n < SPACES_MOST && n / SPACES_PER_CPU < cpus)
		n *= 2;
	return n;
}

static void configure_walk(struct sample_bpf *s, const struct options *o, const struct way *way)
{
	s->rodata->by_table = way->by_table;
	s->rodata->user_depth = o->depth;
	s->rodata->regs_by = way->regs;
	s->rodata->always_copy = o->always_copy;
	if (way->regs == REGS_BY_STACK)
		s->rodata->task_stack_at = find_task_stack();
	bpf_map__set_max_entries(s->maps.row_shards, way->by_table ? UNWIND_SHARDS : 1);
	bpf_map__set_max_entries(s->maps.mapping_shards, way->by_table ? UNWIND_SHARDS : 1);
	bpf_map__set_max_entries(s->maps.spaces, way->by_table ? spaces_of(way) : 1);
	if (way->preallocate)
		bpf_map__set_map_flags(s->maps.spaces, 0);
	else if (way->by_table)
		bpf_map__set_max_entries(s->maps.known_files, VMA_FILES);
}

/* Without the offsets, an interpreter that a script's first line names does not wake the recorder. */
static void find_file_name(struct sample_bpf *s)
{
	struct btf_place at[] = { { "linux_binprm", "file", 0 }, { "file", "f_path", 0 }, { "path", "dentry", 0 },
				  { "dentry", "d_name", 0 },	 { "qstr", "name", 0 } };

	if (!btf_find(BTF_KERNEL, at, sizeof(at) / sizeof(at[0])))
		return;
	s->rodata->file_at = at[0].at;
	s->rodata->dentry_at = at[1].at + at[2].at;
	s->rodata->name_at = at[3].at + at[4].at;
}

static void configure_sampler(struct sample_bpf *s, const struct options *o, const struct idle_ranges *idle, const struct way *way)
{
	bpf_map__set_max_entries(s->maps.wanted, options_targeted(o) ? WANTED_MAX : 1);
	s->rodata->has_calls = way->calls && !o->kernel_only && (o->languages || o->calls);
	bpf_program__set_autoload(s->progs.finish, way->calls);
	if (s->rodata->has_calls)
		find_file_name(s);
	s->rodata->depth = o->chain_depth;
	s->rodata->want_user = !o->kernel_only;
	s->rodata->want_kernel = !o->user_only;
	s->rodata->want_weight = o->cycles;
	s->rodata->looks_back = o->n_events > 0 || o->calls;
	s->rodata->filter_groups = (unsigned int)o->n_groups;
	bpf_map__set_max_entries(s->maps.groups, o->n_groups ? (uint32_t)o->n_groups : 1);
	s->rodata->filter_tids = o->n_tids > 0;
	s->rodata->filter_pids = options_targeted(o) && o->n_tids == 0;
	s->rodata->want_outside = o->off_cpu && o->ticks && (o->n_groups || options_targeted(o));
	configure_walk(s, o, way);
	run_queues_configure(s, o->latency);
	for (int i = 0; i < 2; i++) {
		s->rodata->idle_start[i] = idle->start[i];
		s->rodata->idle_end[i] = idle->end[i];
	}
}

/* Creates the store of the unwind tables that the program walks by. */
static bool open_store(struct bpf_engine *b)
{
	struct store_backing backing = { bpf_tables_add, &b->shards };

	b->base.store = store_new(&backing, b->base.options->memory.unwind_mem);
	b->base.by_tables = b->base.store != NULL;
	return b->base.by_tables;
}

/* Chooses the program for ticks: the walk by tables is apart and loaded later, if tail calls can reach it. */
static struct bpf_program *choose_program(struct sample_bpf *s, const struct way *way)
{
	static const char *const names[] = { "sample", "sample_whole", "walk_stack" };
	size_t chosen = way->by_table && !way->calls;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(s->obj, names[i]);

		if (p) /* other architectures have the first alone */
			bpf_program__set_autoload(p, i == chosen);
	}
	return bpf_object__find_program_by_name(s->obj, names[chosen]);
}

/* Registers the end of a sample that the walk has completed. */
static bool register_finish(const struct bpf_engine *b, const struct way *way)
{
	return !way->calls || bpf_lang_finish(b->sample->maps.calls, 0, b->sample->progs.finish);
}

static bool load_way(struct bpf_engine *b, const struct idle_ranges *idle, const struct way *way)
{
	bool loaded;
	int saved;

	refusal_clear();
	b->sample = sample_bpf__open();
	if (!b->sample)
		return false;
	configure_sampler(b->sample, b->base.options, idle, way);
	b->ticks = choose_program(b->sample, way);
	loaded = percpu_configure(&b->percpu, b->sample, b->base.options) &&
		 (!way->by_table || bpf_tables_prepare(&b->shards, b->sample)) &&
		 sample_bpf__load(b->sample) == 0 && register_finish(b, way);
	b->base.walks = way->by_table && !way->calls;
	if (loaded && (!way->by_table || open_store(b)))
		return true;
	saved = errno;
	bpf_tables_release(&b->shards);
	percpu_release(&b->percpu);
	sample_bpf__destroy(b->sample);
	b->sample = NULL;
	errno = saved;
	return false;
}

/* Loads the program in the best way that the options allow and this kernel accepts. */
static bool load_best_way(struct bpf_engine *b, const struct idle_ranges *idle)
{
	const struct options *o = b->base.options;
	size_t n = sizeof(ways) / sizeof(ways[0]);
	bool helper = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs, NULL) != 0;

	for (size_t i = 0; i < n; i++) {
		if (ways[i].by_table ? o->unwind == BY_FP || o->kernel_only : o->unwind == BY_TABLE && !o->kernel_only)
			continue;
		if (ways[i].by_table && ways[i].regs == REGS_BY_HELPER && !helper)
			continue;
		if (load_way(b, idle, &ways[i]))
			return true;
		if (ways[i].by_table) {
			b->walk_errno = errno;
			b->walk_refused = refusal_program() != NULL;
		}
		if (errno == EPERM) /* the others need the same rights */
			return false;
	}
	return false;
}

static bool load_sampler(struct bpf_engine *b, const struct idle_ranges *idle)
{
	const struct options *o = b->base.options;
	uint32_t one = 1;

	if (!load_best_way(b, idle))
		return false;
	for (size_t i = 0; i < o->n_pids + o->n_tids; i++) {
		uint32_t id = (uint32_t)(o->n_pids ? o->pids : o->tids)[i];

		bpf_map_update_elem(bpf_map__fd(b->sample->maps.wanted), &id, &one, BPF_ANY);
	}
	for (size_t i = 0; i < o->n_groups; i++) {
		if (!want_group(b, i))
			return false;
	}
	b->rings = ring_buffer__new(bpf_map__fd(b->sample->maps.waker), take_word, b, NULL);
	return b->rings && percpu_init(&b->percpu, b->sample) &&
	       dither_init(&b->dither, b->percpu.n, engine_period(&b->base), o->dither);
}

static const char locked_walk[] = "the kernel is locked down (/sys/kernel/security/lockdown: confidentiality), which keeps BPF "
				  "programs from unwinding by tables";

static bool is_locked(const struct bpf_engine *b)
{
	return (b->walk_refused || b->walk_errno) && !b->base.by_tables && locked_confidential();
}

/* A locked-down kernel still copies user stacks for perf, whose engine walks them by tables in user space. */
static bool perf_walks_better(const struct bpf_engine *b)
{
	const struct options *o = b->base.options;

	return o->engine == ENGINE_AUTO && o->unwind == BY_AUTO && !o->kernel_only && !o->off_cpu && !o->n_events &&
	       !o->n_groups && is_locked(b);
}

/* The texts do not blame the kernel: just as often, its verifier cannot follow the compiler's code. */
static void warn_walk(const struct bpf_engine *b)
{
	if (is_locked(b))
		cli_warn("user stacks are unwound by frame pointers alone: %s", locked_walk);
	else if (b->walk_refused)
		cli_warn("user stacks are unwound by frame pointers alone: the verifier refuses the program that unwinds by tables%s",
			 refusal_reported() ? "" : " (-v shows the reason)");
	else if (b->walk_errno)
		cli_warn("user stacks are unwound by frame pointers alone: cannot load the program that unwinds by tables: %s",
			 strerror(b->walk_errno));
}

static void warn_probes(const struct bpf_engine *b)
{
	const struct options *o = b->base.options;

	for (size_t i = 0; i < o->n_events && !o->quiet; i++) {
		struct uprobe_cost cost = bpf_events_cost(b->counted, i);

		if (cost.ns)
			cli_warn("%s: each hit costs about %u.%u us, in every process that has the file mapped",
				 o->events[i].name, cost.ns / 1000, cost.ns / 100 % 10);
		if (cost.harms)
			cli_warn("%s: probes at a nop of five bytes overwrite variables of leaf functions on this "
				 "kernel (Linux 6.18 to 7.0 without the fix): the probed programs may fail",
				 o->events[i].name);
	}
}

static void warn_calls(const struct bpf_engine *b)
{
	struct uprobe_cost cost = bpf_calls_cost(b->calls);

	if (b->base.options->quiet)
		return;
	cli_warn("--usdt-stacks %s: each call costs at least two probes of %u.%u us, "
		 "in every process that has %s mapped", b->base.options->calls->provider,
		 cost.ns / 1000, cost.ns / 100 % 10, b->base.options->calls->file);
	if (cost.harms)
		cli_warn("--usdt-stacks: probes at a nop of five bytes overwrite variables of leaf functions "
			 "on this kernel (Linux 6.18 to 7.0 without the fix): the probed programs may fail");
}

/* Samples get the stacks of call probes by the programs of languages. False: error is a sentence. */
static bool add_calls(struct bpf_engine *b, struct buf *error)
{
	if (!b->base.lang) {
		buf_text(error, !b->base.by_tables ? "--usdt-stacks requires unwinding by tables" :
						     "--usdt-stacks requires Linux 5.15");
		return false;
	}
	b->calls = bpf_calls_open(b->base.options, b->sample, error);
	if (!b->calls)
		return false;
	if (bpf_lang_calls(b->base.lang, bpf_calls_maps(b->calls))) {
		warn_calls(b);
		return true;
	}
	buf_text(error, "--usdt-stacks: ");
	diagnose_bpf(errno, error);
	return false;
}

static bool load_others(struct bpf_engine *b, struct buf *error)
{
	const struct options *o = b->base.options;
	int rings[2], n = 0;

	refusal_clear();
	if (o->off_cpu && !(b->offcpu = offcpu_open(o, &b->cpus, b->sample, b->base.by_tables, error)))
		return false;
	if (o->n_events && !(b->counted = bpf_events_open(o, &b->cpus, b->sample, b->base.by_tables, error)))
		return false;
	if (b->offcpu) {
		b->base.exact_waits = offcpu_exact(b->offcpu);
		b->base.throttled_waits = offcpu_throttled(b->offcpu);
		rings[n++] = offcpu_ring(b->offcpu);
	}
	if (b->counted)
		rings[n++] = bpf_events_ring(b->counted);
	if (b->counted)
		warn_probes(b);
	while (n-- > 0) {
		if (ring_buffer__add(b->rings, rings[n], take_sample, b) == 0)
			continue;
		diagnose_bpf(errno, error);
		return false;
	}
	return true;
}

/* Loads the program that follows forks. Without it the side-band does, but only the next time it is read. */
static void load_follow(struct bpf_engine *b)
{
	bool filter = options_targeted(b->base.options) && b->base.options->n_tids == 0;
	struct btf_place tgid = { "task_struct", "tgid", 0 };
	struct buf why = { 0 };

	if (b->follow_tried)
		return;
	b->follow_tried = true;
	refusal_clear();
	if (btf_find(BTF_KERNEL, &tgid, 1))
		b->follow = follow_bpf__open();
	else
		errno = ENOENT;
	if (b->follow) {
		b->follow->rodata->tgid_at = tgid.at;
		b->follow->rodata->filter = filter;
		b->follow->rodata->by_table = b->base.by_tables;
		bpf_map__set_map_flags(b->follow->maps.spaces, bpf_map__map_flags(b->sample->maps.spaces));
	}
	if (b->follow && bpf_map__reuse_fd(b->follow->maps.wanted, bpf_map__fd(b->sample->maps.wanted)) == 0 &&
	    bpf_map__reuse_fd(b->follow->maps.spaces, bpf_map__fd(b->sample->maps.spaces)) == 0 && follow_bpf__load(b->follow) == 0)
		b->follow_link = bpf_program__attach(b->follow->progs.follow);
	if (b->follow_link || !filter || b->base.options->quiet)
		return;
	diagnose_bpf(errno, &why);
	cli_warn("the first quarter of a second of new processes may be missing: %s", buf_cstr(&why));
	buf_release(&why);
}

static bool load_walk(struct engine *e, struct buf *error)
{
	struct bpf_engine *b = to_bpf(e);
	uint64_t before = host_cpu_ns();

	refusal_clear();
	e->walks = bpf_tables_load_walk(b->sample);
	if (!e->walks) {
		buf_text(error, "user stacks are unwound by the recorder alone: ");
		diagnose_bpf(errno, error);
	} else {
		load_follow(b);
	}
	e->late_ns += host_cpu_ns() - before;
	return e->walks;
}

/* Programs of waits and of other events walk by themselves, and stacks that are checked are walked twice. */
static bool walks_at_once(const struct options *o)
{
	return o->off_cpu || o->n_events || o->calls || o->always_copy;
}

static void begin_walking(struct bpf_engine *b)
{
	struct buf why = { 0 };

	if (!b->base.walks && !load_walk(&b->base, &why) && !b->base.options->quiet)
		cli_warn("%s", buf_cstr(&why));
	b->base.late_ns = 0; /* this was the start */
	buf_release(&why);
}

static void add_languages(struct bpf_engine *b)
{
	struct sample_bpf *s = b->sample;
	struct bpf_lang *l = bpf_lang_new(b->base.options, s);

	b->base.lang = l;
	if (!l)
		return;
	s->data->lang_unmet = b->base.options->languages;
	bpf_lang_add_hook(l, &(struct bpf_lang_hook){ b->ticks, s->maps.calls, s->maps.percpu_rings,
						      s->maps.waker, s->rodata->stack_limit, NULL });
	if (b->counted)
		bpf_events_languages(b->counted, l);
	if (b->offcpu)
		offcpu_languages(b->offcpu, l);
}

struct engine *bpf_engine_open(const struct options *o, const struct cpu_list *online,
			       const struct idle_ranges *idle, struct buf *error)
{
	struct bpf_engine *b = calloc(1, sizeof(*b));

	if (!b) {
		buf_text(error, "out of memory");
		return NULL;
	}
	b->base = (struct engine){ .ops = &ops, .options = o, .rate = { o->hertz, o->most }, .by_cpu = true, .accounts_program = true };
	b->idle_known = idle->start[0] != 0;
	for (size_t i = 0; i < online->n; i++) {
		if (grow_array(&b->cpus.items, &b->cpus.cap, b->cpus.n, sizeof(*b->cpus.items)))
			b->cpus.items[b->cpus.n++] = online->items[i];
	}
	errno = 0;
	if (!load_sampler(b, idle)) {
		diagnose_bpf(errno, error);
		close_engine(&b->base);
		return NULL;
	}
	if (!run_queues_begin(b->sample, o->latency, &b->cpus, error) || !load_others(b, error)) {
		close_engine(&b->base);
		return NULL;
	}
	if (perf_walks_better(b)) {
		buf_text(error, locked_walk);
		close_engine(&b->base);
		return NULL;
	}
	if (b->sample->rodata->has_calls)
		add_languages(b);
	if (o->calls && !add_calls(b, error)) {
		close_engine(&b->base);
		return NULL;
	}
	if (!b->base.by_tables && o->unwind == BY_AUTO && !o->kernel_only && !o->quiet)
		warn_walk(b);
	if (b->base.by_tables) /* otherwise an exec counts only when its side-band record is read */
		b->forget_link = bpf_program__attach(b->sample->progs.forget);
	if (options_targeted(o) && o->n_tids == 0)
		load_follow(b);
	if (b->base.by_tables && walks_at_once(o))
		begin_walking(b);
	if (!sideband_open(&b->sideband, online, o->memory.sideband)) {
		diagnose_perf(errno, true, error);
		close_engine(&b->base);
		return NULL;
	}
	return &b->base;
}
