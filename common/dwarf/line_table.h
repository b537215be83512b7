/*
 * Reads line tables of DWARF 2 to 5: a table's files, and its rows sorted by address. Internal to
 * common/dwarf.
 *
 * Source: DWARF 5, sections 6.2 and 7.22.
 */
#ifndef CPROF_DWARF_LINE_TABLE_H
#define CPROF_DWARF_LINE_TABLE_H

#include "common/base/cursor.h"

/*
 * Limits of one table, so that a few bytes cannot claim gigabytes. A row takes one byte in the file, and so
 * does a file name. Real tables have fewer than a million rows.
 */
#ifdef FUZZING /* fuzzed files are small */
enum { LINE_TABLE_BYTES_MAX = 1 << 12, LINE_TABLE_FILES_MAX = 64 };
#else
enum { LINE_TABLE_BYTES_MAX = 1 << 27, LINE_TABLE_FILES_MAX = 1 << 20 };
#endif

enum { LINES_TEXT_MAX = 8192 }; /* bytes of a name or path; longer names are cut, longer paths left out */

/*
 * Sets *text to the one at p, before end, or to its first LINES_TEXT_MAX bytes: a file may refer to one long
 * text a million times. Returns false if it has no end.
 */
bool text_at(const uint8_t *p, const uint8_t *end, struct slice *text);

/* The addresses where code can be. If empty: anywhere but where linkers put discarded code. */
struct code_range {
	uint64_t start, end;
};

struct code {
	struct code_range *items; /* sorted */
	size_t n;
};

/* Returns the end of the code range that contains this address, or 0. */
uint64_t code_end(const struct code *code, uint64_t address);

/* The whole sections that a table may refer to. */
struct line_sections {
	struct slice line, line_str, str;
};

struct line_file {
	struct slice directory, name;
	bool compilers; /* the directory is the compiler's own; if "", use the unit's DW_AT_comp_dir */
};

enum { ROW_GAP = UINT32_MAX };

struct line_row {
	uint64_t start; /* the row reaches to the start of the next one */
	uint32_t file;  /* index in files; ROW_GAP: no code here */
	uint32_t line;
};

/* A sequence of rows with ascending addresses. */
struct line_sequence {
	uint64_t start, end;
	size_t first, n; /* range in rows */
};

/* Working memory, shared by all tables of a file. Starts zeroed. */
struct line_scratch {
	struct line_row *rows; /* rows of all sequences kept, in the order of the line program */
	size_t n, cap;
	struct line_sequence *sequences;
	size_t n_sequences, cap_sequences;
};

struct line_table {
	struct line_file *files; /* by DWARF's file number; item 0 is empty before version 5 */
	size_t n_files, cap_files;
	struct line_row *rows; /* the last row is a gap */
	size_t n_rows;
	uint64_t work; /* bytes decoded */
	bool cut;      /* a limit was reached, and the rest left out */
};

/*
 * Reads the table at this offset, and its rows unless code is NULL. t starts zeroed, and its texts point into
 * the sections. Damage, or a limit, ends the table, but everything read before it stays. Returns false if out
 * of memory.
 */
bool line_table_read(struct line_table *t, const struct line_sections *s, uint64_t offset, const struct code *code,
		     struct line_scratch *scratch);
void line_table_release(struct line_table *t);
void line_scratch_release(struct line_scratch *s);
size_t line_scratch_bytes(const struct line_scratch *s);

#endif
