/*
 * Line tables of DWARF 2 to 5, for this room only: one table's files, and its rows in the order of addresses.
 */
#ifndef CPROF_DWARF_TABLE_H
#define CPROF_DWARF_TABLE_H

#include "common/base/cursor.h"

/* The addresses where code can be. None: anywhere but where linkers put what they threw out. */
struct code_range {
	uint64_t start, end;
};

struct code {
	struct code_range *items; /* sorted */
	size_t n;
};

/* The end of the code that this address lies in; 0: it lies in none. */
uint64_t code_end(const struct code *code, uint64_t address);

/* The sections that a table may need, whole. */
struct line_sections {
	struct slice line, line_str, str;
};

struct line_file {
	struct slice directory, name;
	bool compilers; /* the directory is the compiler's own, and where it is "" that is to be put there */
};

enum { ROW_GAP = UINT32_MAX };

struct line_row {
	uint64_t start; /* it reaches to the next row's */
	uint32_t file;  /* ROW_GAP: no code here */
	uint32_t line;
};

/* A run of rows in which addresses do not fall. */
struct line_sequence {
	uint64_t start, end;
	size_t first, n; /* rows */
};

/* Memory to work in, for all tables of a file; begins as zeros. */
struct line_scratch {
	struct line_row *rows; /* of all sequences that count, in the program's order */
	size_t n, cap;
	struct line_sequence *sequences;
	size_t n_sequences, cap_sequences;
};

struct line_table {
	struct line_file *files; /* by DWARF's own number, so that item 0 is empty before version 5 */
	size_t n_files, cap_files;
	struct line_row *rows; /* the last one is a gap */
	size_t n_rows;
};

/*
 * Reads the table at this offset, and its rows only where code is given. What is damaged ends the
 * table; what was read before stands. False without memory.
 */
bool line_table_read(struct line_table *t, const struct line_sections *s, uint64_t offset, const struct code *code,
		     struct line_scratch *scratch);
void line_table_release(struct line_table *t);
void line_scratch_release(struct line_scratch *s);
size_t line_scratch_bytes(const struct line_scratch *s);

#endif
