/*
 * What a namer knows, for its two halves only: namer.c finds names, teller.c says them.
 */
#ifndef CPROF_RESOLVE_NAMING_H
#define CPROF_RESOLVE_NAMING_H

#include "common/base/radix.h"
#include "common/resolve/jit.h"
#include "common/resolve/namer.h"
#include "common/resolve/strings.h"

/* What we found for a place. */
struct answer {
	uint64_t offset;
	uint32_t text;        /* 0: nothing */
	uint32_t levels : 24; /* in namer's levels; 0: nothing is known */
	uint32_t source : 7;  /* enum name_source */
	uint32_t late : 1;    /* it is in the list of those */
};

enum { LEVELS_KEPT = 1 << 24 }; /* twice as many as there are places at most */

/* What is known of a FILE of the segment. */
struct file_state {
	uint32_t module; /* + 1; 0: not asked for yet */
	uint32_t version; /* of the module when it was last asked */
	uint32_t process; /* for which the module was last looked for */
	uint64_t seen;    /* when it was first */
	bool used, is_file;
	bool heard; /* the stream says something, in the four below */
	uint32_t status, kind;
	uint32_t path;
};

/* Is it a name, and not just where the function begins? */
static inline bool is_named(uint32_t source)
{
	return source != NAME_NONE && source != NAME_BOUNDS;
}

struct list {
	uint32_t *items;
	size_t n, cap;
};

struct namer {
	struct modules *modules;
	struct intern *texts;
	/* Of the segment. */
	struct strings strings;
	struct intern levels; /* lists of struct level; 0 is the empty one */
	struct jit jit;
	struct answer *answers; /* by place */
	size_t cap_answers;
	struct file_state *files; /* by FILE; 0 is the kernel */
	size_t n_files, cap_files;
	size_t n_placed, n_said; /* places below were seen; were written */
	struct radix_item *queue; /* places to be looked up in files when the block ends */
	size_t n_queue, cap_queue;
	struct list late;        /* places that got their names after their block */
	struct list new_files;   /* files that need their SOURCE */
	struct list kernel;      /* kernel frames that have no name yet */
	uint64_t kernel_named, kernel_frames;
	size_t n_ksyms;
	struct kernel_files *kernel_files; /* NULL: none are asked */
	bool asked_files; /* which file is this segment's? */
	bool file_named;  /* it gave a name */
	struct idmap said_ksyms; /* by address, those that were taken from it */
	bool kernel_new, last_said;
	bool host_known, has_levels;
	enum identity_host host;
	uint64_t realtime, monotonic; /* of the segment's start; 0: unknown */
	/* Of all segments. */
	struct tally tally;
};

/* False without memory, as all that follow. */
bool naming_list_add(struct list *l, uint32_t v);
/* What is known of a FILE; NULL without memory. */
struct file_state *naming_file(struct namer *n, uint64_t file);
/* Names the places that wait for it. */
bool naming_look_up_queued(struct namer *n, const struct capture *c);
/* What jitdump files told later than it was needed; last: and what a parent did, for those that it forked. */
bool naming_revise_jit(struct namer *n, const struct capture *c, bool last);
/* Queues places that had no name and whose file has been found since, by another path. */
bool naming_look_again(struct namer *n, const struct capture *c);

#endif
