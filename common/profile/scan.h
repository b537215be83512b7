/*
 * Lines of folded text, taken apart into stack and count.
 *
 *	struct scan s;
 *
 *	if (!scan_init(&s, fd, taken)) ...out of memory...
 *	while ((got = scan_next(&s, &stack, &count)) > 0)
 *		...stack is the text before the count, names as they stand there...
 *	if (got < 0) ...errno...
 *	if (s.bad)		// so many lines made no sense: s.first_bad, s.why
 *	scan_release(&s);
 *
 * Strict about the count: digits after the last space or tab. CR LF is taken for LF; empty lines and a last line
 * without LF are taken, and a UTF-8 byte order mark is passed over. A line beyond SCAN_LINE_MAX is bad.
 */
#ifndef CPROF_PROFILE_SCAN_H
#define CPROF_PROFILE_SCAN_H

#include "common/base/buf.h"

enum { SCAN_LINE_MAX = 4 << 20 };

struct scan {
	int fd;
	uint64_t lines, bad, first_bad; /* lines read, lines left out, number of the first one */
	const char *why;                /* of the first one */
	/*
	 * "a;b 5 6" may be the function "b 5", or the two columns of a comparison: so it is where every line ends in two
	 * numbers after blanks and some stack has more than one frame. This is what has been seen so far.
	 */
	bool single, frames;
	bool both;       /* set by who knows that it is: lines with one number are bad */
	uint64_t halves; /* and so many there were */
	uint64_t before; /* then the first one of the line given last */
	/* Bytes [at, n) have not been used. */
	uint8_t *in;
	size_t at, n, cap;
	bool eof;
};

/* taken: bytes that were read from fd already. False without memory. */
bool scan_init(struct scan *s, int fd, struct slice taken);
void scan_release(struct scan *s);
/* 1: a line, good until the next call, with a stack that is not empty; 0: the end; -1: see errno. */
int scan_next(struct scan *s, struct slice *stack, uint64_t *count);
/* The line that was given last is a bad one after all. */
void scan_bad(struct scan *s, const char *why);
/* At the end: is this a comparison? */
bool scan_two_columns(const struct scan *s);
/* And is it one as far as whole lines of these first bytes tell? */
bool scan_looks_compared(struct slice start);

#endif
