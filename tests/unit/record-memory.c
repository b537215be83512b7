/*
 * Prints the sizes that cmd/cprof-record/config/memory_plan.c computes, for tests/cmd/record-memory.t.
 *
 *	record-memory CPUS HERTZ MEM [KEY]...	MEM in MB, 0: not given; KEY: perf, fp, off-cpu, events=N,
 *						unwind-mem=MB, kept=MB, sampled=CPUS
 *
 * Prints one line: fit, and name=value of each size, in kB.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/config/memory_plan.h"

static uint64_t value_of(const char *text)
{
	return strtoull(strchr(text, '=') + 1, NULL, 10);
}

static void take_key(struct memory_ask *a, const char *key)
{
	if (strcmp(key, "perf") == 0)
		a->perf = true;
	else if (strcmp(key, "fp") == 0)
		a->by_tables = false;
	else if (strcmp(key, "off-cpu") == 0)
		a->off_cpu = true;
	else if (strncmp(key, "events=", 7) == 0)
		a->n_events = (size_t)value_of(key);
	else if (strncmp(key, "sampled=", 8) == 0)
		a->sampled = (size_t)value_of(key);
	else if (strncmp(key, "unwind-mem=", 11) == 0)
		a->unwind_mem = value_of(key) << 20;
	else if (strncmp(key, "kept=", 5) == 0)
		a->kept = value_of(key) << 20;
	else
		exit(2);
}

int main(int argc, char **argv)
{
	static const char *const fits[] = { "enough", "little", "none" };
	struct memory_ask a = { .by_tables = true };
	enum memory_fit fit;
	struct memory m;

	if (argc < 4)
		return 2;
	a.online = a.sampled = strtoul(argv[1], NULL, 10);
	a.hertz = (unsigned int)strtoul(argv[2], NULL, 10);
	a.mem = strtoull(argv[3], NULL, 10) << 20;
	for (int i = 4; i < argc; i++)
		take_key(&a, argv[i]);
	fit = memory_plan(&a, &m);
	printf("%s percpu=%u stack=%u sideband=%u off-cpu=%u events=%u tables=%" PRIu64 " total=%" PRIu64
	       " budget=%" PRIu64 " least=%" PRIu64 " enough=%" PRIu64 "\n",
	       fits[fit], m.percpu_ring >> 10, m.stack >> 10, m.sideband >> 10, m.off_cpu_ring >> 10,
	       m.event_ring >> 10, m.unwind_mem >> 10, m.total >> 10, m.budget >> 10, m.least >> 10, m.enough >> 10);
	return 0;
}
