/*
 * Symbols on their way to becoming intervals, for this room only.
 */
#ifndef CPROF_ELF_CANDIDATE_H
#define CPROF_ELF_CANDIDATE_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/elf/mapped.h"

enum { STRING_TABLES_MAX = 8, CANDIDATES_AHEAD = 12 };

struct candidate {
	uint64_t start;
	uint64_t end;        /* of a label: of its section, as far as it may reach */
	uint32_t name;       /* where it stands in its string table */
	uint8_t table;       /* its string table */
	uint8_t origin;      /* enum symbol_origin */
	uint8_t rank;        /* lower is better */
	bool label : 1;      /* it has no size */
	bool indirect : 1;   /* it chooses the function that is meant by its name */
};

/* Checksums are of pieces and not of names: a pass over the table costs a tenth of one over its names in any order. */
struct string_table {
	struct mapped bytes;
	uint32_t *sums; /* of each piece as it was when the table was added; NULL: the bytes are our own */
};

struct candidates {
	struct candidate *items;
	size_t n, cap;
	uint64_t *order; /* once they are sorted: the lower half of each is the number of an item */
	uint64_t *spare; /* as many, of no use any more: memory that need not be asked for again */
	struct string_table tables[STRING_TABLES_MAX];
	size_t n_tables;
};

void candidates_release(struct candidates *c);
/* Keeps the string tables. */
void candidates_drop_items(struct candidates *c);
/* Not one without a name. False without memory. */
bool candidates_add(struct candidates *c, const struct candidate *one);
/* Takes the bytes over, which are from malloc. */
bool candidates_add_strings(struct candidates *c, char *bytes, size_t n, uint8_t *table);
/* The same for a part of a file. */
bool candidates_add_mapped(struct candidates *c, struct mapped *strings, uint8_t *table);
/*
 * The name that stands there: up to its NUL, the table's end or SYMBOL_NAME_MAX bytes. Empty where the offset
 * is beyond the table. In a mapped table its bytes may become others at any time, in another place or not.
 */
struct slice candidates_string(const struct candidates *c, uint8_t table, uint32_t offset);
/*
 * Replaces what is in out by that name as it was when its table was added. False: it is not known any more, or no
 * memory (out->failed).
 */
bool candidates_copy(const struct candidates *c, uint8_t table, uint32_t offset, struct buf *out);
size_t candidates_bytes(const struct candidates *c);
/* Without a version: "@@GLIBC_2.4". */
struct slice candidates_bare(struct slice name);
/* Makes room for so many more. */
bool candidates_reserve(struct candidates *c, size_t n);
static inline uint32_t candidates_at(const struct candidates *c, size_t i)
{
	return (uint32_t)c->order[i];
}
/*
 * The one that many further on in the order will be read soon. In a function of its own that does nothing
 * but this, gcc would leave out the call as one without effect.
 */
static inline __attribute__((always_inline)) void candidates_expect(const struct candidates *c, size_t i)
{
	if (i + CANDIDATES_AHEAD < c->n)
		__builtin_prefetch(&c->items[candidates_at(c, i + CANDIDATES_AHEAD)]);
}
/* By start; at one start labels, then larger before smaller, then worse before better. */
bool candidates_sort(struct candidates *c);
/*
 * plt.c: the stubs of the procedure linkage table; strings is that of .dynsym, if there is one. To be called behind the file's
 * symbols, by which stubs of indirect functions are named. False without memory.
 */
bool candidates_add_plt(struct candidates *c, const struct elf_file *f, uint8_t strings, bool dynamic);

#endif
