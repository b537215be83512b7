#include "cmd/cprof-record/cost_rate.h"

/* Shares of the limit: the target, and the cost below which the rate goes up. */
#define AIM 0.9
#define DARE 0.7
/* Multiple of the limit above which the rate goes down after SOON seconds. */
#define FAR 2

enum { SECOND = 1000000000, SOON = 2, RISE = 5 }; /* the rate rises by a fourth plus RISE at a time */

static unsigned int lower_rate(const struct cost_rate *m, unsigned int hertz)
{
	double aim = hertz * AIM * m->share / m->now;

	return aim < 1 ? 1 : (unsigned int)aim;
}

static unsigned int raise_rate(const struct cost_rate *m, unsigned int hertz)
{
	double most = hertz * AIM * m->share / (m->now > 0 ? m->now : m->share);
	unsigned int step = hertz + hertz / 4 + RISE, aim = most < step ? (unsigned int)most : step;

	return aim > m->asked ? m->asked : aim > hertz ? aim : hertz;
}

unsigned int cost_rate_next(struct cost_rate *m, uint64_t now, uint64_t cpu_ns, size_t cpus, unsigned int hertz)
{
	double seconds = m->looked ? (double)(now - m->looked) / SECOND : 0, share, weight;
	uint64_t spent = cpu_ns - m->cpu_ns;
	unsigned int to = hertz;

	m->looked = now;
	m->cpu_ns = cpu_ns;
	if (m->share <= 0 || seconds <= 0 || cpus == 0)
		return hertz;
	share = (double)spent / SECOND / seconds / (double)cpus;
	m->seen += seconds;
	weight = seconds / (m->seen < COST_RATE_SECONDS ? m->seen : COST_RATE_SECONDS);
	m->now += (share - m->now) * (weight < 1 ? weight : 1);
	if (m->seen < (m->now > FAR * m->share ? SOON : COST_RATE_SECONDS))
		return hertz;
	if (m->now > m->share)
		to = lower_rate(m, hertz);
	else if (m->now < DARE * m->share)
		to = raise_rate(m, hertz);
	if (to != hertz)
		m->seen = 0; /* the cost at the old rate says little about the new one */
	return to;
}
