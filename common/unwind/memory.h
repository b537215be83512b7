/*
 * What walks remember of earlier ones: shapes only, for BPF and for the host; walk.h uses them.
 *
 * At 99 Hz nothing of the tables is in a CPU's caches any more when the next sample comes, so what a walk costs is
 * how many lines and how many pages of memory it touches, and the searches in the mappings and in the rows touch most of
 * them. What is remembered lies where they are few: the frames of a stack stand behind one another in the trail, in
 * the order in which they were met the first time.
 *
 * Who finds something here has found what the search would find. A row holds by a generation of mappings, in which
 * no file becomes another; a place and a space hold by the number of changes (unwind_file.load of file 0), since
 * tables come and go.
 */
#ifndef CPROF_UNWIND_MEMORY_H
#define CPROF_UNWIND_MEMORY_H

#include "common/unwind/space.h"

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

/* A row: this rule holds for so many bytes of code. */
struct unwind_known {
	__u64 from;       /* address */
	__u32 generation; /* 0: nothing */
	__u32 bytes;
	struct unwind_rule rule;
};

/* A mapping, with its file. */
struct unwind_place {
	__u64 start, end, offset;
	__u32 generation, changes;
	__u32 file_at;
	struct unwind_file file;
	__u64 pad; /* a line of a cache */
};

/* A process. */
struct unwind_met {
	__u32 pid, changes;
	struct unwind_space space;
};

/* Zeroed at first. What each walk touches stands last, beside what its owner has behind it. */
struct unwind_memory {
	struct unwind_known trail[UNWIND_TRAIL]; /* rows of callers */
	struct unwind_known leaves[UNWIND_LEAVES]; /* of what was interrupted, by address */
	struct unwind_place places[UNWIND_PLACES];
	struct unwind_met spaces[UNWIND_SPACES];
	__u16 where[UNWIND_TRAIL]; /* in the trail, by address */
	__u32 next;                /* in the trail: what will be written */
	__u32 pad;
};

#endif
