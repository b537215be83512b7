/*
 * Waits and run time over the slices of a view whose origins have threads: each slice gets exactly the time
 * that --from and --to would cut out of them.
 *
 *	struct gather_piece pieces[GATHER_PIECES];
 *	size_t n = gather_spread(g, start, end, weight, pieces);
 *
 * A long wait is a few pieces however many slices it covers: one of them has all slices that it fills.
 * For gather.c and gather_keys.c.
 */
#ifndef CPROF_GATHER_GATHER_SPREAD_H
#define CPROF_GATHER_GATHER_SPREAD_H

#include "common/gather/gather.h"
#include "common/gather/origin.h"

enum { GATHER_PIECES = 4 };

/* Weight in a slice, or spread evenly over whole slices from slice on. */
struct gather_piece {
	uint32_t slice, whole;
	uint64_t weight;
};

/*
 * The waits of a thread that may lie in a span of run time which is not due yet, in the order of time. Those
 * before first are not needed any more, nor are those before the time of the last span.
 */
struct gather_waited {
	struct gather_wait {
		uint64_t start, end;
	} *list;
	size_t first, n, cap;
	uint64_t ran;
};

/* A part of a span in which the thread did not wait. next: the first wait after it. */
struct gather_gap {
	uint64_t start, end;
	size_t next;
};

static inline bool gather_spreads(const struct view *v)
{
	return v->moment_ns && v->origins && v->origins->threads;
}

/*
 * Divides weight, evenly spread over [start, end), at the edges of slices. Time before slice 0 counts for it.
 * Returns the number of pieces; the sum of their weights is exact.
 */
size_t gather_spread(const struct gather *g, uint64_t start, uint64_t end, uint64_t weight,
		     struct gather_piece pieces[GATHER_PIECES]);

/* Keep a wait, and forget those before a RAN record's span. The former returns false if out of memory. */
bool gather_spread_wait(struct gather *g, const struct record_sample *r);
void gather_spread_ran(struct gather *g, const struct record_ran *r);
/* Returns how many nanoseconds of the part's span the thread did not wait. */
uint64_t gather_spread_free(const struct gather *g, const struct record_ran *part);
/* Sets *gap to the next one; begin with next 0 and end at the span's start. Returns false if none is left. */
bool gather_spread_gap(const struct gather *g, const struct record_ran *part, struct gather_gap *gap);

/* Notes when ticks were counted, before the capture applies the record. Returns false if out of memory. */
bool gather_spread_ticks(struct gather *g, const struct record_ledger *r);

/* Clears waits and ticks for the next segment. */
void gather_spread_forget(struct gather *g);
void gather_spread_release(struct gather *g);

#endif
