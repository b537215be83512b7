/*
 * Candidates: the symbols of a file before they become disjoint intervals. Internal to common/symbols.
 */
#ifndef CPROF_SYMBOLS_CANDIDATE_H
#define CPROF_SYMBOLS_CANDIDATE_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/elf/mapped.h"

enum { STRING_TABLES_MAX = 8, CANDIDATES_AHEAD = 12 };

struct candidate {
	uint64_t start;
	uint64_t end;        /* if unsized, the end of its section: it reaches no further */
	uint32_t name;       /* offset in the string table */
	uint8_t table;       /* index of the string table */
	uint8_t origin;      /* enum symbol_origin */
	uint8_t rank;        /* lower is better */
	bool unsized : 1;    /* it has no size in the table */
	bool indirect : 1;   /* a resolver (GNU_IFUNC), which chooses the function that its name means */
};

/* Checksums cover pieces, not names: a pass over the table costs a tenth of one over its names. */
struct string_table {
	struct mapped bytes;
	uint32_t *sums; /* checksum of each piece when the table was added; NULL: the bytes are a copy */
};

struct candidates {
	struct candidate *items;
	size_t n, cap;
	uint64_t *order; /* once sorted: the lower 32 bits of each are the index of an item */
	uint64_t *spare; /* an array of the same size that the sort left, kept to save an allocation */
	struct string_table tables[STRING_TABLES_MAX];
	size_t n_tables;
};

void candidates_release(struct candidates *c);
/* Frees the items and keeps the string tables. */
void candidates_drop_items(struct candidates *c);
/* Adds a candidate, unless it has no name. Returns false if out of memory. */
bool candidates_add(struct candidates *c, const struct candidate *one);
/* Adds a string table and takes over its malloc'd bytes. Returns false if out of memory or tables. */
bool candidates_add_strings(struct candidates *c, char *bytes, size_t n, uint8_t *table);
/* Like candidates_add_strings for a part of a file. */
bool candidates_add_mapped(struct candidates *c, struct mapped *strings, uint8_t *table);
/*
 * Returns the name at an offset: up to its NUL, the table's end or SYMBOL_NAME_MAX bytes. Empty if the offset
 * is beyond the table. In a mapped table the bytes may change at any time.
 */
struct slice candidates_string(const struct candidates *c, uint8_t table, uint32_t offset);
/*
 * Replaces the contents of out by that name as it was when its table was added. Returns false if the file has
 * changed there since, or if out of memory (out->failed).
 */
bool candidates_copy(const struct candidates *c, uint8_t table, uint32_t offset, struct buf *out);
/* Returns about how many bytes of memory the string tables hold. */
size_t candidates_bytes(const struct candidates *c);
/* Returns the name without a version such as "@@GLIBC_2.4". */
struct slice candidates_bare(struct slice name);
/* Makes room for n more items. Returns false if out of memory. */
bool candidates_reserve(struct candidates *c, size_t n);
/* Returns the index of the i-th item in sorted order. */
static inline uint32_t candidates_at(const struct candidates *c, size_t i)
{
	return (uint32_t)c->order[i];
}
/*
 * Prefetches the item that is CANDIDATES_AHEAD further on in the order. Always inline: gcc would drop a call
 * to a function that only prefetches as one without effect.
 */
static inline __attribute__((always_inline)) void candidates_expect(const struct candidates *c, size_t i)
{
	if (i + CANDIDATES_AHEAD < c->n)
		__builtin_prefetch(&c->items[candidates_at(c, i + CANDIDATES_AHEAD)]);
}
/*
 * Sorts by start; at the same start unsized ones first, then larger before smaller, then worse before better.
 * Returns false if out of memory.
 */
bool candidates_sort(struct candidates *c);
/*
 * Adds the stubs of the procedure linkage table (plt.c). strings is the string table of .dynsym, if dynamic
 * says that there is one. Call it after adding the file's symbols, because these name the stubs of indirect
 * functions. Returns false if out of memory.
 */
bool candidates_add_plt(struct candidates *c, const struct elf_file *f, uint8_t strings, bool dynamic);

#endif
