/*
 * All tables and all processes' mappings, in the arrays that the walk reads. The backing provides the memory:
 * BPF maps that are also mapped here, or plain memory.
 *
 *	struct store *s = store_new(&backing, budget);
 *
 *	file = store_file(s);				// registered without a table; a walk that
 *							// reaches it returns WALK_ASK
 *	store_load(s, file, &table);			// now walks use it
 *	store_map(s, mappings, n, &space);		// their .file are such numbers
 *	...
 *	store_unload(s, file, UNWIND_FILE_ASK, now);	// its memory is reused after STORE_GRACE
 *	store_reap(s, now);				// now and then
 *
 * Walks read during writes: data is written first, and the word that leads to it last.
 */
#ifndef CPROF_WALK_STORE_H
#define CPROF_WALK_STORE_H

#include "common/unwind/build.h"
#include "common/walk/space.h"

/* The arrays. All but ROWS and MAPPINGS have one shard, number 0. */
enum store_area { STORE_RULES, STORE_PAGES, STORE_FILES, STORE_ROWS, STORE_MAPPINGS, STORE_AREAS };

struct store_backing {
	/*
	 * Returns zeroed memory for a shard, readable by the walk from now on; NULL if there is none. The
	 * backing keeps it for ever.
	 */
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

/* budget: bytes of rows and mappings, at least one shard of each. Returns NULL if out of memory. */
struct store *store_new(const struct store_backing *b, uint64_t budget);
void store_free(struct store *s);

/* Returns a number for a new file, in state UNWIND_FILE_ASK; 0 if none is left. */
uint32_t store_file(struct store *s);
enum unwind_file_state store_state(const struct store *s, uint32_t file);
/* Returns unwind_file.load. */
uint32_t store_file_load(const struct store *s, uint32_t file);
/* Sets the state of a file without a table: UNWIND_FILE_NONE, _REFUSED or _ASK. */
void store_mark(struct store *s, uint32_t file, enum unwind_file_state state);
/* Copies the table of a file that has none; later walks use it. */
enum store_loaded store_load(struct store *s, uint32_t file, const struct unwind_table *t);
/* Drops a file's table, if it has one, and sets its state. now: ns, here and below. */
void store_unload(struct store *s, uint32_t file, enum unwind_file_state state, uint64_t now);
/* Unloads a file; its number is reused after the grace. */
void store_forget(struct store *s, uint32_t file, uint64_t now);

/* Stores ascending mappings without overlaps, at most UNWIND_SPACE_MAPPINGS; space gets a new generation. */
enum store_loaded store_map(struct store *s, const struct unwind_mapping *m, size_t n, struct unwind_space *space);
/* Drops a process's mappings; their memory is reused after the grace. */
void store_unmap(struct store *s, const struct unwind_space *space, uint64_t now);
/*
 * Call this after a change to the path from a process to its space: walks then ignore their caches. The store
 * itself notices changes of files.
 */
void store_changed(struct store *s);

/* Frees the memory and numbers whose grace is over. */
void store_reap(struct store *s, uint64_t now);

/* Bytes of a file's rows; of all rows and mappings in use. */
uint64_t store_file_bytes(const struct store *s, uint32_t file);
uint64_t store_used(const struct store *s);
/* Upper limit of row bytes; total bytes obtained from the backing. */
uint64_t store_most(const struct store *s);
uint64_t store_held(const struct store *s);
/* Returns the memory of a shard, NULL if there is none: for a walk in user space. */
const void *store_shard(const struct store *s, enum store_area area, uint32_t shard);

#endif
