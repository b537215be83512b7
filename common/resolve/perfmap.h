/*
 * Perf maps: the names that a JIT compiler writes for its code, as they were at a time.
 *
 *	struct perfmap map = { 0 };
 *	struct perfmap_run run;
 *	struct perfmap_hit hit;
 *
 *	perfmap_parse(&run, chunk);		// what was appended to the file
 *	...perfmap_run_find(&run, address, &hit) looks at this piece alone...
 *	perfmap_push(&map, &run);		// now it holds: what it covers replaces what was there
 *	if (perfmap_find(&map, address, &hit))
 *		...hit.name, address - hit.start...
 *	perfmap_release(&map);
 *
 * A line is "START SIZE NAME", hexadecimal with or without 0x; the name is the rest of the line, with
 * its spaces. Other lines are skipped. Of entries that cover an address the last one counts, because
 * code is replaced at the same place; an entry without a name takes away the name that was there.
 */
#ifndef CPROF_RESOLVE_PERFMAP_H
#define CPROF_RESOLVE_PERFMAP_H

#include "common/base/cursor.h"

enum { PERFMAP_NAME_MAX = 4096 }; /* bytes of a name; what is longer is cut */

struct perfmap_entry {
	uint64_t start, end;
	uint64_t base; /* where the code began before something covered a part of it */
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
 * Runs, each at least twice as long as the one after it: a new one is merged into those before it
 * until that holds, so that an entry is moved a few times only, however small the pieces are.
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

/* False without memory. */
bool perfmap_parse(struct perfmap_run *run, struct slice chunk);
bool perfmap_run_find(const struct perfmap_run *run, uint64_t address, struct perfmap_hit *hit);
/* Takes the run over, even if it fails for want of memory. */
bool perfmap_push(struct perfmap *map, struct perfmap_run *run);
/* Adds entries in the order of time, whose names the caller keeps. False without memory. */
bool perfmap_put(struct perfmap *map, const struct perfmap_entry *items, size_t n);
/* False: no name as of now. */
bool perfmap_find(const struct perfmap *map, uint64_t address, struct perfmap_hit *hit);
void perfmap_run_release(struct perfmap_run *run);
void perfmap_release(struct perfmap *map);

#endif
