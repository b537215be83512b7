/* Fuzzes bytes as a perf map, in pieces: entries stay sorted, without overlaps, and as few as possible. */
#include "tests/lib/fuzz.h"

#include "common/jit/perfmap.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static void check_run(const struct perfmap_run *run)
{
	struct perfmap_hit hit;

	for (size_t i = 0; i < run->n; i++) {
		const struct perfmap_entry *e = &run->items[i];

		demand(e->start < e->end && e->base <= e->start && e->name_n <= PERFMAP_NAME_MAX);
		demand(i == 0 || run->items[i - 1].end <= e->start);
		demand(perfmap_run_find(run, e->start, &hit) == (e->name_n > 0));
		demand(perfmap_run_find(run, e->end - 1, &hit) == (e->name_n > 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct perfmap map = { 0 };
	struct perfmap_run run;
	size_t piece = n / 7 + 1;

	for (size_t at = 0; at < n; at += piece) {
		struct perfmap_hit hit, again;

		demand(perfmap_parse(&run, (struct slice){ bytes + at, n - at < piece ? n - at : piece }));
		check_run(&run);
		for (size_t i = 0; i < run.n; i++) {
			/* Once a run is in the map, its entry is found, because it is the newest. */
			if (i == 0 && perfmap_run_find(&run, run.items[i].start, &again)) {
				uint64_t address = run.items[i].start;

				demand(perfmap_push(&map, &run));
				demand(perfmap_find(&map, address, &hit) && hit.start == again.start);
				break;
			}
		}
		demand(perfmap_push(&map, &run));
		for (size_t i = 0; i < map.n; i++) {
			check_run(&map.runs[i]);
			demand(i == 0 || map.runs[i - 1].n >= 2 * map.runs[i].n);
		}
	}
	perfmap_release(&map);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
