/*
 * Cache of earlier walks: structures only, for BPF and for the host. walk_search.h and walk_cache.h use them.
 *
 * At 99 Hz no part of the tables is left in a CPU's caches when the next sample comes, so the cost of a walk
 * is the number of cache lines and pages it touches. The searches in mappings and rows touch most of them.
 * Cached data is compact: the frames of a stack are consecutive in the trail, in the order in which they were
 * first met.
 *
 * A hit equals the result of the search. A row is valid for one loaded table (unwind_file.load), in all
 * processes that map its file: most new processes run files that others ran before. A place and a space are
 * valid for one number of changes (unwind_file.load of file 0), because tables come and go.
 */
#ifndef CPROF_WALK_WALK_MEMORY_H
#define CPROF_WALK_WALK_MEMORY_H

#include "common/walk/space.h"

enum {
	UNWIND_TRAIL_BITS = 10,
	UNWIND_TRAIL = 1 << UNWIND_TRAIL_BITS,
	UNWIND_LEAVES_BITS = 8,
	UNWIND_LEAVES = 1 << UNWIND_LEAVES_BITS,
	UNWIND_PLACES_BITS = 4,
	UNWIND_PLACES = 1 << UNWIND_PLACES_BITS,
	UNWIND_SPACES_BITS = 2,
	UNWIND_SPACES = 1 << UNWIND_SPACES_BITS,
};

/* A row: this rule holds for this number of bytes of code. */
struct unwind_known {
	__u64 from; /* offset in the file */
	__u32 load; /* the file's; 0: nothing */
	__u32 bytes;
	struct unwind_rule rule;
};

/* A mapping, with its file. */
struct unwind_place {
	__u64 start, end, offset;
	__u32 generation, changes;
	__u32 file_at;
	struct unwind_file file;
	__u64 pad; /* to a whole cache line */
};

/* A process. */
struct unwind_met {
	__u32 pid, changes;
	struct unwind_space space;
};

/* Initially zero. The members that each walk touches are last, next to the owner's data that follow. */
struct unwind_memory {
	struct unwind_known trail[UNWIND_TRAIL]; /* rows of callers */
	struct unwind_known leaves[UNWIND_LEAVES]; /* rows of interrupted code, by offset */
	struct unwind_place places[UNWIND_PLACES];
	struct unwind_met spaces[UNWIND_SPACES];
	__u16 where[UNWIND_TRAIL]; /* index in the trail, by offset */
	__u32 next;                /* index in the trail that is written next */
	__u32 lives;               /* walks of processes whose space was UNWIND_LIVE */
};

#endif
