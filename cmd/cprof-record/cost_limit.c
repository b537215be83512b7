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

void cost_limit_begin(struct cost_limit *l, const struct options *o)
{
	*l = (struct cost_limit){ .options = o, .share = o->max_cost };
	l->clock = (struct cost_rate){ .share = o->max_cost, .asked = o->hertz };
	l->events = (struct cost_rate){ .share = o->max_cost, .asked = o->most };
}

/* Adds the cost of events since the last look; the recorder's own part goes by samples. */
static void add_events(struct cost_limit *l, const struct spent *s)
{
	uint64_t run = 0, others = 0;
	double more, all;

	for (size_t i = 0; i < l->options->n_events; i++) {
		run += is_counted(l->options, i) ? s->events[i].run_ns : 0;
		others += is_counted(l->options, i) ? s->events[i].samples : 0;
	}
	more = (double)(others - l->others);
	all = more + (double)(s->samples - l->samples);
	l->events_ns += run - l->run_ns;
	if (all > 0)
		l->events_ns += (uint64_t)((double)(s->own_ns - l->own_ns) * more / all);
	l->run_ns = run;
	l->own_ns = s->own_ns;
	l->samples = s->samples;
	l->others = others;
}

/* The event whose program costs most. */
static const char *find_dearest(const struct cost_limit *l, const struct spent *s)
{
	const char *name = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < l->options->n_events; i++) {
		if (!is_counted(l->options, i) || s->events[i].run_ns < most)
			continue;
		most = s->events[i].run_ns;
		name = l->options->events[i].name;
	}
	return name;
}

static void keep_events(struct cost_limit *l, const struct spent *s, size_t cpus, uint64_t now, struct cost_limit_asked *asked)
{
	unsigned int before = asked->rate.most, most;

	l->events.share = l->share - l->clock.now;
	if (l->events.share < LEAST * l->share)
		l->events.share = LEAST * l->share;
	most = cost_rate_next(&l->events, now, l->events_ns, cpus, before);
	if (most == before && l->events.seen < COST_RATE_SECONDS)
		return;
	l->lowered = most < before ? l->lowered + 1 : most > before ? 0 : l->lowered;
	if (l->events.now > l->share && (l->lowered > IN_VAIN || most == 1) && !l->reported) {
		l->reported = true;
		asked->dear = find_dearest(l, s);
		asked->share = l->events.now;
	}
	asked->rate.most = most;
}

struct cost_limit_asked cost_limit_keep(struct cost_limit *l, const struct spent *s, size_t cpus, uint64_t now, struct engine_rate rate)
{
	struct cost_limit_asked asked = { .rate = rate };
	uint64_t all = s->own_ns + s->bpf_ns;

	if (l->options->n_events)
		add_events(l, s);
	asked.rate.hertz = cost_rate_next(&l->clock, now, all > l->events_ns ? all - l->events_ns : 0, cpus, rate.hertz);
	if (l->options->n_events)
		keep_events(l, s, cpus, now, &asked);
	return asked;
}
