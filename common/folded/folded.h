/*
 * Folded text: `frame;frame;frame COUNT`, outermost frame first, one stack a line.
 *
 *	struct folded_reader r;
 *
 *	folded_reader_init(&r, fd, taken, &profile, 0);
 *	got = folded_read(&r);		// adds every good line to the profile
 *	if (got < 0) ...errno...
 *	if (r.scan.bad)			// number of bad lines; see r.scan.first_bad, r.scan.why
 *	folded_reader_release(&r);
 *
 * folded_scan.h defines the lines that are accepted. Names that the writer would not write are replaced as sanitize.h
 * says. If the text proves to be the two columns of a comparison, nothing is added, unless both was set.
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
#ifndef CPROF_FOLDED_FOLDED_H
#define CPROF_FOLDED_FOLDED_H

#include "common/folded/stack_sums.h"
#include "common/profile/profile.h"
#include "common/folded/folded_scan.h"

struct folded_reader {
	struct folded_scan scan;
	struct profile *p;
	unsigned int side;
	bool root_only;     /* count by root frame */
	bool both;          /* each line has two counts, the first for side, the second for the other side */
	const char **roots; /* if n_roots: only stacks with one of these root frames */
	size_t n_roots;
	uint64_t samples; /* weight added */
	bool two_columns; /* the text was a comparison: nothing was added */
	/*
	 * If set, stacks go here and not into the profile. The profile still gets stacks that have to lose
	 * frames, and all that is claimed. For side 0 and a profile with stack_max only.
	 */
	struct stack_sums *lines;
	/*
	 * If not 0, unsorted text is sorted in batches of this many bytes of stacks before it goes into the
	 * tree, whose nodes are then visited in the order of memory: 100,000 stacks of 93 MB take a quarter
	 * less time.
	 */
	size_t batch;
	/* If set, empties the profile when it takes more than budget bytes; returns false with errno. */
	bool (*full)(struct profile *p, void *context);
	size_t budget;
	void *context;

	/* Where lines go: to held while all end in two numbers, then to the profile or lines. */
	struct profile *into, held;
	struct stack_sums *lines_into, held_lines, waiting;
	uint64_t disorder; /* lines that sort before their predecessor */
	/* The previous stack, and where each of its frames ends. */
	struct buf last;
	struct folded_step {
		size_t end;    /* bytes of the stack up to the end of this frame */
		uint32_t node;
	} *steps;
	size_t n_steps, cap_steps;
	/* The frames of a stack: texts and labels. */
	struct slice *frames;
	uint32_t *labels;
	size_t cap_frames, cap_labels;
	struct buf text;
};

/* taken: bytes that were already read from fd. Returns false if out of memory. */
bool folded_reader_init(struct folded_reader *r, int fd, struct slice taken, struct profile *p,
			unsigned int side);
/* Returns 0 if all was read, -1 with errno on failure (ENOMEM too). Set the options above before the call. */
int folded_read(struct folded_reader *r);
void folded_reader_release(struct folded_reader *r);

/* Returns whether these first bytes look like folded text, not like a stream or another binary. */
bool folded_looks_like(struct slice start);

/* Returns whether they begin a page or a picture of cprof-flame; some of its lines end in numbers, too. */
bool folded_is_markup(struct slice start);
/* Returns whether they begin an object of JSON. */
bool folded_is_json(struct slice start);

struct folded_writer {
	const struct profile *p;
	unsigned int columns;
	uint32_t *rank; /* rank of each name followed by a count, and followed by `;` */
	struct folded_entry {
		uint32_t rank, node;
		bool below; /* true: the lines below the node; false: the node's own line */
	} *entries; /* along the path to the current line; those of the innermost node are last */
	size_t n_entries, cap_entries;
	struct folded_level {
		size_t first, next, end; /* in entries */
		size_t length;           /* bytes of text up to here, with `;` */
	} *levels;
	size_t n_levels, cap_levels;
	struct buf line;
	/* The line returned last: its node, and the bytes of its stack. */
	uint32_t node;
	size_t stack_bytes;
};

/* columns: 1 prints side 0, 2 both. Returns false if out of memory. The profile must not change meanwhile. */
bool folded_writer_init(struct folded_writer *w, const struct profile *p, unsigned int columns);
/* Sets *line to the next line, with its LF, valid until the next call; false at the end or out of memory. */
bool folded_writer_next(struct folded_writer *w, struct slice *line);
void folded_writer_release(struct folded_writer *w);

/* Appends a space and the count, as after a stack. */
void folded_append_count(struct buf *out, uint64_t v);

/* Adds the stacks of side 0 of a profile to lines and empties it; its claimed weight stays. Returns false with errno. */
bool folded_pour(struct stack_sums *l, struct profile *p);

#endif
