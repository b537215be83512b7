/*
 * Access to the fields of a record by the table of its type, for record.c (bytes) and record_text.c.
 *
 *	const struct field *f = &record_desc(r->type)->fields[i];
 *	if (is_slice(f->kind)) ...*slice_at(r, f)... else ...*number_at(r, f)...
 */
#ifndef CPROF_STREAM_RECORD_FIELDS_H
#define CPROF_STREAM_RECORD_FIELDS_H

#include "common/stream/record_coding.h"

static inline uint64_t *number_at(struct record *r, const struct field *f)
{
	return (uint64_t *)((char *)r + f->at);
}

static inline struct slice *slice_at(struct record *r, const struct field *f)
{
	return (struct slice *)((char *)r + f->at);
}

static inline bool is_slice(enum field_kind kind)
{
	return kind == FIELD_TEXT || kind == FIELD_HEX;
}

#endif
