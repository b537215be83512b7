/*
 * Keeps the cost limit (--max-cost): the clock by a lower rate, counted events by fewer samples.
 *
 *	promise_begin(&r->promise, &r->o);
 *
 *	...once a second, after ledger_update:
 *	hertz = promise_keep(r, now);	// if it differs from r->o.hertz, change the clock's rate
 *
 * Events that the recorder counts itself get the part of the limit that the clock leaves, so the clock's rate
 * never goes down because of them. Fewer samples do not reduce the cost of their program, which runs at each
 * event. If that alone exceeds the limit, a warning says so once.
 */
#ifndef CPROF_RECORD_PROMISE_H
#define CPROF_RECORD_PROMISE_H

#include "cmd/cprof-record/maxcost.h"
#include "cmd/cprof-record/options.h"

struct recorder;

struct promise {
	struct maxcost clock, events;
	double share;        /* the limit for both, as a share of a CPU per CPU */
	uint64_t events_ns;  /* cost of events so far, in their programs and in the recorder */
	/*
	 * Totals at the last call: ns of the events' programs and of the recorder; samples of the clock and
	 * of events.
	 */
	uint64_t run_ns, own_ns, samples, others;
	unsigned int lowered; /* how often in a row the samples of events were reduced */
	bool told;            /* the warning was given */
};

void promise_begin(struct promise *p, const struct options *o);
/* Returns the clock's rate from now on, in samples a second. Changes the rate of events itself. */
unsigned int promise_keep(struct recorder *r, uint64_t now);

#endif
