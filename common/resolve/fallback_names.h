/*
 * Fallback names for code that symbol tables do not cover: Go's function table, then the function bounds of
 * .eh_frame.
 *
 *	struct more *m;
 *	struct more_hit hit;
 *
 *	if (!more_open(f, true, &m))	// elf_settle(f) is allowed afterwards
 *		...out of memory...
 *	if (more_find(m, vaddr, &hit))
 *		more_text(&hit, path, &out);	// "main.work", or "[libx.so+0x1230]"
 *	more_free(m);
 */
#ifndef CPROF_RESOLVE_FALLBACK_NAMES_H
#define CPROF_RESOLVE_FALLBACK_NAMES_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/go/gonames.h"
#include "common/stream/record.h"

struct more;

struct more_hit {
	enum name_source source; /* NAME_GO or NAME_BOUNDS */
	uint64_t start;          /* the function's linked address */
	struct slice name;       /* only for NAME_GO; lent by the table */
	uint32_t *tag;           /* a number that the caller may keep with the function; initially 0 */
};

/* Sets *m to NULL if there is nothing. bounds: read .eh_frame, too. Returns false if out of memory. */
bool more_open(const struct elf_file *f, bool bounds, struct more **m);
void more_free(struct more *m);
/* Finds the function that contains the linked address. Returns false if there is none; m may be NULL. */
bool more_find(struct more *m, uint64_t vaddr, struct more_hit *hit);
/* Appends the function's text; path is the path of its file. */
void more_text(const struct more_hit *hit, struct slice path, struct buf *out);
/* Returns Go's table, for inlined calls; NULL if there is none. Lent. */
struct gonames *more_go(const struct more *m);
/* Returns the better kind of name that it has, or NAME_NONE. m may be NULL. */
enum name_source more_kind(const struct more *m);
size_t more_bytes(const struct more *m);

#endif
