/*
 * Data that the walk looks up: files with a table, the pages of all tables, and the mappings of processes.
 * Structures only, for BPF and for the host.
 *
 * Rows and mappings are in shards of 1 MiB, one array each; the number of a row or mapping is shard ×
 * elements per shard + index. Everything other than these is in one array.
 */
#ifndef CPROF_WALK_SPACE_H
#define CPROF_WALK_SPACE_H

#include "common/unwind/rule.h"

enum {
	UNWIND_SHARD_ROWS = 1 << 18,
	UNWIND_SHARD_MAPPINGS = 1 << 15,
	UNWIND_SHARD_BYTES = 1 << 20,
	UNWIND_PAGES = 1 << 17,
	UNWIND_FILES = 1 << 15,
	UNWIND_SPACE_MAPPINGS = 32767, /* mappings of one process: a search has 15 steps */
	UNWIND_SHARDS = 4096,          /* shards of rows or of mappings, at most */
};

enum unwind_file_state {
	UNWIND_FILE_NONE = 0,    /* it has no table: frame pointers */
	UNWIND_FILE_ASK = 1,     /* no table was requested yet */
	UNWIND_FILE_READY = 2,
	UNWIND_FILE_REFUSED = 3, /* there is no memory for it: frame pointers */
};

struct unwind_file {
	__u32 state;
	__u32 pages;      /* index of the first one */
	__u32 first_page; /* which page of the file that is */
	__u32 n_pages;
	/* new with each file and each loaded table, never 0; of file 0: with each change of any file or space */
	__u32 load;
};

struct unwind_mapping {
	__u64 start, end;
	__u64 offset; /* file offset of start */
	__u32 file;   /* 0: anonymous memory */
	__u32 pad;
};

/* A file as the kernel knows it. No padding: the bytes are a key. */
struct unwind_file_id {
	__u64 inode, size;
	__u64 changed; /* ctime, s */
	__u32 changed_ns, generation;
	__u32 dev, pad;
};

/* The number of a file, valid as long as its load is this one. */
struct unwind_file_known {
	__u32 file, load;
};

/* A mapping as the kernel has it at the moment. */
struct unwind_live {
	struct unwind_file_id id; /* inode 0: none */
	__u64 start, end, offset;
};

/*
 * A bit of unwind_space.generation: the process's mappings were not published, and are looked up in the
 * kernel. A cached mapping is valid for one walk, whose number is in the other bits.
 */
#define UNWIND_LIVE (1u << 31)

/* The executable mappings of a process, ascending, all in one shard: first is shard and index in one. */
struct unwind_space {
	__u32 first, n;
	__u32 generation; /* new with each change; never 0; see UNWIND_LIVE */
	__u32 lang; /* enum lang_kind whose program walks the code without tables; 0: frame pointers */
};

#endif
