/*
 * What names the code of a file where its symbols do not: Go's own table; and, where all else is silent, where each
 * function begins, by .eh_frame.
 *
 *	struct more *m;
 *	struct more_hit hit;
 *
 *	if (!more_open(f, true, &m))	// f may be settled afterwards
 *		...out of memory...
 *	if (more_find(m, vaddr, &hit))
 *		more_text(&hit, path, &out);	// "main.work", or "[libx.so+0x1230]"
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
	enum name_source source; /* NAME_GO or NAME_BOUNDS */
	uint64_t start;          /* of the function, as linked */
	struct slice name;       /* of NAME_GO; lent by the table */
	uint32_t *tag;           /* a number that the caller may keep with the function, 0 at first */
};

/* NULL where there is nothing. bounds: .eh_frame, too. False without memory. */
bool more_open(const struct elf_file *f, bool bounds, struct more **m);
void more_free(struct more *m);
bool more_find(struct more *m, uint64_t vaddr, struct more_hit *hit);
/* Appends the text that stands for the function in the file of this path. */
void more_text(const struct more_hit *hit, struct slice path, struct buf *out);
/* Go's table, for what is inlined; NULL where there is none. Lent. */
struct gonames *more_go(const struct more *m);
/* The better of what it has, or NAME_NONE. NULL has nothing. */
enum name_source more_kind(const struct more *m);
size_t more_bytes(const struct more *m);

#endif
