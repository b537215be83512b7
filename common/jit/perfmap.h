/*
 * Perf maps: the names that a JIT compiler writes for its code, as of a time.
 *
 *	struct perfmap map = { 0 };
 *	struct perfmap_run run;
 *	struct perfmap_hit hit;
 *
 *	perfmap_parse(&run, chunk);		// a chunk that was appended to the file
 *	...perfmap_run_find(&run, address, &hit) looks at this chunk alone...
 *	perfmap_push(&map, &run);		// its entries replace those they cover
 *	if (perfmap_find(&map, address, &hit))
 *		...hit.name, address - hit.start...
 *	perfmap_release(&map);
 *
 * A line is "START SIZE NAME", hexadecimal with or without 0x; the name is the rest of the line, with its
 * spaces. Other lines are skipped. If several entries cover an address the last one counts, because code is
 * replaced in place; an entry without a name removes the name before it.
 */
#ifndef CPROF_JIT_PERFMAP_H
#define CPROF_JIT_PERFMAP_H

#include "common/base/cursor.h"

enum { PERFMAP_NAME_MAX = 4096 }; /* bytes of a name; a longer one is cut */

struct perfmap_entry {
	uint64_t start, end;
	uint64_t base; /* start of the code, before something covered a part of it */
	const uint8_t *name;
	uint32_t name_n;
};

/* Sorted, without overlaps. */
struct perfmap_run {
	struct perfmap_entry *items;
	size_t n;
	uint8_t *text; /* the names' bytes */
};

/*
 * Runs, each at least twice as long as the next. A new run is merged with those before it until that holds,
 * so an entry is moved only a few times, however small the chunks are.
 */
struct perfmap {
	struct perfmap_run *runs;
	size_t n, cap;
	uint8_t **texts;
	size_t n_texts, cap_texts;
};

struct perfmap_hit {
	uint64_t start;
	struct slice name;
};

/* Parses a chunk; release the run in any case. Returns false if out of memory. */
bool perfmap_parse(struct perfmap_run *run, struct slice chunk);
bool perfmap_run_find(const struct perfmap_run *run, uint64_t address, struct perfmap_hit *hit);
/* Sorts the first n items, which came in order of time, and sets n. Returns false if out of memory. */
bool perfmap_run_sort(struct perfmap_run *run, size_t n);
/* Takes over the run, even on failure. Returns false if out of memory. */
bool perfmap_push(struct perfmap *map, struct perfmap_run *run);
/* Adds entries in order of time; the caller keeps their names. Returns false if out of memory. */
bool perfmap_put(struct perfmap *map, const struct perfmap_entry *items, size_t n);
/* Returns false if the address has no name as of now. */
bool perfmap_find(const struct perfmap *map, uint64_t address, struct perfmap_hit *hit);
void perfmap_run_release(struct perfmap_run *run);
void perfmap_release(struct perfmap *map);

#endif
