#include "cmd/cprof-record/promise.h"

#include "cmd/cli.h"
#include "cmd/cprof-record/recorder.h"

/* The minimum share of the limit for events, so that some of their samples are taken. */
#define LEAST 0.05

enum { IN_VAIN = 2 }; /* after more reductions in a row without effect, samples do not cause the cost */

/* Returns true if the program counts the event and raises its period. Hardware uses the clock's rate. */
static bool is_counted(const struct options *o, size_t event)
{
	return o->events[event].kind != EVENT_HARDWARE;
}

void promise_begin(struct promise *p, const struct options *o)
{
	*p = (struct promise){ .share = o->max_cost };
	p->clock = (struct maxcost){ .share = o->max_cost, .asked = o->hertz };
	p->events = (struct maxcost){ .share = o->max_cost, .asked = o->most };
}

/*
 * Adds the cost of events since the last call. Their part of the recorder's cost is their share of the
 * samples.
 */
static void add_events(struct recorder *r)
{
	struct promise *p = &r->promise;
	uint64_t own = r->ledger.costs[COST_USER_NS] + r->ledger.costs[COST_SYSTEM_NS], run = 0, others = 0;
	double more, all;

	for (size_t i = 0; i < r->o.n_events; i++) {
		run += is_counted(&r->o, i) ? r->ledger.events[i].run_ns : 0;
		others += is_counted(&r->o, i) ? r->emit.others[i] : 0;
	}
	more = (double)(others - p->others);
	all = more + (double)(r->emit.samples - p->samples);
	p->events_ns += run - p->run_ns;
	if (all > 0)
		p->events_ns += (uint64_t)((double)(own - p->own_ns) * more / all);
	p->run_ns = run;
	p->own_ns = own;
	p->samples = r->emit.samples;
	p->others = others;
}

/* Warns once, about the event that costs most. */
static void report_overrun(struct recorder *r)
{
	const char *name = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < r->o.n_events; i++) {
		if (!is_counted(&r->o, i) || r->ledger.events[i].run_ns < most)
			continue;
		most = r->ledger.events[i].run_ns;
		name = r->o.events[i].name;
	}
	r->promise.told = true;
	if (name && !r->o.quiet)
		cli_warn("%s costs more than --max-cost allows, %.2f %% of a CPU per CPU, however few samples are taken of it: a "
			 "program runs each time that it happens", name, 100 * r->promise.events.now);
}

static void keep_events(struct recorder *r, uint64_t now)
{
	struct promise *p = &r->promise;
	unsigned int most, before = r->o.most;

	p->events.share = p->share - p->clock.now;
	if (p->events.share < LEAST * p->share)
		p->events.share = LEAST * p->share;
	most = maxcost_rate(&p->events, now, p->events_ns, r->cpus.n, r->o.most);
	if (most == before && p->events.seen < MAXCOST_SECONDS)
		return;
	p->lowered = most < before ? p->lowered + 1 : most > before ? 0 : p->lowered;
	if (p->events.now > p->share && (p->lowered > IN_VAIN || most == 1) && !p->told)
		report_overrun(r);
	if (most == before)
		return;
	r->o.most = most;
	r->engine->ops->rate(r->engine);
}

unsigned int promise_keep(struct recorder *r, uint64_t now)
{
	const uint64_t *costs = r->ledger.costs;
	uint64_t all = costs[COST_USER_NS] + costs[COST_SYSTEM_NS] + costs[COST_BPF_NS];
	struct promise *p = &r->promise;
	unsigned int hertz;

	if (r->o.n_events)
		add_events(r);
	hertz = maxcost_rate(&p->clock, now, all > p->events_ns ? all - p->events_ns : 0, r->cpus.n, r->o.hertz);
	if (r->o.n_events)
		keep_events(r, now);
	return hertz;
}
