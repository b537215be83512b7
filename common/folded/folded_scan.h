/*
 * Lines of folded text, split into stack and count.
 *
 *	struct folded_scan s;
 *
 *	if (!folded_scan_init(&s, fd, taken)) ...out of memory...
 *	while ((got = folded_scan_next(&s, &stack, &count)) > 0)
 *		...stack is the text before the count, names unchanged...
 *	if (got < 0) ...errno...
 *	if (s.bad)		// number of bad lines; see s.first_bad, s.why
 *	folded_scan_release(&s);
 *
 * The count must be digits after the last space or tab. CR LF counts as LF; empty lines and a last line
 * without LF are accepted, and a UTF-8 byte order mark is skipped. A line beyond FOLDED_LINE_MAX bytes is
 * bad.
 */
#ifndef CPROF_FOLDED_FOLDED_SCAN_H
#define CPROF_FOLDED_FOLDED_SCAN_H

#include "common/base/buf.h"

enum { FOLDED_LINE_MAX = 4 << 20 };

struct folded_scan {
	int fd;
	uint64_t lines, bad, first_bad; /* lines read, lines rejected, number of the first one */
	const char *why;                /* why the first one was rejected; a constant */
	/*
	 * "a;b 5 6" may be the function "b 5", or two columns of a comparison. It is a comparison if every
	 * line ends in two numbers after blanks and some stack has more than one frame. single: some line did
	 * not; frames: some did.
	 */
	bool single, frames;
	bool both;       /* set by a caller that knows it is a comparison: lines with one number are bad */
	uint64_t halves; /* with both: lines with one number */
	uint64_t before; /* with both: the first count of the line returned last */
	/* Bytes [at, n) have not been used. */
	uint8_t *in;
	size_t at, n, cap;
	bool eof;
};

/* taken: bytes that were already read from fd. Returns false if out of memory. */
bool folded_scan_init(struct folded_scan *s, int fd, struct slice taken);
void folded_scan_release(struct folded_scan *s);
/* Returns 1: a line, valid until the next call, with a non-empty stack; 0: the end; -1: see errno. */
int folded_scan_next(struct folded_scan *s, struct slice *stack, uint64_t *count);
/* Counts the line returned last as a bad one after all. */
void folded_scan_bad(struct folded_scan *s, const char *why);
/* Returns whether the text was a comparison; call it at the end. */
bool folded_scan_two_columns(const struct folded_scan *s);
/* Returns whether the whole lines of these first bytes look like a comparison. */
bool folded_scan_looks_compared(struct slice start);

#endif
