/*
 * Symbols on their way to becoming intervals, for this room only.
 */
#ifndef CPROF_ELF_CANDIDATE_H
#define CPROF_ELF_CANDIDATE_H

#include "common/elf/elffile.h"

enum { STRING_TABLES_MAX = 8 };

struct candidate {
	uint64_t start, end; /* the same: without a size */
	uint64_t limit;      /* end of its section */
	uint32_t name;
	uint8_t table;       /* its string table */
	uint8_t origin;      /* enum symbol_origin */
	uint8_t rank;        /* lower is better */
};

struct string_table {
	char *bytes; /* with a NUL behind them */
	size_t n;
};

struct candidates {
	struct candidate *items;
	size_t n, cap;
	struct string_table tables[STRING_TABLES_MAX];
	size_t n_tables;
};

void candidates_release(struct candidates *c);
/* Keeps the string tables. */
void candidates_drop_items(struct candidates *c);
bool candidates_add(struct candidates *c, const struct candidate *one);
/* Takes the bytes over; there is a NUL behind them. */
bool candidates_add_strings(struct candidates *c, char *bytes, size_t n, uint8_t *table);
/* NULL where the offset is beyond the table. */
const char *candidates_string(const struct candidates *c, uint8_t table, uint32_t offset);
/* By start; at one start labels, then larger before smaller, then worse before better. */
bool candidates_sort(struct candidates *c);
/* plt.c: the stubs of the procedure linkage table; strings is that of .dynsym. False without memory. */
bool candidates_add_plt(struct candidates *c, const struct elf_file *f, uint8_t strings);

#endif
