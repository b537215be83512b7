/*
 * Reads an operand, a capture or folded text, by the filters (filters.h).
 *
 *	for (each operand)
 *		if ((one = operand_load(&filters, path, &profile, side, &sum)) != STATUS_OK)
 *			status = one;
 *	if (!sum.good)
 *		return STATUS_DAMAGED;			// there is nothing to show
 */
#ifndef CPROF_CMD_INPUT_H
#define CPROF_CMD_INPUT_H

#include "cmd/shared/cli.h"
#include "cmd/shared/facts/about.h"
#include "cmd/shared/filters.h"
#include "common/folded/folded.h"
#include "common/gather/gather.h"

struct reader;

/* The results of reading, summed over operands. All zero to begin with. */
struct loaded {
	uint64_t streams, texts; /* operands of each kind */
	uint64_t counts;         /* counts of folded text that passed the filters */
	uint64_t good, empty;    /* operands of a valid kind, whole or cut; operands of no bytes */
	struct capture_totals totals;
	struct gather_sums sums;
	double hits; /* BLAME_CULPRITS: the samples that the shares are estimated from */
	struct about about;
};

/* Adds the results of other operands. */
void loaded_add(struct loaded *sum, const struct loaded *one);

/* Callbacks of live.c, which follows a capture while it is read. */
struct operand_watch {
	void *context;
	/* wait: before waiting for a record; see: before the gatherer gets the record. */
	void (*wait)(void *context, struct reader *r, int fd);
	void (*see)(void *context, struct gather *g, const struct record *rec);
};

/*
 * Reads an operand into one side of the profile and adds to *sum. Reports damage and returns the status to
 * end with. Exits if the system fails.
 *
 * Empty input counts as folded text without a stack: cprof-fold writes that if no sample matches, and so does
 * a recorder that ended before it wrote. The function warns of it and returns STATUS_OK. If no operand was
 * good, the caller ends with STATUS_DAMAGED and prints no table.
 */
enum status operand_load(struct filters *f, const char *path, struct profile *p, unsigned int side,
			 struct loaded *sum);

/*
 * After the last operand: reports names (naming_report) and captures without waiting time. Exits with
 * STATUS_USAGE if an option needs waiting time and no capture has any.
 */
void operands_report(struct filters *f);

/*
 * After the last operand of a side: returns whether folded text has waits with counts that nobody would
 * have sampled. They are nanoseconds, which the text cannot say.
 */
bool operands_count_time(const struct loaded *l, const struct profile *p, unsigned int side);
/* For views that show a unit: hints at --weight ns then. */
void operands_hint_time(const struct filters *f, const struct loaded *l, const struct profile *p,
			unsigned int side);

/*
 * For operand_read: a consumer that takes the records of a capture itself and makes something other than a
 * profile of them.
 */
struct operand_taker {
	void *context;
	const struct capture *capture; /* the taker's model, from begin to end */
	bool (*begin)(void *context); /* called for each capture; false: out of memory */
	const char *(*record)(void *context, const struct record *r); /* NULL, or why the record is invalid */
	/* Called at the end of a capture; fills both. Returns false if out of memory. */
	bool (*end)(void *context, struct capture_totals *totals, struct gather_sums *sums);
	void (*wait)(void *context, struct reader *r, int fd); /* before each record is read; may be NULL */
	bool chooses; /* segments that the view does not want may be skipped, see select_by_clock */
};

/* As operand_load, but the records go to *t. Only folded text goes to the profile. */
enum status operand_read(struct filters *f, const char *path, const struct operand_taker *t, struct profile *p,
			 unsigned int side, struct loaded *sum);

/* Returns the given option that folded text cannot answer, as "--event", or NULL. */
const char *operand_needs_capture(const struct filters *f);
/* Warns of invalid lines in a text. */
void operand_warn_bad(const char *name, const struct folded_scan *s);
/*
 * Reports a failure of stack_sums.h from errno and exits with status 1. name: the operand, "" if there is none.
 * The message names the directory of temporary files if one of those failed.
 */
void operand_lines_died(const struct stack_sums *l, const char *name) __attribute__((noreturn));

#endif
