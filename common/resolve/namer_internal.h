/*
 * State of a namer, for its two halves only: namer.c finds names, namer_write.c writes them.
 */
#ifndef CPROF_RESOLVE_NAMER_INTERNAL_H
#define CPROF_RESOLVE_NAMER_INTERNAL_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/base/radix.h"
#include "common/jit/jit.h"
#include "common/resolve/namer.h"
#include "common/resolve/strings.h"

/* The name found for a place. */
struct answer {
	uint64_t offset;
	uint32_t text;        /* 0: nothing */
	uint32_t levels : 24; /* in namer's levels; 0: unknown */
	uint32_t source : 7;  /* enum name_source */
	uint32_t late : 1;    /* it is in the list of late places */
};

enum { LEVELS_KEPT = 1 << 24 }; /* twice as many as there can be places */

/* State of a FILE of the segment. */
struct file_state {
	uint32_t module; /* + 1; 0: not looked up yet */
	uint32_t version; /* version of the module at the last lookup */
	uint32_t process; /* for which the module was last searched */
	uint64_t seen;    /* time of the first use */
	bool used, is_file;
	bool heard; /* the stream has a SOURCE, copied to the fields below */
	uint32_t status, kind;
	uint32_t path;
};

/* Returns true for a name, not just the start of a function. */
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
	/* State of the segment. */
	struct strings strings;
	struct intern levels; /* lists of struct level; 0 is the empty one */
	struct jit jit;
	struct answer *answers; /* by place */
	size_t cap_answers;
	struct file_state *files; /* by FILE; 0 is the kernel */
	size_t n_files, cap_files;
	size_t n_placed, n_said; /* places below these were seen, and written */
	struct radix_item *queue; /* places to be looked up in files when the block ends */
	size_t n_queue, cap_queue;
	struct list late;        /* places that got their names after their block */
	struct list new_files;   /* files that need their SOURCE */
	struct list kernel;      /* kernel frames without a name yet */
	size_t n_kernel_tried;   /* the others are new */
	uint64_t kernel_named, kernel_frames;
	size_t n_ksyms; /* those for which all of these frames were tried */
	struct kernel_files *kernel_files; /* NULL: not used */
	bool asked_files; /* the segment's file was searched for */
	bool file_named;  /* it gave a name */
	struct idmap said_ksyms; /* by address, symbols written from that file */
	bool last_said;
	bool host_known, has_levels;
	enum identity_host host;
	/* Sums of all segments. */
	struct coverage tally;
	struct jit_runtimes runtimes;
};

/* Returns false if out of memory, as all functions below. */
bool naming_list_add(struct list *l, uint32_t v);
/* Returns the state of a FILE; NULL if out of memory. */
struct file_state *naming_file(struct namer *n, uint64_t file);
/* Names the queued places. */
bool naming_look_up_queued(struct namer *n, const struct capture *c);
/* Applies late jitdump records; last: also names places in forked processes by their parents' maps. */
bool naming_revise_jit(struct namer *n, const struct capture *c, bool last);
/* Queues unnamed places whose file has been found since, by another path. */
bool naming_look_again(struct namer *n, const struct capture *c);

#endif
