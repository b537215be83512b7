/*
 * The tables that threads of a Firefox profile share: rows for stacks, frames, functions and resources of
 * traces. For firefox.c, which writes them.
 *
 *	struct firefox_tables t;
 *
 *	if (!firefox_tables_init(&t, &traces)) ...out of memory...
 *	row = firefox_tables_stack(&t, &traces.moments[i]);
 *	firefox_tables_release(&t);
 *
 * A location with inlined functions has a row for each of them. The frame of line i of the traces is row i of
 * frames; the frames of waits come after those of all lines.
 */
#ifndef CPROF_TIMED_FIREFOX_TABLES_H
#define CPROF_TIMED_FIREFOX_TABLES_H

#include "common/base/idmap.h"
#include "common/capture/capture.h"
#include "common/export/traces.h"

enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_LANGUAGE, /* interpreted languages and JIT code */
	FIREFOX_WAITS,    /* plus enum capture_wait, less one */
	FIREFOX_CATEGORIES = FIREFOX_WAITS + CAPTURE_WAITS - 1,
};

struct firefox_stack {
	uint32_t prefix; /* row of the outer frame, plus 1; 0: none */
	uint32_t frame;
};

struct firefox_frame {
	uint32_t function; /* row */
	uint32_t line;     /* 0: unknown */
	uint32_t depth;    /* 0: the function, 1 and more: inlined */
	uint32_t category;
};

struct firefox_function {
	uint32_t name, file; /* texts; file 0: unknown */
	uint32_t resource;   /* row plus 1; 0: none */
};

struct firefox_tables {
	struct traces *s;
	struct firefox_stack *stacks;
	struct firefox_frame *frames;
	struct firefox_function *functions;
	uint32_t *resources; /* each a mapping, the first one of its path */
	uint32_t *sources;   /* texts: each file once */
	size_t n_stacks, n_frames, n_functions, n_resources, n_sources;
	size_t cap_stacks, cap_frames, cap_functions, cap_resources, cap_sources;
	uint32_t *by_node; /* by node: row of its innermost frame, plus 1 */
	struct idmap ends;    /* stacks without frames, and of waits: node or owner with the wait, to row */
	struct idmap by_function, by_path, by_file; /* to rows */
};

/* Adds texts to the traces. Returns false if out of memory; the object can be released even then. */
bool firefox_tables_init(struct firefox_tables *t, struct traces *s);
void firefox_tables_release(struct firefox_tables *t);
/* Returns the row of a moment's stack. */
uint32_t firefox_tables_stack(const struct firefox_tables *t, const struct traces_moment *m);
/* Returns the row of a file among the sources. */
uint32_t firefox_tables_source(const struct firefox_tables *t, uint32_t file);

#endif
