/*
 * The weight of each source line of each function, from stacks by address.
 *
 *	struct line_sums sums;
 *
 *	...traces are settled; files noted their mappings (line_files.h)...
 *	if (!line_sums_init(&sums, &traces, &files, &options)) ...out of memory...
 *	for (i = 0; i < sums.n; i++)		// heaviest self first
 *		...sums.functions[i], sums.lines[functions[i].first] and so on...
 *	line_sums_release(&sums);
 *
 * Lines of machine code come from the file here, if it is the recorded one and has debug information, and
 * otherwise from the capture. A function inlined into another is a function with lines of its own; the line
 * of its call belongs to the other one. self counts samples whose innermost frame is on the line; total those
 * with any frame there, each sample once.
 *
 * Functions of one name in different files are different functions.
 */
#ifndef CPROF_ANNOTATE_LINE_SUMS_H
#define CPROF_ANNOTATE_LINE_SUMS_H

#include "common/annotate/line_files.h"

/* Samples without a frame, or command, that matches do not count; with with false, those that have one. */
struct line_filter {
	bool (*matches)(const char *name, void *context);
	void *context;
	bool with;
};

enum { LINE_FILTERS = 3 };
struct line_options {
	bool by_weight;				  /* weights count, not samples */
	struct line_filter filters[LINE_FILTERS]; /* matches is NULL: unused */
};

struct line_sum {
	uint32_t function;
	uint32_t file; /* text of the traces; 0: unknown */
	uint32_t line; /* 0: unknown */
	uint64_t self, total;
};

struct function_sum {
	uint32_t name;	 /* text */
	uint32_t module; /* text: path of the file, or of the script */
	bool script;	 /* its language is interpreted */
	bool kernel;
	uint32_t mapping; /* mapping with code of the function; 0: none */
	uint64_t self, total;
	uint32_t first, n; /* lines: by the file's weight, then by line */
	uint32_t location; /* where the function is not inlined; 0: none */
};

/* Where the name of a source file comes from. */
struct source_origin {
	bool script;	  /* the capture names it as an interpreter's script */
	uint32_t mapping; /* the file whose debug information names it; 0: only the capture does */
	enum code_trust trust;
};

struct line_sums {
	struct traces *traces;
	struct line_files *files;
	struct function_sum *functions; /* sorted: self, then total, descending, then name */
	struct line_sum *lines;
	size_t n, n_lines;
	uint64_t sum; /* weight of all samples */
	bool by_weight;
	struct source_origin *origins; /* by text */
	size_t cap_origins;
	/* By location: its weight with callees, and its levels. */
	uint64_t *location_total;
	uint32_t *level_first, *level_n; /* in levels */
	uint32_t *levels;		 /* lines, by their index in lines */
	size_t n_levels, cap_levels;
	/* Used while it is filled. */
	struct intern function_keys, line_keys;
	size_t cap_functions, cap_lines;
	struct buf text;
};

/* Returns false if out of memory; it can be released even then. */
bool line_sums_init(struct line_sums *l, struct traces *s, struct line_files *files,
		    const struct line_options *o);
void line_sums_release(struct line_sums *l);
/* Returns the name of a function, and its module, as text; valid as long as the traces. */
static inline struct slice line_sums_text(const struct line_sums *l, uint32_t text)
{
	return traces_get(l->traces, text);
}
/* Returns whether function i has a line that is known. */
bool line_sums_has_lines(const struct line_sums *l, size_t i);
/* Returns whether the location belongs to function i, whole or inlined. */
bool line_sums_is_of(const struct line_sums *l, uint32_t location, size_t i);
/* Returns the source of a text, CODE_UNKNOWN if nobody but the capture names it. */
struct source_origin line_sums_origin(const struct line_sums *l, uint32_t file);

#endif
