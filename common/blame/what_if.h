/*
 * How long a process, a thread, or a request takes if a function takes less time, as an interval. For
 * blame.c, of a view with BLAME_REPLAY:
 *
 *	struct what_if w = { .function = "parse", .share = 0.5 };	// half of its time is saved
 *
 *	...blame.h reads captures by a view whose what_if points to w...
 *	for (i = 0; i < w.n; i++)
 *		...w.rows[i].least to w.rows[i].most ns of w.rows[i].wall would be saved...
 *	what_if_release(&w);
 *
 * With requests, the name of a function, each row has the mean time of requests: a request is the time of a
 * thread from the end of a wait in that function to the beginning of its next one (replay.h). Waits that are
 * too short to have an end in the capture do not separate requests.
 *
 * The bounds are those of replay.h, widened by the sampling error. The time saved comes from a number of the
 * function's samples; the 95 % interval of that Poisson count is used.
 */
#ifndef CPROF_BLAME_WHAT_IF_H
#define CPROF_BLAME_WHAT_IF_H

#include "common/blame/blame.h"

struct what_if {
	const char *function; /* as it is shown, or up to a dot; or a pattern (glob.h) */
	double share;	      /* the part of its time that is saved, more than 0 and at most 1 */
	const char *requests; /* likewise the function of the waits between requests; NULL: elapsed times */
	bool by_thread;	      /* rows are threads, otherwise processes */
	struct what_if_row {
		char *name; /* "comm-pid" or "comm-pid/tid" */
		uint64_t requests; /* their number; the next three are means of them. 1 for elapsed times */
		uint64_t wall;
		uint64_t median, p90, p99; /* ns of requests as they were recorded, exact (nearest rank) */
		double least, most; /* ns */
		bool touched; /* the replay saved at least 0.5 %, without the error of sampling */
	} * rows;	      /* only of threads that the view selects; the largest first */
	size_t n, cap;
	uint64_t samples; /* with the function, in all threads */
	double ran;	  /* ns that they stand for */
	uint64_t waits;	  /* long waits with a known end */
	uint64_t brief;	  /* ns of waits that were too short to separate requests */
};

/* Returns false if out of memory. */
bool what_if_find(struct blame *b);
void what_if_release(struct what_if *w);

#endif
