/*
 * All tables and all processes' mappings, in the arrays that the walk reads. The memory is the
 * backing's: BPF maps that are mapped here too, or plain memory.
 *
 *	struct store *s = store_new(&backing, budget);
 *
 *	file = store_file(s);				// known, but not asked for: a walk that meets it says so
 *	store_load(s, file, &table);			// now it is walked
 *	store_map(s, mappings, n, &space);		// whose .file are such numbers
 *	...
 *	store_unload(s, file, UNWIND_FILE_ASK, now);	// its memory is used again after STORE_GRACE
 *	store_reap(s, now);				// now and then
 *
 * Others read while this is written: what they may see is written first, the word that leads to it last.
 */
#ifndef CPROF_UNWIND_STORE_H
#define CPROF_UNWIND_STORE_H

#include "common/unwind/build.h"
#include "common/unwind/space.h"

/* The arrays. All but ROWS and MAPPINGS have one shard, number 0. */
enum store_area { STORE_RULES, STORE_PAGES, STORE_FILES, STORE_ROWS, STORE_MAPPINGS, STORE_AREAS };

struct store_backing {
	/* Zeroed memory for a shard, which the walk can read from now on; NULL: there is none. It is the backing's for ever. */
	void *(*shard)(void *arg, enum store_area area, uint32_t shard, size_t bytes);
	void *arg;
};

enum store_loaded {
	STORE_LOADED = 0,
	STORE_OVER_BUDGET = 1, /* also: no number left for a rule, no page left */
	STORE_NO_MEMORY = 2,
};

enum { STORE_GRACE = 1000000000 }; /* ns; the longest walk takes a 1,000th of it */

struct store;

/* budget: bytes of rows and mappings, at least one shard of each. NULL without memory. */
struct store *store_new(const struct store_backing *b, uint64_t budget);
void store_free(struct store *s);

/* A number for a file, UNWIND_FILE_ASK; 0: there is none left. */
uint32_t store_file(struct store *s);
enum unwind_file_state store_state(const struct store *s, uint32_t file);
/* For a file that has no table: UNWIND_FILE_NONE, _REFUSED or _ASK. */
void store_mark(struct store *s, uint32_t file, enum unwind_file_state state);
enum store_loaded store_load(struct store *s, uint32_t file, const struct unwind_table *t);
void store_unload(struct store *s, uint32_t file, enum unwind_file_state state, uint64_t now);
/* The number is used again after the grace. */
void store_forget(struct store *s, uint32_t file, uint64_t now);

/* Ascending mappings without overlaps, at most UNWIND_SPACE_MAPPINGS; the generation is a new one. */
enum store_loaded store_map(struct store *s, const struct unwind_mapping *m, size_t n, struct unwind_space *space);
void store_unmap(struct store *s, const struct unwind_space *space, uint64_t now);
/* What leads from a process to its space has changed: walks remember nothing of before. Files' changes are known here. */
void store_changed(struct store *s);

void store_reap(struct store *s, uint64_t now);

/* Bytes of a file's rows; of all rows and mappings in use; of all memory that the backing gave. */
uint64_t store_file_bytes(const struct store *s, uint32_t file);
uint64_t store_used(const struct store *s);
/* Bytes of rows that there can ever be room for. */
uint64_t store_most(const struct store *s);
uint64_t store_held(const struct store *s);
/* The memory of a shard, NULL where there is none: for a walk here. */
const void *store_shard(const struct store *s, enum store_area area, uint32_t shard);

#endif
