/* Sampling by a BPF program on a perf event of each CPU, with the side-band beside it. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "bpf/sample.skel.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/cprof-record/programs/bpf_follow.h"
#include "cmd/cprof-record/programs/bpf_offcpu.h"
#include "cmd/cprof-record/programs/bpf_sampler.h"
#include "cmd/cprof-record/programs/run_queues.h"
#include "cmd/cprof-record/rings/sideband.h"
#include "cmd/cprof-record/source/bpf_ticks.h"
#include "cmd/cprof-record/source/engine.h"
#include "cmd/shared/cli.h"
#include "common/base/array.h"

enum { DRAIN_MOST = 20000 };

struct bpf_engine {
	struct engine base;
	struct bpf_sampler sampler;
	struct bpf_ticks ticks;
	struct offcpu *offcpu;      /* NULL: waiting time is not recorded */
	struct bpf_events *counted; /* NULL: no other events are recorded */
	struct bpf_calls *calls;    /* NULL: there are no call probes */
	struct bpf_follow follow;
	struct bpf_link *forget_link;
	bool stopped;
	struct ring_buffer *rings; /* the waker, and the rings of other events and waiting time */
	struct sideband sideband;
	struct cpu_list cpus; /* online at the start */
	size_t taken;         /* samples read from the rings in this drain */
	struct queue *queue;  /* receives them; set only during the drain */
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
	percpu_drain(&b->sampler.percpu, e->options->cycles ? NULL : &b->ticks.dither, q);
	if (b->offcpu)
		offcpu_drain(b->offcpu, q);
	b->queue = NULL;
}

static uint64_t cpu_began(struct engine *e, unsigned int cpu)
{
	return bpf_ticks_began(&to_bpf(e)->ticks, cpu);
}

static void drop_cpu(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);

	sideband_drop(&b->sideband, cpu);
	if (b->counted)
		bpf_events_drop_cpu(b->counted, cpu);
	bpf_ticks_drop(&b->ticks, cpu);
}

static bool add_cpu(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);
	int saved;

	run_queues_add(b->sampler.bpf, cpu);
	if (sideband_add(&b->sideband, cpu) && (!b->offcpu || offcpu_add_cpu(b->offcpu, cpu)) &&
	    bpf_ticks_add(&b->ticks, cpu) && (!b->counted || bpf_events_add_cpu(b->counted, cpu)))
		return true;
	saved = errno;
	drop_cpu(e, cpu);
	errno = saved;
	return false;
}

static bool has_cpu(struct engine *e, unsigned int cpu)
{
	struct bpf_engine *b = to_bpf(e);

	return sideband_has(&b->sideband, cpu) && bpf_ticks_has(&b->ticks, cpu) &&
	       (!b->counted || bpf_events_has_cpu(b->counted, cpu));
}

static bool prepare_ticks(struct bpf_engine *b)
{
	for (size_t i = 0; i < b->cpus.n; i++) {
		if (!bpf_ticks_prepare(&b->ticks, b->cpus.items[i]))
			return false;
	}
	return true;
}

static bool begin_sampling(struct engine *e, struct buf *error)
{
	struct bpf_engine *b = to_bpf(e);

	if (!prepare_ticks(b)) {
		diagnose_bpf(errno, error);
		return false;
	}
	for (size_t i = 0; i < b->cpus.n; i++) {
		/* CPUs that went offline, now or before the side-band was opened, are left to hotplug.c. */
		if (sideband_has(&b->sideband, b->cpus.items[i]) &&
		    !bpf_ticks_add(&b->ticks, b->cpus.items[i]) && errno != ENODEV) {
			diagnose_perf(errno, true, error);
			return false;
		}
	}
	if (b->ticks.n == 0 && b->base.options->ticks) {
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

	watch_ring(bpf_map__fd(b->sampler.bpf->maps.waker), epoll);
	if (b->offcpu)
		watch_ring(offcpu_ring(b->offcpu), epoll);
	if (b->counted)
		watch_ring(bpf_events_ring(b->counted), epoll);
	for (size_t i = 0; i < b->sideband.n; i++)
		perf_ring_watch(&b->sideband.rings[i], epoll);
}

static void read_counts(struct engine *e, unsigned int cpu, struct engine_counts *c)
{
	const volatile struct sample_counts *of_cpu = percpu_counts(&to_bpf(e)->sampler.percpu, cpu);
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
	int fd = bpf_map__fd(to_bpf(e)->sampler.bpf->maps.spaces);

	int failed = space ? bpf_map_update_elem(fd, &pid, space, BPF_ANY) : bpf_map_delete_elem(fd, &pid);

	if (space || !failed) /* most processes that go were not published */
		store_changed(e->store);
	return failed == 0;
}

static void publish_file(struct engine *e, const struct unwind_file_id *id, const struct unwind_file_known *known)
{
	bpf_map_update_elem(bpf_map__fd(to_bpf(e)->sampler.bpf->maps.known_files), id, known, BPF_ANY);
}

static void follow_fork(struct engine *e, uint32_t parent, uint32_t child)
{
	int fd = bpf_map__fd(to_bpf(e)->sampler.bpf->maps.wanted);
	uint32_t one = 1;

	if (e->options->n_tids == 0 && bpf_map_lookup_elem(fd, &parent, &one) == 0)
		bpf_map_update_elem(fd, &child, &one, BPF_ANY);
}

static void forget_process(struct engine *e, uint32_t pid)
{
	if (options_targeted(e->options) && e->options->n_tids == 0)
		bpf_map_delete_elem(bpf_map__fd(to_bpf(e)->sampler.bpf->maps.wanted), &pid);
}

static bool replace_group(struct engine *e, size_t place)
{
	if (!bpf_sampler_group(&to_bpf(e)->sampler, place, e->options->groups[place].fd))
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

static void know_interrupt(struct engine *e, uint64_t fingerprint, enum woken_by by)
{
	if (to_bpf(e)->offcpu)
		offcpu_know_interrupt(to_bpf(e)->offcpu, fingerprint, by);
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
	to_bpf(e)->sampler.bpf->data->reader_rests = rests;
}

static void apply_rate(struct engine *e)
{
	struct bpf_engine *b = to_bpf(e);

	if (b->counted)
		bpf_events_rate(b->counted, &e->rate);
	bpf_ticks_rate(&b->ticks);
}

static uint64_t cpu_period(struct engine *e, unsigned int cpu)
{
	return dither_period(&to_bpf(e)->ticks.dither, cpu);
}

static void dither_periods(struct engine *e, uint64_t now, engine_epoch_fn *changed, void *arg)
{
	bpf_ticks_dither(&to_bpf(e)->ticks, now, changed, arg);
}

/* Ends the ticks first: detaching the other programs takes time. */
static void stop_sampling(struct engine *e)
{
	struct bpf_engine *b = to_bpf(e);

	bpf_ticks_stop(&b->ticks);
	e->ended = host_mono_ns();
	if (b->offcpu)
		offcpu_stop(b->offcpu);
	if (b->counted)
		bpf_events_stop(b->counted);
	if (b->calls)
		bpf_calls_stop(b->calls);
	b->stopped = true;
	bpf_ticks_detach(&b->ticks);
}

static void close_engine(struct engine *e)
{
	struct bpf_engine *b = to_bpf(e);

	stop_sampling(e);
	sideband_close(&b->sideband);
	ring_buffer__free(b->rings);
	bpf_link__destroy(b->forget_link);
	bpf_follow_release(&b->follow);
	offcpu_close(b->offcpu);
	bpf_events_close(b->counted);
	bpf_lang_free(b->base.lang);
	bpf_calls_close(b->calls);
	bpf_ticks_release(&b->ticks);
	bpf_sampler_release(&b->sampler);
	cpu_list_release(&b->cpus);
	free(b);
}

static bool load_walk(struct engine *e, struct buf *error);

static const struct engine_ops ops = {
	.name = "bpf",
	.sample = begin_sampling,
	.add_cpu = add_cpu,
	.has_cpu = has_cpu,
	.drop_cpu = drop_cpu,
	.drain = drain_rings,
	.watch = watch_descriptors,
	.counts = read_counts,
	.walk = load_walk,
	.publish = publish_space,
	.publish_file = publish_file,
	.follow = follow_fork,
	.forget = forget_process,
	.regroup = replace_group,
	.began = cpu_began,
	.rest = set_reader_rests,
	.rate = apply_rate,
	.period = cpu_period,
	.dither = dither_periods,
	.waits = read_waits,
	.report_waits = report_waits,
	.know_interrupt = know_interrupt,
	.restart = resend_stacks,
	.sums = read_sums,
	.calls = read_calls,
	.stop = stop_sampling,
	.close = close_engine,
};

static bool load_sampler(struct bpf_engine *b, const struct idle_ranges *idle)
{
	if (!bpf_sampler_load(&b->sampler, b->base.options, idle))
		return false;
	b->base.store = b->sampler.store;
	b->base.by_tables = b->base.store != NULL;
	b->base.walks = b->sampler.walks;
	b->rings = ring_buffer__new(bpf_map__fd(b->sampler.bpf->maps.waker), take_word, b, NULL);
	return b->rings && bpf_ticks_init(&b->ticks, &b->base, &b->sampler, idle->start[0] != 0);
}

static const char locked_walk[] = "the kernel is locked down (/sys/kernel/security/lockdown: confidentiality), which keeps BPF "
				  "programs from unwinding by tables";

static bool is_locked(const struct bpf_engine *b)
{
	return (b->sampler.walk_refused || b->sampler.walk_errno) && !b->base.by_tables &&
	       locked_confidential();
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
	else if (b->sampler.walk_refused)
		cli_warn("user stacks are unwound by frame pointers alone: the verifier refuses the program that unwinds by tables%s",
			 refusal_reported() ? "" : " (-v shows the reason)");
	else if (b->sampler.walk_errno)
		cli_warn("user stacks are unwound by frame pointers alone: cannot load the program that unwinds by tables: %s",
			 strerror(b->sampler.walk_errno));
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
	b->calls = bpf_calls_open(b->base.options, b->sampler.bpf, error);
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
	if (o->off_cpu && !(b->offcpu = offcpu_open(o, &b->cpus, b->sampler.bpf, b->base.by_tables, error)))
		return false;
	if (o->n_events &&
	    !(b->counted = bpf_events_open(o, &b->cpus, b->sampler.bpf, b->base.by_tables, error)))
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

static bool load_walk(struct engine *e, struct buf *error)
{
	struct bpf_engine *b = to_bpf(e);
	uint64_t before = host_cpu_ns();

	refusal_clear();
	e->walks = bpf_tables_load_walk(b->sampler.bpf);
	if (!e->walks) {
		buf_text(error, "user stacks are unwound by the recorder alone: ");
		diagnose_bpf(errno, error);
	} else {
		bpf_follow_load(&b->follow, e->options, b->sampler.bpf, e->by_tables);
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
	struct sample_bpf *s = b->sampler.bpf;
	struct bpf_lang *l = bpf_lang_new(b->base.options, s);

	b->base.lang = l;
	if (!l)
		return;
	s->data->lang_unmet = b->base.options->languages;
	bpf_lang_add_hook(l, &(struct bpf_lang_hook){ b->sampler.ticks, s->maps.calls, s->maps.percpu_rings,
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
	if (!run_queues_begin(b->sampler.bpf, o->latency, &b->cpus, error) || !load_others(b, error)) {
		close_engine(&b->base);
		return NULL;
	}
	if (perf_walks_better(b)) {
		buf_text(error, locked_walk);
		close_engine(&b->base);
		return NULL;
	}
	if (b->sampler.bpf->rodata->has_calls)
		add_languages(b);
	if (o->calls && !add_calls(b, error)) {
		close_engine(&b->base);
		return NULL;
	}
	b->ticks.kept_out = (b->counted && bpf_events_keeps_out(b->counted)) ||
			    (b->calls && uprobe_keeps_out());
	if (!b->base.by_tables && o->unwind == BY_AUTO && !o->kernel_only && !o->quiet)
		warn_walk(b);
	if (b->base.by_tables) /* otherwise an exec counts only when its side-band record is read */
		b->forget_link = bpf_program__attach(b->sampler.bpf->progs.forget);
	if (options_targeted(o) && o->n_tids == 0)
		bpf_follow_load(&b->follow, o, b->sampler.bpf, b->base.by_tables);
	if (b->base.by_tables && walks_at_once(o))
		begin_walking(b);
	if (!sideband_open(&b->sideband, online, o->memory.sideband)) {
		diagnose_perf(errno, true, error);
		close_engine(&b->base);
		return NULL;
	}
	return &b->base;
}
