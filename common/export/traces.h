/*
 * Stacks by address, for formats that show more of a frame than its name.
 *
 *	struct traces s;
 *
 *	if (!traces_init(&s)) ...out of memory...
 *	...collect.h fills it from captures, or from a profile...
 *	if (!traces_settle(&s, &modules, false)) ...out of memory...
 *	for (i = 0; i < s.n_samples; i++)
 *		for (at = s.samples[i].node; at; at = s.nodes[at].parent)
 *			...s.locations[s.nodes[at].location]: the innermost one comes first...
 *	traces_release(&s);
 *
 * A location is an address of a process, or of the kernel, in a mapping, with its function and the functions
 * inlined there. Locations with equal address, mapping and names are one. An owner is the one that ran or
 * waited: host, container, command, process, thread, and how it waited. Its command is not a frame. In folded
 * text the outermost frame is the command, and the others are locations without address and mapping.
 *
 * Numbers start at 1; 0 is none, and node 0 is above all stacks. Texts are numbers too: see traces_text.
 */
#ifndef CPROF_EXPORT_TRACES_H
#define CPROF_EXPORT_TRACES_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/gather/gather_modules.h"

struct traces_function {
	uint32_t name; /* as sanitize.h makes it; after traces_settle the final one */
	uint32_t file; /* full path of the source; 0: unknown */
	uint32_t same; /* after traces_settle: the first function of this name and file, maybe this one */
};

struct traces_line {
	uint32_t function;
	uint32_t line; /* 0: unknown */
};

struct traces_mapping {
	uint64_t start, limit, offset; /* offset: in the file, at start */
	uint32_t path;                 /* "[anon]", "[jit]", "[kernel.kallsyms]" if it is not a file */
	uint32_t build_id;             /* text of hexadecimal digits; 0: unknown */
	uint32_t looked;               /* 1: someone has looked for names */
	uint32_t kernel;               /* 1: the kernel */
};

struct traces_location {
	uint64_t address; /* the one to look up: one less for a return address */
	uint32_t mapping;
	uint32_t line, n; /* in lines: the function first, then those inlined into it */
};

struct traces_node {
	uint32_t parent; /* always below the node's own number */
	uint32_t location;
};

struct traces_owner {
	uint64_t pid, tid; /* 0: unknown */
	uint64_t waker_pid, waker_tid; /* if a thread ended the long wait; otherwise 0 */
	uint32_t host, container;
	uint32_t labels; /* see traces_labels; 0: none */
	uint32_t comm; /* as sanitize.h makes it */
	/* after traces_settle, if it has a stack without frames: the location of its command */
	uint32_t bare;
	uint32_t wait; /* enum capture_wait: what the thread did */
	uint32_t waker; /* end of a long wait: "work-42/43" or "[timer]" */
	uint32_t pad;	/* 0. The struct has no padding: it is a key */
};

/* One of the labels that a capture was recorded with. Both are texts. */
struct traces_label {
	uint32_t key, value;
};

struct traces_sample {
	uint32_t owner, node;
	uint64_t samples, weight; /* weight: in the unit of the first event; 0 for others */
};

/* One sample by itself, for formats that know time. A wait covers its weight in ns up to its time. */
struct traces_moment {
	uint64_t time; /* ns since 1970, or of the capture's clock if it does not say when it was recorded */
	uint64_t weight; /* as in traces_sample; never more than time if it is a wait in ns */
	uint32_t owner, node, cpu;
};

struct traces {
	bool timed; /* set before reading: moments are collected, too */
	bool wakers; /* likewise: owners have wakers */
	struct traces_moment *moments;
	size_t n_moments, cap_moments;
	struct profile names; /* its labels are the functions' names until traces_settle; it has no stacks */
	struct intern texts;  /* text 0 is "" */
	struct intern function_keys, mapping_keys, location_keys, owner_keys, label_keys;
	struct traces_function *functions;
	struct traces_mapping *mappings;
	struct traces_location *locations;
	struct traces_line *lines;
	struct traces_node *nodes;
	struct traces_owner *owners;
	struct traces_sample *samples;
	size_t n_functions, n_mappings, n_locations, n_nodes, n_owners; /* highest number + 1 */
	size_t n_lines, n_samples;
	size_t cap_functions, cap_mappings, cap_locations, cap_lines, cap_nodes, cap_owners, cap_samples;
	struct idmap edges;   /* parent and location to node */
	struct idmap by_key;  /* owner and node to sample */
	struct buf key;
	uint64_t total, total_weight;
	uint64_t claimed; /* weight added, or announced to be added */
	/* From the first capture; unit 0: folded text, which has only one weight. */
	bool counted; /* samples say how many of the event they stand for */
	uint32_t event, unit;
	uint64_t period, start_realtime_ns;
};

/* Returns false if out of memory; the object can be released even then. */
bool traces_init(struct traces *s);
void traces_release(struct traces *s);

/* These functions find or add an entry and set its number; they return false if out of memory. */
bool traces_text(struct traces *s, struct slice text, uint32_t *id);
bool traces_function(struct traces *s, uint32_t label, uint32_t file, uint32_t *id);
bool traces_mapping(struct traces *s, const struct traces_mapping *mapping, uint32_t *id);
bool traces_location(struct traces *s, uint64_t address, uint32_t mapping, const struct traces_line *lines, uint32_t n,
		     uint32_t *id);
bool traces_labels(struct traces *s, const struct traces_label *labels, size_t n, uint32_t *id);
bool traces_owner(struct traces *s, const struct traces_owner *owner, uint32_t *id);
bool traces_child(struct traces *s, uint32_t parent, uint32_t location, uint32_t *node);
/* The same for a caller that knows that the parent has no such child, and will not look it up later. */
bool traces_append(struct traces *s, uint32_t parent, uint32_t location, uint32_t *node);
/*
 * Adds samples and weight to a stack. The sums must fit: see profile_claim. Returns false if out of memory.
 */
bool traces_add(struct traces *s, uint32_t owner, uint32_t node, uint64_t samples, uint64_t weight);

/* Appends a moment, in any order. Returns false if out of memory. */
bool traces_add_moment(struct traces *s, const struct traces_moment *m);

/* Returns the last enum capture_wait of which there are samples; 0: there are none of waits. */
uint32_t traces_last_wait(const struct traces *s);

/* Returns a text, valid as long as the traces. */
static inline struct slice traces_get(const struct traces *s, uint32_t text)
{
	return intern_get(&s->texts, text);
}

/* Return how many labels a number from traces_labels has, and label i of them. */
size_t traces_label_count(const struct traces *s, uint32_t labels);
struct traces_label traces_label(const struct traces *s, uint32_t labels, size_t i);

/*
 * Makes names final, as texts of their own. Call it once, when all has been read. modules: the one that kept
 * files with the same base name apart. norm: removes unstable numbers, see strip_numbers.h. Returns false if out of
 * memory.
 */
bool traces_settle(struct traces *s, struct gather_modules *modules, bool norm);
/*
 * Keeps only the samples for which asked returns true for the name of a frame or of the command; if with is
 * false, keeps only the others. Call it after traces_settle. Returns false if out of memory.
 */
bool traces_keep(struct traces *s, bool (*asked)(const char *name, void *context), void *context, bool with);

#endif
