/*
 * Fallback names for code that symbol tables do not cover: Go's function table, then the function bounds of
 * .eh_frame.
 *
 *	struct fallback_names *m;
 *	struct fallback_names_hit hit;
 *
 *	if (!fallback_names_open(f, true, &m))	// elf_settle(f) is allowed afterwards
 *		...out of memory...
 *	if (fallback_names_find(m, vaddr, &hit))
 *		fallback_names_text(&hit, path, &out);	// "main.work", or "[libx.so+0x1230]"
 *	fallback_names_free(m);
 */
#ifndef CPROF_RESOLVE_FALLBACK_NAMES_H
#define CPROF_RESOLVE_FALLBACK_NAMES_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/go/gonames.h"
#include "common/stream/record.h"

struct fallback_names;

struct fallback_names_hit {
	enum name_source source; /* NAME_GO or NAME_BOUNDS */
	uint64_t start;          /* the function's linked address */
	struct slice name;       /* only for NAME_GO; lent by the table */
	uint32_t *tag;           /* a number that the caller may keep with the function; initially 0 */
};

/* Sets *m to NULL if there is nothing. bounds: read .eh_frame, too. Returns false if out of memory. */
bool fallback_names_open(const struct elf_file *f, bool bounds, struct fallback_names **m);
void fallback_names_free(struct fallback_names *m);
/* Finds the function that contains the linked address. Returns false if there is none; m may be NULL. */
bool fallback_names_find(struct fallback_names *m, uint64_t vaddr, struct fallback_names_hit *hit);
/* Appends the function's text; path is the path of its file. */
void fallback_names_text(const struct fallback_names_hit *hit, struct slice path, struct buf *out);
/* Returns Go's table, for inlined calls; NULL if there is none. Lent. */
struct gonames *fallback_names_go(const struct fallback_names *m);
/* Returns the better kind of name that it has, or NAME_NONE. m may be NULL. */
enum name_source fallback_names_kind(const struct fallback_names *m);
size_t fallback_names_bytes(const struct fallback_names *m);

#endif
