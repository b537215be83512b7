/*
 * The files that code was mapped from, and the names in them.
 *
 * A module is known by its build ID, else by device, inode and path, so that each file is opened
 * once, whatever the number of processes, captures' segments and paths; one without a build ID that was
 * recorded here once a segment, since it may be written in between. A file whose build ID is not
 * the recorded one, or that is otherwise seen to be another, is never used: a wrong name is worse than none.
 *
 * Modules that together hold more than max_mem bytes are let go whole, the one first that was not asked
 * for the longest time, and loaded again when they are asked: the ids and names stay good, and what was
 * there is checked to be there still. A single one may be larger than that. Names that were asked for
 * count in modules_tidy.
 *
 *	struct modules *m = modules_new(&options);
 *	uint32_t id;
 *
 *	if (!modules_get(m, &file, &id))	// opens it at first sight
 *		...out of memory...
 *	if (modules_name(m, id, &where, &name))
 *		...intern_get(modules_texts(m), name.text), name.offset...
 *	modules_free(m);
 */
#ifndef CPROF_RESOLVE_MODULES_H
#define CPROF_RESOLVE_MODULES_H

#include "common/base/hash.h"
#include "common/elf/symbols.h"
#include "common/resolve/debuginfod.h"
#include "common/resolve/demangle.h"
#include "common/resolve/identity.h"
#include "common/resolve/levels.h"
#include "common/stream/record.h"

enum { MODULES_KEEP = 128 << 20 }; /* bytes that modules may hold unless it is said otherwise */

struct modules_options {
	const char *symfs;           /* NULL: files are where they were recorded */
	const char *const *debug_dirs; /* NULL: /usr/lib/debug, under symfs where that is set */
	size_t n_debug_dirs;
	enum demangle_mode demangle;
	unsigned int levels; /* LEVELS_INLINED, LEVELS_LINES: what modules_levels is to say */
	size_t max_mem; /* bytes that modules may hold; 0: MODULES_KEEP */
	struct debuginfod *debuginfod; /* NULL: no server is asked */
};

/* Where in a module to look. */
struct module_place {
	uint64_t offset;                 /* in the file, of the address itself */
	uint64_t map_offset, map_length; /* the mapping it was found in */
	bool after_call;                 /* a return address: look one byte before, count from itself */
};

struct module_name {
	uint32_t text;   /* in modules_texts */
	uint32_t source; /* enum name_source */
	uint64_t offset; /* from the function's start */
};

struct module_state {
	enum source_status status;
	enum name_source kind; /* the best that it can give */
	struct slice path;     /* what was opened, or tried last */
	uint32_t version;      /* grows when the same module is found after all, by another path */
	bool by_path;          /* opened, and nothing but its path says that it is the right one */
};

struct modules;

/* NULL without memory. What the options point to must outlive it. */
struct modules *modules_new(const struct modules_options *options);
void modules_free(struct modules *m);
/*
 * To be called where no id and no text is in use, between segments: lets everything go if it has
 * grown beyond so many bytes or max_mem, so that a stream that never ends does not fill the memory with files
 * that were long deleted. False without memory.
 */
bool modules_tidy(struct modules *m, size_t keep);
/* All names; text 0 is "". Others may add theirs. */
struct intern *modules_texts(struct modules *m);
bool modules_get(struct modules *m, const struct module_identity *identity, uint32_t *id);
/* 1: named. 0: this place has no name. -1: out of memory. Remembers the answers to places that are asked often. */
int modules_name(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name);
/* The same for who asks each place once; it remembers nothing. */
int modules_name_once(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name);
/*
 * What debug information says of a place, as far as it was asked for: how many levels, 0 where it says nothing, -1
 * without memory. Lent until the next call.
 */
bool modules_have_levels(const struct modules *m); /* was it asked for any? */
long modules_levels(struct modules *m, uint32_t id, const struct module_place *where, const struct level **levels);
/* As symbols_expect, for any id; what it takes is brought into the CPU's cache. Only a matter of time. */
void modules_expect(const struct modules *m, uint32_t id, uint64_t offset, enum expectation when);
/* Files that could not be read, or not all of them; each is there once, until modules_free. */
const struct unread *modules_unread(const struct modules *m);
struct module_state modules_state(const struct modules *m, uint32_t id);
/* Memory that the modules which are loaded hold, about. */
size_t modules_bytes(const struct modules *m);
size_t modules_count(const struct modules *m); /* ids are below it */

#endif
