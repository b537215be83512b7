/*
 * The parts of cprof-annotate: main.c reads, source.c and assembly.c show a function, sheet.c writes.
 */
#ifndef CPROF_ANNOTATE_CMD_ANNOTATE_H
#define CPROF_ANNOTATE_CMD_ANNOTATE_H

#include "cmd/shared/line_input.h"
#include "common/annotate/source_block.h"

/* The output: text, or a page. Units are written as the view has them. */
struct sheet {
	bool html, colour, in_table;
	uint64_t sum; /* the samples that are 100 % */
	const char *unit;
	struct buf out;
};

/* One row of a table. */
struct sheet_row {
	bool weighs;		    /* self and total are written */
	uint64_t self, total, most; /* most: the largest self or total of the table, for colours */
	const char *label;	    /* line or address */
	struct slice text;
	bool source;  /* among instructions: a line of the source */
	bool by_self; /* colours are by self, not by total */
};

void sheet_begin(struct sheet *s, const char *title);
void sheet_title(struct sheet *s, struct slice name, struct slice module, uint64_t self, uint64_t total);
/* A paragraph of plain text; control characters are escaped. */
void sheet_note(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sheet_table(struct sheet *s, const char *label);
/* Begins a table of functions. */
void sheet_functions(struct sheet *s);
void sheet_row(struct sheet *s, const struct sheet_row *row);
void sheet_gap(struct sheet *s);
/* Ends the table, if one is open. */
void sheet_table_end(struct sheet *s);
/* Writes everything to standard output. */
void sheet_end(struct sheet *s);

struct annotate {
	struct line_sums sums;
	struct line_files *files;
	struct source_rules rules;
	struct sheet sheet;
	uint32_t context;
	bool assembly;
	const char *objdump;
	uint64_t started; /* seconds since 1970 of the first capture; 0: unknown */
};

/* Shows the source lines of function i. */
void annotate_source(struct annotate *a, size_t i);
/* Shows the instructions of function i. Exits if they cannot be disassembled because objdump is missing. */
void annotate_assembly(struct annotate *a, size_t i);

/* An instruction, or a part of one. */
struct instruction {
	uint64_t address; /* as linked */
	size_t text, n;	  /* in the text of the list */
};

struct instructions {
	struct instruction *items;
	size_t n, cap;
	struct buf text, error; /* error: why there are none; empty: no failure */
	bool missing;		/* the program does not exist */
};

/* Disassembles [from, to) of the open file fd by the program, which is objdump. */
void instructions_read(struct instructions *list, const char *program, int fd, uint64_t from, uint64_t to);
void instructions_release(struct instructions *list);

#endif
