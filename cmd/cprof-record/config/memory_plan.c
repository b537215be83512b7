#include "cmd/cprof-record/config/memory_plan.h"

enum {
	KB = 1 << 10,
	MB = 1 << 20,
	PAGE = 4096,
	OWN = 12 * MB,          /* the recorder and its helpers: measured, with a margin */
	OWN_CPU = 32 * KB,      /* their share per CPU: kernel threads, samples being sorted and written */
	CALLS = 16 * MB,        /* stacks and functions of call probes */
	FIXED = 6 * MB,         /* maps of a fixed size, mostly for unwind tables and processes */
	TABLES_LITTLE = 4 * MB, /* unwind tables of a few programs */
	TABLES_LEAST = 12 * MB, /* unwind tables of a host that compiles */
	TABLES_MOST = 64 * MB,
	DEFAULT = 128 * MB,
	SAMPLE = 640,           /* bytes of most samples */
	SAMPLE_WISHED = 6 * KB, /* the same, with room for the user stacks copied with some of them */
	SAMPLE_STACK = 17 * KB, /* a sample of plain perf, which always copies the stack */
	PERCPU_WISHED = 256 * KB, /* minimum if the budget has room: enough to copy stacks of 64 kB */
	OFF_CPU_RING = 2 * MB, OFF_CPU_CPU = 1 * MB,
	EVENT_RING = 8 * MB, EVENT_CPU = 2 * MB,
	RING_MOST = 64 * MB,
	PERF_WISHED = 2 * MB, PERF_MOST = 16 * MB, PERF_LEAST = 128 * KB,
	MILLISECONDS = 300,     /* a ring holds the samples of this time: the reader wakes at a quarter */
};

/* From the preferred sizes down to the minimum: the limit of a per-CPU ring, and a side-band ring. */
static const struct level {
	uint32_t percpu_ring, sideband;
	unsigned int others; /* log2 of the factor by which rings of waits and other events are smaller */
} levels[] = {
	{ 2 * MB, 512 * KB, 0 },
	{ 1 * MB, 512 * KB, 0 },
	{ 512 * KB, 256 * KB, 1 },
	{ 256 * KB, 128 * KB, 2 },
	{ 128 * KB, 64 * KB, 3 },
	{ 64 * KB, 32 * KB, 4 },
	{ 64 * KB, 16 * KB, 5 },
};

enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

/* Doubles least until it reaches n or most. */
static uint32_t power_of_two(uint64_t n, uint32_t least, uint32_t most)
{
	uint32_t p = least;

	while (p < n && p < most)
		p *= 2;
	return p;
}

static uint64_t round_to_pages(uint64_t n)
{
	return (n + PAGE - 1) / PAGE * PAGE;
}

/* Returns the longest stack of which a ring of this size holds two samples. */
static uint32_t stack_of(uint32_t ring)
{
	uint32_t stack = 64 * KB;

	while (stack > 8 * KB && stack + MEMORY_ADDRESSES > ring / 2)
		stack /= 2;
	return stack;
}

static uint64_t scratch_bytes(const struct memory_ask *a, uint32_t stack)
{
	return (a->online + 1) * round_to_pages(MEMORY_SCRATCH + MEMORY_ADDRESSES + stack);
}

/* Returns the bytes of all rings and of the programs' working memory at a level; m gets the sizes. */
static uint64_t bpf_bytes(const struct memory_ask *a, const struct level *l, struct memory *m)
{
	uint32_t wished = power_of_two((uint64_t)a->hertz * SAMPLE_WISHED, PERCPU_WISHED, MEMORY_PERCPU_MOST);
	uint64_t bytes;

	m->percpu_ring = wished < l->percpu_ring ? wished : l->percpu_ring;
	m->stack = stack_of(m->percpu_ring);
	m->sideband = l->sideband;
	m->off_cpu_ring = a->off_cpu ? power_of_two((a->online * OFF_CPU_CPU) >> l->others, OFF_CPU_RING, RING_MOST) : 0;
	m->event_ring = a->n_events ? power_of_two((a->online * EVENT_CPU) >> l->others, EVENT_RING, RING_MOST) : 0;
	bytes = a->online * (m->sideband + PAGE);
	if (a->hertz)
		bytes += a->sampled *
			 (PAGE + round_to_pages(MEMORY_SCRATCH + m->percpu_ring + m->stack + MEMORY_ADDRESSES));
	if (a->off_cpu)
		bytes += m->off_cpu_ring + scratch_bytes(a, MEMORY_OFF_CPU_STACK);
	if (a->n_events)
		bytes += m->event_ring + scratch_bytes(a, MEMORY_EVENT_STACK);
	return bytes;
}

/* The same for plain perf, whose rings hold the samples too. Each level has half of the one before. */
static uint64_t perf_bytes(const struct memory_ask *a, size_t level, struct memory *m)
{
	uint32_t wished = power_of_two(a->by_tables ? (uint64_t)a->hertz * PERF_WISHED / 100 : 0, PERF_WISHED, PERF_MOST);

	m->percpu_ring = m->stack = m->off_cpu_ring = m->event_ring = 0;
	m->sideband = wished >> level > PERF_LEAST ? wished >> level : PERF_LEAST;
	return a->online * (m->sideband + PAGE);
}

static uint64_t level_bytes(const struct memory_ask *a, size_t level, struct memory *m)
{
	return a->perf ? perf_bytes(a, level, m) : bpf_bytes(a, &levels[level], m);
}

/* Returns true if a ring of this size is large enough for the rate. */
static bool keeps_up(const struct memory_ask *a, const struct memory *m)
{
	uint64_t needed = (uint64_t)a->hertz * (a->perf && a->by_tables ? SAMPLE_STACK : SAMPLE) * MILLISECONDS / 1000;
	uint32_t ring = a->perf ? m->sideband : m->percpu_ring;

	return ring >= needed || ring >= (a->perf ? PERF_MOST : MEMORY_PERCPU_MOST);
}

static uint64_t tables_least(const struct memory_ask *a, uint64_t wished)
{
	return !a->by_tables ? 0 : a->unwind_mem ? a->unwind_mem : wished;
}

/* Returns the bytes that the rings leave to unwind tables. */
static uint64_t tables_kept(const struct memory_ask *a, uint64_t budget)
{
	uint64_t part = budget / 4;

	return tables_least(a, part > TABLES_LEAST ? TABLES_LEAST : part < TABLES_LITTLE ? TABLES_LITTLE : part);
}

static uint64_t base_bytes(const struct memory_ask *a)
{
	return OWN + a->online * OWN_CPU + (a->perf ? 0 : FIXED) + (a->calls ? CALLS : 0) + a->kept;
}

/* Returns the bytes of the smallest level that keeps up with the rate. */
static uint64_t enough_bytes(const struct memory_ask *a)
{
	struct memory m;
	size_t i = LEVELS;
	uint64_t bytes;

	do
		bytes = level_bytes(a, --i, &m);
	while (i > 0 && !keeps_up(a, &m));
	return bytes;
}

static uint64_t default_budget(const struct memory_ask *a, uint64_t enough)
{
	uint64_t budget = DEFAULT + a->kept + (a->unwind_mem > TABLES_MOST ? a->unwind_mem - TABLES_MOST : 0);

	return budget > enough ? budget : enough;
}

enum memory_fit memory_plan(const struct memory_ask *a, struct memory *m)
{
	uint64_t all = base_bytes(a), bytes, left;
	size_t i = 0;

	*m = (struct memory){ 0 };
	m->least = all + tables_least(a, TABLES_LITTLE) + level_bytes(a, LEVELS - 1, m);
	m->enough = all + tables_least(a, TABLES_LEAST) + enough_bytes(a);
	m->budget = a->mem ? a->mem : default_budget(a, m->enough);
	while ((bytes = level_bytes(a, i, m)) + all + tables_kept(a, m->budget) > m->budget && i < LEVELS - 1)
		i++;
	left = m->budget > all + bytes ? m->budget - all - bytes : 0;
	m->unwind_mem = !a->by_tables || a->unwind_mem ? a->unwind_mem : left < TABLES_MOST ? left : TABLES_MOST;
	m->total = all + bytes + (a->by_tables ? m->unwind_mem : 0);
	if (m->budget < m->least)
		return MEMORY_NONE;
	return keeps_up(a, m) ? MEMORY_ENOUGH : MEMORY_LITTLE;
}
