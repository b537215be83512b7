/*
 * Records as bytes and as lines of text, by a table of the fields of each type.
 *
 *	struct record r;
 *
 *	while (next_body(&type, &body)) {
 *		if (!record_decode(&r, type, body, &time))
 *			...malformed...
 *		record_print(&text, &r);	// thread id=2 time=17 process=1 tid=42
 *	}
 *
 * The table in record.c holds the name and the fields of each type. It drives coding, text and checks: a new
 * record is a new row.
 */
#ifndef CPROF_STREAM_RECORD_CODING_H
#define CPROF_STREAM_RECORD_CODING_H

#include "common/base/buf.h"
#include "common/base/cursor.h"
#include "common/stream/record.h"

enum field_kind {
	FIELD_U,    /* varint, decimal */
	FIELD_X,    /* varint, hexadecimal */
	FIELD_TIME, /* zigzag difference to the last time in the block */
	FIELD_ENUM, /* varint with names */
	FIELD_TEXT, /* slice, quoted */
	FIELD_HEX,  /* slice, hexadecimal digits */
};

struct field {
	const char *name;
	enum field_kind kind;
	uint16_t at;              /* offset in struct record */
	const char *const *names; /* FIELD_ENUM: one per value */
	uint16_t n_names;
};

struct record_desc {
	const char *name; /* NULL: the number is not used */
	const struct field *fields;
	size_t n;
	size_t least; /* fields of the first version that had the record; further ones may be missing, and are 0 */
	bool trims;   /* further ones are left out if they and all after them are 0 */
};

/* Returns the row of a type, or NULL if this version does not know the type. */
const struct record_desc *record_desc(uint32_t type);

/*
 * Decode or encode the body of one record by the table. *time is the last time in the block; both update it.
 * Decoding returns false if the body ends before desc.least fields do, and makes bytes after the known
 * fields the tail. Slices in r point into body. Not for FRAME, NODE and SAMPLE, which are coded as runs
 * (batch.h, writer.c).
 */
bool record_decode(struct record *r, uint32_t type, struct slice body, uint64_t *time);
void record_encode(struct buf *out, const struct record *r, uint64_t *time);
/*
 * A faster record_encode for SYMBOL, because there may be one per frame. Stores at most RECORD_SYMBOL_MAX
 * bytes and returns the address after them.
 */
enum { RECORD_SYMBOL_MAX = 8 * VARINT_MAX };
uint8_t *record_store_symbol(uint8_t *p, const struct record_symbol *s, uint64_t *time);

/* Appends one record as a line of text, without the newline. */
void record_print(struct buf *out, const struct record *r);
/* Parses such a line. Slices in r point into scratch. Returns false after putting a sentence into error. */
bool record_parse(struct record *r, const char *line, struct buf *scratch, struct buf *error);

#endif
