/*
 * Reading an operand, be it a capture or folded text, by the filters (filters.h).
 *
 *	for (each operand)
 *		if ((one = operand_load(&filters, path, &profile, side, &sum)) != STATUS_OK)
 *			status = one;
 *	if (!sum.good)
 *		return STATUS_DAMAGED;			// there is nothing to show
 */
#ifndef CPROF_CMD_OPERAND_H
#define CPROF_CMD_OPERAND_H

#include "cmd/cli.h"
#include "cmd/filters.h"
#include "common/profile/folded.h"
#include "common/profile/gather.h"

/* What reading gave, summed over operands. */
struct loaded {
	uint64_t streams, texts; /* operands of each kind */
	uint64_t counts;         /* of folded text, all of them that passed */
	uint64_t good, empty;    /* those that were what they should be, whole or not; those of no bytes */
	struct capture_totals totals;
	struct gather_sums sums;
};

/* Who watches a capture while it is read. */
struct operand_watch {
	void *context;
	/* Before a record is waited for, and before the gatherer gets it. */
	void (*wait)(void *context, struct reader *r, int fd);
	void (*see)(void *context, struct gather *g, const struct record *rec);
};

/*
 * Reads an operand into one side of the profile, and adds to *sum. Says what was damaged, and returns
 * the status to end with; dies where the system failed.
 *
 * No bytes at all are folded text without a stack, as cprof-fold writes where no sample matches, or a
 * recorder that never came to write: that is said, and is STATUS_OK here. Where nothing was good, the
 * caller ends with STATUS_DAMAGED and prints no table.
 */
enum status operand_load(struct filters *f, const char *path, struct profile *p, unsigned int side,
			 struct loaded *sum);

/*
 * The same for who makes something else of a capture than a profile: it takes in the records itself. p is for folded
 * text alone then.
 */
struct operand_taker {
	void *context;
	bool (*begin)(void *context); /* an operand that is a capture; false without memory */
	const char *(*record)(void *context, const struct record *r); /* NULL, or a sentence why it makes no sense */
	/* It was read to its end: fills both; false without memory. */
	bool (*end)(void *context, struct capture_totals *totals, struct gather_sums *sums);
	void (*wait)(void *context, struct reader *r, int fd); /* before each record is read; or NULL */
	bool chooses; /* it can do without segments that the view does not want, see view_by_clock */
};

enum status operand_read(struct filters *f, const char *path, const struct operand_taker *t, struct profile *p,
			 unsigned int side, struct loaded *sum);

/* Says that lines of a text made no sense. */
void operand_warn_bad(const char *name, const struct scan *s);
/* Lines failed, with errno: dies with a sentence about the operand, "" for none, or about the directory of temporary files. */
void operand_lines_died(const struct lines *l, const char *name) __attribute__((noreturn));
/* The first bytes, so that the kind of input is known: as many as there are, or enough of them. */
size_t operand_peek(int fd, const char *name, uint8_t *to, size_t size, size_t enough);

#endif
