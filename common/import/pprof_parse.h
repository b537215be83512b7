/*
 * The tables of a pprof profile (profile.proto), from bytes that nobody vouches for.
 *
 *	struct pprof_tables t;
 *	struct pprof_sample s;
 *	struct cursor at;
 *
 *	if (!pprof_parse(&t, bytes)) ...out of memory...
 *	at = pprof_samples(&t);
 *	while (pprof_sample_next(&at, &s))
 *		...s.locations, s.values, s.labels...
 *	pprof_tables_release(&t);
 *
 * Tables may come in any order, and after the samples. Slices point into the bytes. Text 0 is "", and so is a
 * text beyond the table. The rest of a message after a field that cannot be read is left out and counted.
 *
 * A table has at most PPROF_ENTRIES_MAX entries; further ones are left out and counted. An entry takes two
 * bytes of a file, or a thousandth of that if the file is compressed, but up to 72 bytes of memory.
 */
#ifndef CPROF_IMPORT_PPROF_PARSE_H
#define CPROF_IMPORT_PPROF_PARSE_H

#include "common/base/cursor.h"
#include "common/base/idmap.h"

enum { PPROF_ENTRIES_MAX = 1 << 23 };

struct pprof_type {
	uint64_t type, unit; /* texts */
};

struct pprof_mapping {
	uint64_t id, start, limit, offset, file, build_id; /* the last two are texts */
};

struct pprof_location {
	uint64_t id, mapping, address;
	struct slice message; /* for pprof_line_next */
};

struct pprof_line {
	uint64_t function, line; /* function: an id */
};

struct pprof_function {
	uint64_t id, name, system_name, file; /* texts */
};

struct pprof_tables {
	struct slice bytes;
	struct slice *texts;
	struct pprof_type *types;
	struct pprof_mapping *mappings;
	struct pprof_location *locations;
	struct pprof_function *functions;
	size_t n_texts, n_types, n_mappings, n_locations, n_functions;
	size_t cap_texts, cap_types, cap_mappings, cap_locations, cap_functions;
	struct idmap by_mapping, by_location, by_function; /* from id to index */
	struct pprof_type period_type;
	uint64_t period, time_ns, duration_ns, default_type, samples;
	uint64_t bad; /* messages with a part that cannot be read */
	uint64_t left_out; /* entries beyond the limit of a table */
};

/* A repeated number: the fields of its message, and the rest of a packed one. */
struct pprof_numbers {
	struct cursor fields, packed;
};

struct pprof_sample {
	struct pprof_numbers locations, values;
	struct cursor labels;
};

struct pprof_label {
	uint64_t key, text, number; /* key and text are texts */
};

/* Returns false if out of memory; release the tables even then. */
bool pprof_parse(struct pprof_tables *t, struct slice bytes);
void pprof_tables_release(struct pprof_tables *t);
/* Returns whether the bytes, the beginning of a file, look like a profile without compression. */
bool pprof_looks_like(struct slice bytes);

struct slice pprof_text(const struct pprof_tables *t, uint64_t text);
/* Return the entry with this id, or NULL. */
const struct pprof_mapping *pprof_find_mapping(const struct pprof_tables *t, uint64_t id);
const struct pprof_location *pprof_find_location(const struct pprof_tables *t, uint64_t id);
const struct pprof_function *pprof_find_function(const struct pprof_tables *t, uint64_t id);

struct cursor pprof_samples(const struct pprof_tables *t);
bool pprof_sample_next(struct cursor *at, struct pprof_sample *s);
/* Read the next location id, value or label of a sample; the cursors move. Return false at the end. */
bool pprof_location_next(struct pprof_sample *s, uint64_t *id);
bool pprof_value_next(struct pprof_sample *s, int64_t *value);
bool pprof_label_next(struct pprof_sample *s, struct pprof_label *label);
/* Reads the next function of a location, innermost first; *at starts over the location's message. */
bool pprof_line_next(struct cursor *at, struct pprof_line *line);

#endif
