#include "cmd/cprof-record/cost_limit.h"

/* The minimum share of the limit for events, so that some of their samples are taken. */
#define LEAST 0.05

/* After more than this many reductions in a row without effect, samples are not the cause. */
enum { IN_VAIN = 2 };

/* Returns true if the program counts the event and raises its period. Hardware uses the clock's rate. */
static bool is_counted(const struct options *o, size_t event)
{
	return o->events[event].kind != EVENT_HARDWARE;
}

void cost_limit_begin(struct cost_limit *p, const struct options *o)
{
	*p = (struct cost_limit){ .options = o, .share = o->max_cost };
	p->clock = (struct cost_rate){ .share = o->max_cost, .asked = o->hertz };
	p->events = (struct cost_rate){ .share = o->max_cost, .asked = o->most };
}

/* Adds the cost of events since the last look; the recorder's own part goes by samples. */
static void add_events(struct cost_limit *p, const struct spent *s)
{
	uint64_t run = 0, others = 0;
	double more, all;

	for (size_t i = 0; i < p->options->n_events; i++) {
		run += is_counted(p->options, i) ? s->events[i].run_ns : 0;
		others += is_counted(p->options, i) ? s->events[i].samples : 0;
	}
	more = (double)(others - p->others);
	all = more + (double)(s->samples - p->samples);
	p->events_ns += run - p->run_ns;
	if (all > 0)
		p->events_ns += (uint64_t)((double)(s->own_ns - p->own_ns) * more / all);
	p->run_ns = run;
	p->own_ns = s->own_ns;
	p->samples = s->samples;
	p->others = others;
}

/* The event whose program costs most. */
static const char *find_dearest(const struct cost_limit *p, const struct spent *s)
{
	const char *name = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < p->options->n_events; i++) {
		if (!is_counted(p->options, i) || s->events[i].run_ns < most)
			continue;
		most = s->events[i].run_ns;
		name = p->options->events[i].name;
	}
	return name;
}

static void keep_events(struct cost_limit *p, const struct spent *s, size_t cpus, uint64_t now, struct cost_limit_asked *asked)
{
	unsigned int before = asked->rate.most, most;

	p->events.share = p->share - p->clock.now;
	if (p->events.share < LEAST * p->share)
		p->events.share = LEAST * p->share;
	most = cost_rate_rate(&p->events, now, p->events_ns, cpus, before);
	if (most == before && p->events.seen < COST_RATE_SECONDS)
		return;
	p->lowered = most < before ? p->lowered + 1 : most > before ? 0 : p->lowered;
	if (p->events.now > p->share && (p->lowered > IN_VAIN || most == 1) && !p->told) {
		p->told = true;
		asked->dear = find_dearest(p, s);
		asked->share = p->events.now;
	}
	asked->rate.most = most;
}

struct cost_limit_asked cost_limit_keep(struct cost_limit *p, const struct spent *s, size_t cpus, uint64_t now, struct engine_rate rate)
{
	struct cost_limit_asked asked = { .rate = rate };
	uint64_t all = s->own_ns + s->bpf_ns;

	if (p->options->n_events)
		add_events(p, s);
	asked.rate.hertz = cost_rate_rate(&p->clock, now, all > p->events_ns ? all - p->events_ns : 0, cpus, rate.hertz);
	if (p->options->n_events)
		keep_events(p, s, cpus, now, &asked);
	return asked;
}
