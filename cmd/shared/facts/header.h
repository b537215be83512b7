/*
 * The summary of captures as lines of a label and a text, shown above cprof-top's tables.
 *
 *	struct header h = { 0 };
 *
 *	struct header_want want = { .view = &view, .reasons = &reasons, .states = &states, .share = 1 };
 *
 *	header_make(&h, &loaded, &want);
 *	for (i = 0; i < h.n; i++)
 *		...h.lines[i].label, for example "Samples" or NULL, and h.lines[i].text...
 *	header_release(&h);
 *
 * A line is omitted if the captures lack its facts. Folded text alone has no lines.
 */
#ifndef CPROF_CMD_HEADER_H
#define CPROF_CMD_HEADER_H

#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"
#include "common/gather/reason.h"

struct header_line {
	const char *label; /* without a colon; "": continues the line above; NULL: the text is all */
	char *text;
};

/* All zero to begin with. The texts are owned, the labels are not. */
struct header {
	struct header_line *lines;
	size_t n, cap;
};

/* The parts of a header that a command wants. */
struct header_want {
	const struct view *view;
	bool verbose; /* all lines; otherwise the first two, and those about data that is missing */
	bool window;  /* for a window of time: the first line is the caller's, few samples are normal */
	double share; /* see summary_append */
	/* Why innermost frames have no name, sorted, or NULL. states: for frames of languages, by process. */
	const struct reasons *reasons, *states;
	const char *filters; /* the options that selected samples, as text; NULL or "": none */
};

/* Appends the lines; exits if out of memory. */
void header_make(struct header *h, const struct loaded *l, const struct header_want *want);
/* Appends one line. The label must outlive the header. */
void header_add(struct header *h, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Appends each line as "Samples:    4 in 2.50 s" with a newline. */
void header_print(const struct header *h, struct buf *out);
void header_release(struct header *h);

/* Returns part as a percentage of whole; 0 if whole is 0. */
double header_percent(uint64_t part, uint64_t whole);

#endif
