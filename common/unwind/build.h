/*
 * Builds unwind tables from files: .eh_frame, .debug_frame, .gopclntab; and from the .eh_frame of generated
 * code in jitdump files.
 *
 *	struct unwind_table t;
 *
 *	if (unwind_build(f, &t) == UNWIND_BUILT)	// f of elf_open()
 *		unwind_table_write(&t, &bytes);		// to another process
 *	unwind_table_release(&t);
 *
 * Files are untrusted: every length is checked before use, and time and memory are bounded by the file's
 * size. An error in one function's entry costs that function its rows (they become UNWIND_BAD), not the file
 * its table.
 *
 * Sources: System V ABI AMD64 3.7, LSB 5.0 core 10.6 (.eh_frame), DWARF 5 6.4, Go's runtime/symtab.go.
 */
#ifndef CPROF_UNWIND_BUILD_H
#define CPROF_UNWIND_BUILD_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/unwind/rule.h"

/* A zeroed object is an empty table. */
struct unwind_table {
	struct unwind_rule *rules; /* each once; a row's rule is an index here */
	uint32_t *rows;
	struct unwind_page *pages; /* first is an index in rows */
	size_t n_rules, n_rows, n_pages;
	uint64_t first_page; /* pages[0] is this page of the file: file offset >> UNWIND_PAGE_SHIFT */
	size_t functions, bad; /* entries read; those of them that could not be read or expressed */
};

enum unwind_built {
	UNWIND_BUILT = 0,
	UNWIND_NOTHING = 1, /* the file has no such information, or is of another architecture */
	UNWIND_DAMAGED = 2,
	UNWIND_NO_MEMORY = 3,
	UNWIND_TOO_LARGE = 4, /* more pages, rows or rules than a table may have */
};

enum {
	UNWIND_TABLE_PAGES = 1 << 16, /* 4 GiB of text in one file */
	UNWIND_TABLE_ROWS = 1 << 25,
	UNWIND_TABLE_RULES = 1 << 14, /* more than all files of a disk need: only a hostile file has more */
	UNWIND_CODES_SPAN = 1 << 29,  /* V8 has 512 MiB for its code, and others less */
};

/* Builds the table of f, which is only read. The table is empty unless the result is UNWIND_BUILT. */
enum unwind_built unwind_build(struct elf_file *f, struct unwind_table *t);
void unwind_table_release(struct unwind_table *t);

/*
 * Appends a piece of code without a file to the bytes that unwind_build_codes reads, the newest piece
 * first. An empty eh_frame only hides older code at these addresses. Otherwise eh_frame's address is the
 * end of the code, rounded up to 8 (perf's tools/perf/util/genelf.c).
 */
void unwind_codes_add(struct buf *out, uint64_t address, uint64_t size, struct slice eh_frame);
/*
 * Builds one table of all pieces, whose "file offsets" are addresses. If these are far apart, it has only
 * those of the UNWIND_CODES_SPAN bytes with the most pieces. The compiler may have written anything, or may
 * have replaced the code since: all rules are UNWIND_FROM_CODE, and other kinds of rules are left out.
 */
enum unwind_built unwind_build_codes(struct slice codes, struct unwind_table *t);

/*
 * Returns the rule at this file offset, with runs resolved: PUSHES and POPS become CFA_RSP. Returns
 * UNWIND_GAP if the table has none. For tests: does in one call what the walk does in steps.
 */
struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t offset);

/*
 * Converts a table to bytes and back. Reading checks every index, because the bytes may come from a process
 * that failed. unwind_table_read returns false, and an empty table, if bytes are invalid or memory is out.
 */
void unwind_table_write(const struct unwind_table *t, struct buf *out);
bool unwind_table_read(struct unwind_table *t, struct slice bytes);

#endif
