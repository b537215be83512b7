/*
 * Modules: the files that code was mapped from, and the names in them.
 *
 * A module is identified by its build ID, else by device, inode and path, so each file is opened once,
 * however many processes, segments and paths refer to it. A file of another user than root or our own names
 * only its own frames, because anybody can copy a build ID. A module without a build ID that was recorded on
 * this host is opened once a segment, because it may be written to in between. A file with another build ID
 * than the recorded one, or otherwise known to be another file, is never used: a wrong name is worse than
 * none.
 *
 * When the modules hold more than max_mem bytes, the least recently used ones are evicted whole, and loaded
 * again when needed. Their ids and names stay valid, and the file is checked to be the same. A single module
 * may be larger than the limit. The names handed out count in modules_tidy.
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

#include "common/base/intern.h"
#include "common/symbols/symbols.h"
#include "common/locate/debuginfod.h"
#include "common/demangle/demangle.h"
#include "common/locate/identity.h"
#include "common/resolve/inline_chain.h"
#include "common/stream/record.h"

enum { MODULES_KEEP = 128 << 20 }; /* default of max_mem, in bytes */

struct modules_options {
	const char *symfs;           /* NULL: files are where they were recorded */
	const char *const *debug_dirs; /* NULL: /usr/lib/debug, below symfs if that is set */
	size_t n_debug_dirs;
	enum demangle_mode demangle;
	unsigned int levels; /* INLINE_CHAIN_INLINED, INLINE_CHAIN_LINES: what modules_levels returns */
	size_t max_mem; /* bytes that modules may hold; 0: MODULES_KEEP */
	struct debuginfod *debuginfod; /* NULL: no server is asked */
};

/* A place in a module to look up. */
struct module_place {
	uint64_t offset;                 /* file offset of the address itself */
	uint64_t map_offset, map_length; /* the mapping it was found in */
	/* a return address: look up the byte before, but count offsets from the address */
	bool after_call;
};

struct module_name {
	uint32_t text;   /* in modules_texts */
	uint32_t source; /* enum name_source */
	uint64_t offset; /* from the function's start */
};

struct module_state {
	enum source_status status;
	enum name_source kind; /* the best kind of name that it has */
	struct slice path;     /* the file that was opened, or tried last */
	uint32_t version;      /* grows when the same module is found later by another path */
	bool by_path;          /* opened, but only its path identifies it */
};

struct modules;

/* Returns NULL if out of memory. Everything that the options point to must outlive it. */
struct modules *modules_new(const struct modules_options *options);
void modules_free(struct modules *m);
/*
 * Drops all modules and texts if they exceed keep bytes or max_mem, so that an endless stream does not fill
 * the memory with files that were deleted long ago. Call it between segments, while no id and no text is in
 * use. Returns false if out of memory.
 */
bool modules_tidy(struct modules *m, size_t keep);
/* All names; text 0 is "". Callers may add their own. */
struct intern *modules_texts(struct modules *m);
/* Sets *id to the module of a file, which is opened at first sight. Returns false if out of memory. */
bool modules_get(struct modules *m, const struct module_identity *identity, uint32_t *id);
/*
 * Returns 1 if named, 0 if the place has no name, -1 if out of memory. Caches answers for places that are
 * looked up often.
 */
int modules_name(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name);
/* Like modules_name, without the cache, for callers that look up each place once. */
int modules_name_once(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name);
bool modules_have_levels(const struct modules *m); /* were levels requested? */
/*
 * Sets *levels to the debug information of a place, lent until the next call. Returns the number of levels, 0
 * if there are none, -1 if out of memory.
 */
long modules_levels(struct modules *m, uint32_t id, const struct module_place *where, const struct level **levels);
/* Like symbols_expect, for any id: prefetches the data of a lookup. Affects speed only. */
void modules_expect(const struct modules *m, uint32_t id, uint64_t offset, enum expectation when);
/* Returns the files that could not be read, or not fully; each once, until modules_free. */
const struct unread *modules_unread(const struct modules *m);
struct module_state modules_state(const struct modules *m, uint32_t id);
/* Returns the memory of the loaded modules in bytes, approximately. */
size_t modules_bytes(const struct modules *m);
size_t modules_count(const struct modules *m); /* ids are below it */

#endif
