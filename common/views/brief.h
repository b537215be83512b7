/*
 * A brief: a text in Markdown of sections and lines, as much of it as a budget of bytes holds.
 *
 *	struct brief b = { .budget = 4000 };
 *
 *	brief_title(&b, "# cprof-top: 114 samples");
 *	brief_section(&b, "Where the time went");
 *	brief_line(&b, 2, "| 7 | 6.14 | `%s` |", name);
 *	...
 *	brief_write(&b, &out);		// *out: at most budget bytes
 *	brief_release(&b);
 *
 * Lines with a lower priority number are chosen first, those of one priority in their order. A section's
 * lines after one that does not fit are left out, and it says how many. The result depends on the lines
 * alone.
 */
#ifndef CPROF_VIEWS_BRIEF_H
#define CPROF_VIEWS_BRIEF_H

#include "common/base/buf.h"

enum {
	BRIEF_SECTIONS = 8,
	BRIEF_TITLE = 160, /* bytes; a longer title is cut */
	BRIEF_LEAST = 200, /* the least budget */
	BRIEF_NAME = 120,  /* bytes of a name in brief_name; longer ones lose their middle */
};

struct brief {
	size_t budget;
	struct buf title;
	struct brief_section {
		const char *title;
		struct buf head; /* precedes the first line, as the head of a table does */
		size_t lines, chosen, bytes;
		bool full;
	} sections[BRIEF_SECTIONS];
	size_t n_sections;
	struct brief_line {
		size_t section, priority, end; /* end: in text */
		bool chosen;
	} *lines;
	size_t n, cap;
	struct buf text;
	bool failed; /* out of memory */
};

void brief_title(struct brief *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Begins a section; head: see above, or NULL. The title must outlive the brief. */
void brief_section(struct brief *b, const char *title, const char *head);
/* Adds a line to the last section. It has no newline at its end. */
void brief_line(struct brief *b, size_t priority, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Appends a name as code that Markdown shows as it is, also in a table. */
void brief_name(struct buf *out, struct slice name);
/* Appends a text as code, whole and unchanged but for control characters; not for tables. */
void brief_code(struct buf *out, struct slice text);
/* Appends an argument as a POSIX shell reads it. */
void brief_quote(struct buf *out, struct slice argument);
/* Writes the chosen lines. Check b->failed and out->failed afterwards. */
void brief_write(struct brief *b, struct buf *out);
void brief_release(struct brief *b);

#endif
