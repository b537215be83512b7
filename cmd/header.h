/*
 * What captures say about themselves, as lines of a label and a text: above cprof-top's tables, and wherever
 * else a view of them is shown.
 *
 *	struct header h = { 0 };
 *
 *	header_make(&h, &loaded, &reasons, false);
 *	for (i = 0; i < h.n; i++)
 *		...h.lines[i].label, "Samples" say, and h.lines[i].text...
 *	header_release(&h);
 *
 * A line is left out where the captures do not hold the facts, and of folded text there is none at all.
 */
#ifndef CPROF_CMD_HEADER_H
#define CPROF_CMD_HEADER_H

#include "cmd/filters.h"
#include "cmd/operand.h"
#include "common/profile/reason.h"

struct header_line {
	const char *label; /* without a colon; "": it goes on with what the line above is about */
	char *text;
};

/* All zero to begin with. */
struct header {
	struct header_line *lines;
	size_t n, cap;
};

/*
 * Appends the lines; ends the program without memory. reasons: sorted, or NULL, why innermost frames have no
 * name; the first few of them unless all are asked for.
 */
void header_make(struct header *h, const struct loaded *l, const struct reasons *reasons, bool all);
/* One line more. */
void header_add(struct header *h, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "Samples:    4 in 2.50 s", each with its newline. */
void header_print(const struct header *h, struct buf *out);
void header_release(struct header *h);

/* 100 times part of whole; 0 of nothing. */
double header_percent(uint64_t part, uint64_t whole);

#endif
