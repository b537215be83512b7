/*
 * The sources of a page's functions, as a block that its script reads (page/source.js).
 *
 *	struct buf block = { 0 };
 *
 *	if (!source_block_append(&block, &sums, &rules)) ...out of memory...
 *
 * All numbers are varints. A text is its length and its bytes.
 *
 *	head        sum of all samples, number of functions; then for each:
 *	function    name, module, self, total, number of files; then for each:
 *	file        path, note (why there is no text, or a caution; empty: none), number of rows; then for
 *each: row         line (0: code without a line), flags (1: it has samples, 2: lines were left out before),
 *with 1 self and total; text
 *
 * Only functions with at least SOURCE_SHARE of the samples are in it, those with the most samples first, and
 * only their lines around those with samples. Functions that would make it larger than SOURCE_BLOCK_MOST are
 * left out.
 */
#ifndef CPROF_ANNOTATE_SOURCE_BLOCK_H
#define CPROF_ANNOTATE_SOURCE_BLOCK_H

#include "common/annotate/excerpt.h"

enum { SOURCE_SHARE = 200, SOURCE_BLOCK_MOST = 2 << 20, SOURCE_FUNCTIONS_MOST = 500, SOURCE_CONTEXT = 5 };

/* Returns false if out of memory. The rules say that the text is published. */
bool source_block_append(struct buf *out, struct line_sums *sums, const struct source_rules *rules);
/* Appends a note about a source, as a sentence without an end; nothing if all is well. started: of the
 * capture. */
void source_note_append(struct buf *out, const struct excerpt *e, const struct source_text *text,
			enum source_text_result why, const struct source_origin *origin,
			const struct code_origin *code, int64_t started);

#endif
