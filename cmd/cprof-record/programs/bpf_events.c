#include "cmd/cprof-record/programs/bpf_events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bpf/event.skel.h"
#include "bpf/sample.skel.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/programs/bpf_beside.h"
#include "cmd/cprof-record/programs/bpf_lang.h"
#include "cmd/cprof-record/rings/perf_ring.h"
#include "cmd/cprof-record/programs/bpf_scratch.h"
#include "cmd/cprof-record/programs/uprobe.h"
#include "common/base/array.h"

/*
 * A perf event on a CPU. A tracepoint has one counter for all CPUs, which may be without a perf event, and a
 * probe has one for each of its places in the code.
 */
struct counter {
	unsigned int cpu;
	int fd; /* -1: no perf event */
	struct bpf_link *link;
};

struct one {
	const struct event *event;
	struct event_bpf *bpf;
	struct counter *counters;
	size_t n, cap;
	uint64_t before; /* events counted on CPUs that are gone */
	struct uprobe_cost cost; /* of a probe */
};

struct bpf_events {
	const struct options *o;
	struct engine_rate rate;
	struct one *items; /* in the order of the options */
	size_t n;
	struct event_cpu *cpus; /* buffer for the values of all possible CPUs */
	int possible;
	struct bpf_scratch scratches; /* by CPU; made for the first object, shared by the others */
};

static struct bpf_map *map_of(const struct one *e)
{
	return e->bpf->maps.counted;
}

/* Returns the number of counters for all CPUs; 0: each CPU has its own. */
static size_t counters_of(const struct one *e)
{
	return e->event->probe ? e->event->probe->sites.n : e->event->kind == EVENT_TRACEPOINT;
}

static struct bpf_program *program_of(const struct one *e)
{
	if (e->event->kind == EVENT_PROBE)
		return e->bpf->progs.on_probe;
	if (e->event->kind != EVENT_TRACEPOINT)
		return e->bpf->progs.on_event;
	return e->event->raw ? e->bpf->progs.on_raw : e->bpf->progs.on_hit;
}

/* Returns the first event whose program has the same type: tail calls reach only programs of one type. */
static const struct one *first_alike(const struct bpf_events *c, const struct one *e)
{
	const struct one *first = c->items;

	while (bpf_program__type(program_of(first)) != bpf_program__type(program_of(e)))
		first++;
	return first;
}

/* Loads the one program that the event needs. */
static void choose_program(const struct one *e)
{
	struct bpf_program *all[] = { e->bpf->progs.on_event, e->bpf->progs.on_hit, e->bpf->progs.on_raw,
				      e->bpf->progs.on_probe };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		bpf_program__set_autoload(all[i], all[i] == program_of(e));
}

static void configure_event(struct bpf_events *c, const struct one *e, const struct sample_bpf *sample,
			    bool by_tables)
{
	const struct options *o = c->o;
	struct event_bpf *b = e->bpf;

	bpf_map__set_max_entries(b->maps.ring, o->memory.event_ring);
	b->rodata->ring_bytes = o->memory.event_ring;
	b->rodata->number = (unsigned int)(e - c->items);
	b->rodata->by_kernel = e->event->kind == EVENT_HARDWARE;
	b->rodata->period_asked = e->event->count ? e->event->count : 1;
	bpf_beside_configure(b, o, sample, by_tables, MEMORY_EVENT_STACK);
	b->rodata->kernel_depth = e->event->raw ? o->hit_depth : o->chain_depth;
	b->data->most = c->rate.most;
	b->rodata->preempted = e->event->kind == EVENT_PROBE;
	if (e->event->probe && e->event->probe->label) {
		b->rodata->has_label = 1;
		b->rodata->label_is_text = e->event->probe->label_is_text;
		bpf_map__set_max_entries(b->maps.label_args, (uint32_t)e->event->probe->sites.n);
	}
	choose_program(e);
	b->rodata->has_calls = by_tables && sample->rodata->has_calls;
	b->rodata->finished = e->event->kind == EVENT_TRACEPOINT && !e->event->raw; /* as on_hit */
	bpf_program__set_autoload(b->progs.finish_event, b->rodata->has_calls);
	bpf_program__set_type(b->progs.finish_event, bpf_program__type(program_of(e)));
}

/* Reuses the sampling object's maps of the same names, and the ring and scratches of our first object. */
static bool share_maps(const struct bpf_events *c, const struct one *e, const struct sample_bpf *sample)
{
	const struct event_bpf *first = c->items[0].bpf;
	struct event_bpf *b = e->bpf;
	const struct bpf_beside_map ring[] = { { b->maps.ring, first->maps.ring },
					       { b->maps.scratches, first->maps.scratches } };

	const struct one *alike = first_alike(c, e);
	const struct bpf_beside_map calls = { b->maps.calls, alike->bpf->maps.calls };

	return bpf_beside_share(b, sample) &&
	       (b == first || bpf_beside_reuse(ring, sizeof(ring) / sizeof(ring[0]))) &&
	       (alike == e || bpf_beside_reuse(&calls, 1));
}

static bool load_programs(struct bpf_events *c, struct one *e, const struct sample_bpf *sample)
{
	bool first = e == c->items, loaded;
	int prototype = -1, saved;

	if (first) {
		prototype = bpf_scratch_configure(&c->scratches, e->bpf->maps.scratches,
						  (uint32_t)c->possible,
						  SAMPLE_STACK_MAX - MEMORY_EVENT_STACK);
		if (prototype < 0)
			return false;
	}
	loaded = share_maps(c, e, sample) && event_bpf__load(e->bpf) == 0;
	saved = errno;
	if (first)
		close(prototype);
	errno = saved;
	return loaded;
}

/* Tries with tables first; a kernel that refuses them may accept the program without. */
static bool load_event(struct bpf_events *c, struct one *e, const struct sample_bpf *sample, bool by_tables)
{
	for (int with = by_tables; with >= 0; with--) {
		e->bpf = event_bpf__open();
		if (!e->bpf)
			return false;
		configure_event(c, e, sample, with);
		if (load_programs(c, e, sample))
			return true;
		if (with) {
			event_bpf__destroy(e->bpf);
			e->bpf = NULL;
		}
	}
	return false;
}

static void explain_failure(const struct one *e, bool bpf, struct buf *error)
{
	int saved = errno;

	buf_printf(error, "-e %s: ", e->event->name);
	if (bpf)
		diagnose_bpf(saved, error);
	else
		diagnose_perf(saved, true, error);
}

/* CPUs that are not sampled count nothing; none: no CPU does. */
static bool choose_cpus(struct bpf_events *c, const struct one *e, bool none)
{
	uint32_t zero = 0;

	memset(c->cpus, 0, (size_t)c->possible * sizeof(*c->cpus));
	for (int cpu = 0; cpu < c->possible; cpu++)
		c->cpus[cpu].off = none || !options_samples(c->o, (unsigned int)cpu);
	return bpf_map_update_elem(bpf_map__fd(map_of(e)), &zero, c->cpus, BPF_ANY) == 0;
}

/* Tells the program where the labels are. False: errno. */
static bool publish_args(const struct one *e)
{
	const struct probe *p = e->event->probe;

	for (uint32_t i = 0; p && p->label && i < p->sites.n; i++) {
		const struct probe_arg *from = &p->label_args[i];
		struct event_arg a = { from->value,  from->reg,	 from->index,	  from->shift,
				       from->memory, from->size, from->is_signed, 0 };

		if (bpf_map_update_elem(bpf_map__fd(e->bpf->maps.label_args), &i, &a, BPF_ANY) != 0)
			return false;
	}
	return true;
}

static void measure_probe(struct bpf_events *c, struct one *e)
{
	if (!e->event->probe || !choose_cpus(c, e, true))
		return;
	uprobe_measure(e->event->probe, program_of(e), &e->cost);
	e->bpf->bss->trap_ns = e->cost.ns;
}

struct bpf_events *bpf_events_open(const struct options *o, const struct cpu_list *online,
				   const struct sample_bpf *sample, bool by_tables, struct buf *error)
{
	struct bpf_events *c = calloc(1, sizeof(*c));

	if (c) {
		c->o = o;
		c->rate = (struct engine_rate){ o->hertz, o->most };
		c->possible = libbpf_num_possible_cpus();
		c->items = calloc(o->n_events, sizeof(*c->items));
		c->cpus = calloc(c->possible > 0 ? (size_t)c->possible : 1, sizeof(*c->cpus));
	}
	if (!c || !c->items || !c->cpus) {
		buf_text(error, "out of memory");
		bpf_events_close(c);
		return NULL;
	}
	for (; c->n < o->n_events; c->n++) {
		struct one *e = &c->items[c->n];

		e->event = &o->events[c->n];
		errno = 0;
		if (load_event(c, e, sample, by_tables)) {
			measure_probe(c, e);
			if (publish_args(e) && choose_cpus(c, e, false) &&
			    (c->n > 0 || bpf_scratch_add_all(&c->scratches, online)))
				continue;
		}
		explain_failure(e, true, error);
		c->n++;
		bpf_events_close(c);
		return NULL;
	}
	return c;
}

void bpf_events_languages(const struct bpf_events *c, struct bpf_lang *l)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct one *e = &c->items[i];

		if (!e->bpf->rodata->has_calls)
			continue;
		if (first_alike(c, e) == e)
			bpf_lang_add_hook(l, &(struct bpf_lang_hook){ program_of(e), e->bpf->maps.calls,
								      c->items[0].bpf->maps.scratches,
								      c->items[0].bpf->maps.ring,
								      e->bpf->rodata->stack_limit, NULL });
		bpf_lang_finish(e->bpf->maps.calls, (uint32_t)i, e->bpf->progs.finish_event);
	}
}

static uint64_t read_counter(const struct counter *counter)
{
	uint64_t n = 0;

	return counter->fd >= 0 && read(counter->fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void drop_counter(struct one *e, size_t at)
{
	if (e->counters[at].fd >= 0)
		ioctl(e->counters[at].fd, PERF_EVENT_IOC_DISABLE, 0);
	e->before += read_counter(&e->counters[at]);
	bpf_link__destroy(e->counters[at].link); /* closes the event too */
	e->counters[at] = e->counters[--e->n];
}

void bpf_events_stop(struct bpf_events *c)
{
	for (size_t i = 0; i < c->n; i++) {
		while (c->items[i].n)
			drop_counter(&c->items[i], c->items[i].n - 1);
	}
}

void bpf_events_close(struct bpf_events *c)
{
	if (!c)
		return;
	bpf_events_stop(c);
	for (size_t i = 0; i < c->n; i++) {
		struct one *e = &c->items[i];

		event_bpf__destroy(e->bpf);
		free(e->counters);
	}
	free(c->items);
	free(c->cpus);
	free(c);
}

/* The program sees each single event, unless the event is counted in hardware. */
static void make_attr(const struct bpf_events *c, const struct event *e, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){ .size = sizeof(*attr), .type = e->type,
					  .config = e->config, .disabled = 1 };
	if (e->kind == EVENT_HARDWARE && !e->count) {
		attr->freq = 1;
		attr->sample_freq = c->rate.hertz;
	} else if (e->kind == EVENT_HARDWARE) {
		attr->sample_period = e->count;
	} else {
		attr->sample_period = e->kind == EVENT_SOFTWARE;
	}
}

/* Opens the perf event of a counter. */
static int open_counter(const struct bpf_events *c, const struct one *e, unsigned int cpu)
{
	struct perf_event_attr attr;

	if (e->event->probe)
		return uprobe_open(e->event->probe, e->n, cpu);
	make_attr(c, e->event, &attr);
	return event_open(&attr, -1, (int)cpu);
}

static bool attach_counter(const struct bpf_events *c, const struct one *e, struct counter *counter)
{
	LIBBPF_OPTS(bpf_perf_event_opts, place);
	int saved;

	counter->fd = -1;
	if (e->event->raw) {
		counter->link = bpf_program__attach_raw_tracepoint(program_of(e), e->event->raw);
		return counter->link != NULL;
	}
	counter->fd = open_counter(c, e, counter->cpu);
	if (counter->fd < 0)
		return false;
	place.bpf_cookie = e->n;
	counter->link = e->event->probe && e->event->probe->label
				? bpf_program__attach_perf_event_opts(program_of(e), counter->fd, &place)
				: bpf_program__attach_perf_event(program_of(e), counter->fd);
	if (counter->link)
		return true;
	saved = errno;
	close(counter->fd);
	errno = saved;
	return false;
}

static bool add_counter(const struct bpf_events *c, struct one *e, unsigned int cpu)
{
	if (!grow_array(&e->counters, &e->cap, e->n, sizeof(*e->counters))) {
		errno = ENOMEM;
		return false;
	}
	e->counters[e->n].cpu = cpu;
	if (!attach_counter(c, e, &e->counters[e->n]))
		return false;
	e->n++;
	return true;
}

/* Returns true if the event needs another counter for this CPU. */
static bool wants_counter(const struct bpf_events *c, const struct one *e, unsigned int cpu)
{
	return counters_of(e) ? e->n < counters_of(e) : options_samples(c->o, cpu);
}

static bool add_counters(const struct bpf_events *c, struct one *e, unsigned int cpu)
{
	do {
		if (!add_counter(c, e, cpu))
			return false;
	} while (e->n < counters_of(e));
	return true;
}

bool bpf_events_begin(struct bpf_events *c, const struct cpu_list *cpus, struct buf *error)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < cpus->n; k++) {
			/* A CPU that is offline by now is left to hotplug.c. */
			if (wants_counter(c, &c->items[i], cpus->items[k]) &&
			    !add_counters(c, &c->items[i], cpus->items[k]) && errno != ENODEV) {
				explain_failure(&c->items[i], false, error);
				return false;
			}
		}
	}
	return true;
}

bool bpf_events_has_cpu(const struct bpf_events *c, unsigned int cpu)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct one *e = &c->items[i];
		size_t k = 0;

		if (!wants_counter(c, e, cpu))
			continue;
		while (k < e->n && e->counters[k].cpu != cpu)
			k++;
		if (k == e->n)
			return false;
	}
	return true;
}

bool bpf_events_add_cpu(struct bpf_events *c, unsigned int cpu)
{
	if (!bpf_scratch_add(&c->scratches, cpu))
		return false;
	for (size_t i = 0; i < c->n; i++) {
		if (wants_counter(c, &c->items[i], cpu) && !add_counters(c, &c->items[i], cpu))
			return false;
	}
	return true;
}

/* A counter for all CPUs stays: only its opening was tied to one CPU. */
void bpf_events_drop_cpu(struct bpf_events *c, unsigned int cpu)
{
	for (size_t i = 0; i < c->n; i++) {
		struct one *e = &c->items[i];

		for (size_t k = e->n; k-- > 0 && !counters_of(e);) {
			if (e->counters[k].cpu == cpu)
				drop_counter(e, k);
		}
	}
}

void bpf_events_rate(struct bpf_events *c, const struct engine_rate *to)
{
	uint64_t rate = to->hertz;

	c->rate = *to;
	for (size_t i = 0; i < c->n; i++) {
		struct one *e = &c->items[i];

		e->bpf->data->most = to->most;
		for (size_t k = 0; k < e->n && e->event->kind == EVENT_HARDWARE && !e->event->count; k++)
			ioctl(e->counters[k].fd, PERF_EVENT_IOC_PERIOD, &rate);
	}
}

bool bpf_events_keeps_out(const struct bpf_events *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->items[i].event->probe ? uprobe_keeps_out() : !c->items[i].event->raw)
			return true;
	}
	return false;
}

int bpf_events_ring(const struct bpf_events *c)
{
	return bpf_map__fd(c->items[0].bpf->maps.ring);
}

/* Returns how often the kernel skipped the program because another one was running on the CPU. */
static uint64_t left_out(const struct one *e)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program_of(e)), &info, &size) == 0 ?
	       info.recursion_misses : 0;
}

struct uprobe_cost bpf_events_cost(const struct bpf_events *c, size_t event)
{
	return c->items[event].cost;
}

void bpf_events_sums(struct bpf_events *c, size_t event, struct bpf_events_sums *sums)
{
	const struct one *e = &c->items[event];
	bool traced = counters_of(e) > 0;
	uint32_t zero = 0;

	*sums = (struct bpf_events_sums){ .happened = traced ? 0 : e->before };
	for (size_t k = 0; k < e->n && !traced; k++)
		sums->happened += read_counter(&e->counters[k]);
	if (bpf_map_lookup_elem(bpf_map__fd(map_of(e)), &zero, c->cpus) != 0)
		return;
	for (int cpu = 0; cpu < c->possible; cpu++) {
		for (int i = 0; i < EVENT_COUNTS; i++)
			sums->n[i] += c->cpus[cpu].n[i];
	}
	if (traced)
		sums->happened = sums->n[EVENT_RUNS] + left_out(e);
}
