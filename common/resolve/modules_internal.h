/*
 * The loaded modules, for the parts of modules.h: modules.c loads and evicts them, and modules_name.c finds
 * names.
 *
 *	if (!modules_wake(m, module))
 *		...out of memory...
 *	...module->symbols...
 */
#ifndef CPROF_RESOLVE_MODULES_INTERNAL_H
#define CPROF_RESOLVE_MODULES_INTERNAL_H

#include "common/base/intern.h"
#include "common/locate/finder.h"
#include "common/resolve/fallback_names.h"
#include "common/resolve/modules.h"

enum { CACHE_BITS = 16, TEXT_COST = 32 };

enum { ADA_UNKNOWN, ADA_NO, ADA_YES };

struct module {
	struct elf_file *file; /* for its segments */
	struct symbols *symbols; /* NULL: none, or evicted */
	struct fallback_names *more;       /* other names; NULL: there are none, or evicted */
	struct inline_chain *levels;   /* NULL: none, or not requested */
	enum source_status status;
	enum name_source kind;
	uint32_t path; /* text */
	uint32_t version;
	bool lost_offsets, by_path;
	bool doubtful; /* finder_trusts does not accept its file; while it is loaded first: need not */
	bool vacated;  /* a doubtful file was set apart, so others of its path are still to be tried */
	/* For eviction and reload. */
	struct module_identity is; /* its slices are texts */
	size_t bytes;
	uint64_t used;  /* clock of the last use */
	uint64_t stamp; /* the file's */
	bool evicted, has_image;
	uint8_t ada; /* is some of it written in Ada? */
	uint64_t bias; /* from the last place's offset to its address, a guess for the next one */
};

/* The result for a place: the hot path, before any search. */
struct cached {
	uint64_t offset;      /* in the file */
	uint64_t name_offset;
	uint32_t module;      /* * 2 + 2, + 1 for a return address */
	uint32_t text;        /* 0: it has no name */
	uint32_t source;
	uint32_t generation;
};

struct modules {
	struct modules_options options;
	struct finder finder;
	struct intern texts;
	struct intern keys;  /* identities; a key's number is its module's */
	struct intern tried; /* identities with their paths */
	struct module *items;
	size_t n, cap;
	size_t n_apart; /* modules of doubtful files */
	struct cached *cache; /* entries of this generation are valid */
	uint32_t generation;
	size_t bytes;      /* held by all modules */
	size_t text_bytes; /* held by names, approximately */
	size_t max;
	size_t alone; /* the only module that is loaded, besides images, + 1; 0: there may be others */
	uint64_t clock;
	struct buf scratch, name, path;
};

/* Loads the module if it was evicted, and notes its use. Returns false if out of memory. */
bool modules_wake(struct modules *m, struct module *module);
/* Drops symbols: the file shrank or was written to. Names read before are valid, the rest is not. */
void modules_damaged(struct modules *m, struct module *module);
/* Accounts for memory that the module has grown by. Others may be evicted. */
void modules_weigh(struct modules *m, struct module *module);

#endif
