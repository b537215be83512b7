/*
 * Folded text: `frame;frame;frame COUNT`, outermost frame first, one stack a line.
 *
 *	struct folded_reader r;
 *
 *	folded_reader_init(&r, fd, taken, &profile, 0);
 *	got = folded_read(&r);		// adds every good line to the profile
 *	if (got < 0) ...errno...
 *	if (r.bad)			// so many lines made no sense: r.first_bad, r.why
 *	folded_reader_release(&r);
 *
 * The reader is strict about the count (digits after the last space) and forgiving about names: what
 * the writer would not write is replaced as label.h says. It takes CR LF for LF, empty lines and a
 * last line without LF, and passes over a UTF-8 byte order mark. A line beyond FOLDED_LINE_MAX is bad.
 *
 * "a;b 5 6" may be the function "b 5", or the two columns of a comparison. It is the latter where every
 * line ends in two numbers and some stack has more than one frame: nothing is added then, unless both was set
 * before reading: then each line is read so, and those with one number are bad.
 *
 * The writer gives lines sorted by the bytes of their stacks, each stack once.
 *
 *	struct folded_writer w;
 *	struct slice line;
 *
 *	if (!folded_writer_init(&w, &profile, 1)) ...out of memory...
 *	while (folded_writer_next(&w, &line))
 *		fwrite(line.p, 1, line.n, stdout);
 *	folded_writer_release(&w);	// w.line.failed: out of memory
 */
#ifndef CPROF_PROFILE_FOLDED_H
#define CPROF_PROFILE_FOLDED_H

#include "common/profile/profile.h"

enum { FOLDED_LINE_MAX = 4 << 20 };

struct folded_reader {
	int fd;
	struct profile *p;
	unsigned int side;
	bool root_only;     /* count by root frame */
	bool both;          /* two counts a line, the first one of side, the second one of the other */
	const char **roots; /* where n_roots: only stacks with one of these root frames */
	size_t n_roots;
	uint64_t lines, bad, first_bad; /* lines read, lines left out, number of the first one */
	const char *why;                /* of the first one */
	uint64_t samples;               /* weight added */
	bool two_columns;               /* of a comparison: nothing was added */

	/* Where lines go: to held while all of them end in two numbers, and then to p. */
	struct profile *into, held;
	bool frames; /* some stack has more than one */
	uint8_t *in; /* bytes [at, n) have not been used; [0, at) is kept for the stack before */
	size_t at, n, cap;
	bool eof;
	/* The stack before, as far as a line is likely to share it: text, and where each frame ends. */
	struct slice last;
	struct folded_step {
		size_t end;    /* bytes of the stack up to the end of this frame */
		uint32_t node;
	} *steps;
	size_t n_steps, cap_steps;
	uint32_t *labels;
	size_t cap_labels;
	struct buf text;
};

/* taken: bytes that were read from fd already. False without memory. */
bool folded_reader_init(struct folded_reader *r, int fd, struct slice taken, struct profile *p,
			unsigned int side);
/* 0: all was read. -1: the system failed, see errno (ENOMEM too). */
int folded_read(struct folded_reader *r);
void folded_reader_release(struct folded_reader *r);

/* Do these first bytes of an input look like folded text, rather than a stream or another binary? */
bool folded_looks_like(struct slice start);
/* And does each line that is whole in them have two counts, and some of them a stack of more than one frame? */
bool folded_looks_compared(struct slice start);

struct folded_writer {
	const struct profile *p;
	unsigned int columns;
	uint32_t *rank; /* of each name followed by a count, and followed by `;` */
	struct folded_entry {
		uint32_t rank, node;
		bool below; /* what lies below the node; else its own weight */
	} *entries; /* of the nodes that lead to the line; those of the innermost one are last */
	size_t n_entries, cap_entries;
	struct folded_level {
		size_t first, next, end; /* in entries */
		size_t length;           /* of the text up to here, with `;` */
	} *levels;
	size_t n_levels, cap_levels;
	struct buf line;
	uint32_t node; /* whose line was given last */
};

/* columns: 1 prints side 0, 2 both. False without memory. The profile must not change meanwhile. */
bool folded_writer_init(struct folded_writer *w, const struct profile *p, unsigned int columns);
/* The next line, with its LF, good until the next call; false at the end, and without memory. */
bool folded_writer_next(struct folded_writer *w, struct slice *line);
void folded_writer_release(struct folded_writer *w);

#endif
