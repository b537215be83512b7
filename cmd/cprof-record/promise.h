/*
 * The promise of --max-cost, kept by those who cost: the clock by its rate, counted events by how many of them have
 * samples.
 *
 *	promise_begin(&r->promise, &r->o);
 *
 *	...once a second, behind ledger_update:
 *	hertz = promise_keep(r, now);	// if it is another, the clock's rate is to change
 *
 * Events that the recorder counts itself pay for themselves, and with what the clock leaves of the promise: it never
 * goes down for their sake. What does not become less with their samples is the program, which runs at each of them; where
 * that alone is over the promise, it is told once.
 */
#ifndef CPROF_RECORD_PROMISE_H
#define CPROF_RECORD_PROMISE_H

#include "cmd/cprof-record/maxcost.h"
#include "cmd/cprof-record/options.h"

struct recorder;

struct promise {
	struct maxcost clock, events;
	double share;        /* of a CPU per CPU, for both */
	uint64_t events_ns;  /* what events have cost, of the program and of the recorder */
	uint64_t run_ns, own_ns, samples, others; /* as it was looked at last: of their programs; the recorder; samples written */
	unsigned int lowered; /* so often on end there were to be fewer samples of events */
	bool told;
};

void promise_begin(struct promise *p, const struct options *o);
/* The clock's rate from now on; that of events' samples has been changed by then. */
unsigned int promise_keep(struct recorder *r, uint64_t now);

#endif
