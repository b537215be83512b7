/*
 * What names the code of a file where its symbols do not: Go's own table.
 *
 *	struct more *m;
 *	struct more_hit hit;
 *
 *	if (!more_open(f, &m))	// f may be settled afterwards
 *		...out of memory...
 *	if (more_find(m, vaddr, &hit))
 *		more_text(&hit, &out);
 *	more_free(m);
 */
#ifndef CPROF_RESOLVE_MORE_H
#define CPROF_RESOLVE_MORE_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/resolve/gonames.h"
#include "common/stream/record.h"

struct more;

struct more_hit {
	enum name_source source;
	uint64_t start;          /* of the function, as linked */
	struct slice name;       /* lent by the table */
	uint32_t *tag;           /* a number that the caller may keep with the function, 0 at first */
};

/* NULL where there is nothing. False without memory. */
bool more_open(const struct elf_file *f, struct more **m);
void more_free(struct more *m);
bool more_find(struct more *m, uint64_t vaddr, struct more_hit *hit);
/* Appends the function's name. */
void more_text(const struct more_hit *hit, struct buf *out);
/* Go's table, for what is inlined; NULL where there is none. Lent. */
struct gonames *more_go(const struct more *m);
/* The best that it has, or NAME_NONE. NULL has nothing. */
enum name_source more_kind(const struct more *m);
size_t more_bytes(const struct more *m);

#endif
