/*
 * Keeps the cost limit (--max-cost): the clock by a lower rate, counted events by fewer samples.
 *
 *	cost_limit_begin(&limit, &options);
 *
 *	...once a second:
 *	asked = cost_limit_keep(&limit, &spent, cpus, now, (struct engine_rate){ 99, 99 });
 *	if (asked.rate.hertz != 99)
 *		...sample at asked.rate.hertz from now on...
 *
 * Events that the recorder counts itself get the part of the limit that the clock leaves, so the clock's rate
 * never goes down because of them. Fewer samples do not reduce the cost of their program, which runs at each
 * event. If that alone exceeds the limit, asked.dear names the event, once.
 */
#ifndef CPROF_RECORD_COST_LIMIT_H
#define CPROF_RECORD_COST_LIMIT_H

#include "cmd/cprof-record/source/engine.h"
#include "cmd/cprof-record/cost_rate.h"
#include "cmd/cprof-record/config/options.h"

struct cost_limit {
	const struct options *options; /* lent */
	struct cost_rate clock, events;
	double share;        /* the limit for both, as a share of a CPU per CPU */
	uint64_t events_ns;  /* cost of events so far, in their programs and in the recorder */
	/*
	 * Totals at the last call: ns of the events' programs and of the recorder; samples of the clock and
	 * of events.
	 */
	uint64_t run_ns, own_ns, samples, others;
	unsigned int lowered; /* how often in a row the samples of events were reduced */
	bool reported;        /* dear was set */
};

/* Everything spent since the recording began. */
struct spent {
	uint64_t own_ns, bpf_ns; /* CPU time of the recorder with its processes, and of all programs */
	uint64_t samples;        /* ticks written */
	struct spent_event {
		uint64_t run_ns, samples; /* time of its program; samples written */
	} events[EVENTS_MAX]; /* as in the options */
};

struct cost_limit_asked {
	struct engine_rate rate;
	const char *dear; /* the event that is over the limit by its program alone, or NULL */
	double share;     /* that it costs, of a CPU per CPU */
};

void cost_limit_begin(struct cost_limit *l, const struct options *o);
/* Returns the rates to sample at from now on. cpus: the number of sampled CPUs; rate: the present one. */
struct cost_limit_asked cost_limit_keep(struct cost_limit *l, const struct spent *s, size_t cpus, uint64_t now,
				  struct engine_rate rate);

#endif
