/*
 * Reads captures for the weight of source lines.
 *
 *	struct line_input in;
 *	struct line_sums sums;
 *
 *	line_input_begin(&in, &filters.view, &files);
 *	...operand_read(&filters, path, &in.taker, ...), or filters.also = &in.taker and operand_load...
 *	line_input_sum(&in, &filters, &sums);
 *	...
 *	line_sums_release(&sums);
 *	line_input_end(&in);
 *
 * All functions exit if out of memory.
 */
#ifndef CPROF_CMD_LINE_INPUT_H
#define CPROF_CMD_LINE_INPUT_H

#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"
#include "cmd/shared/symbol_files.h"
#include "common/annotate/line_sums.h"
#include "common/export/collect.h"

struct line_input {
	struct operand_taker taker;
	struct collect collect;
	struct traces traces;
	struct line_files files;
	struct gather_modules modules;
	const struct view *from; /* the command's */
	struct view view;
};

/* The view and the files are lent until line_input_end. *in must not move. */
void line_input_begin(struct line_input *in, const struct view *view, const struct symbol_files *files);
/* Call it once, after the last operand. --match, --focus and --exclude choose among the stacks. */
void line_input_sum(struct line_input *in, const struct filters *f, struct line_sums *sums);
void line_input_end(struct line_input *in);

#endif
