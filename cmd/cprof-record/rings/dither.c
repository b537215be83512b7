#include "cmd/cprof-record/rings/dither.h"

#include <stdlib.h>
#include <sys/random.h>

#define LEAST 0.04 /* a smaller change hardly moves the ticks across the period of a program in step */
#define MOST 0.10

enum { EPOCH = 500000000, EPOCH_TICKS = 20 };

bool dither_init(struct dither *d, size_t n, uint64_t nominal, bool on)
{
	*d = (struct dither){ .on = on && nominal, .nominal = nominal, .n = n };
	/* The kernel's generator may not be ready during boot: then any other number will do. */
	if (getrandom(&d->random, sizeof(d->random), GRND_NONBLOCK) != sizeof(d->random) || !d->random)
		d->random = (uint64_t)(uintptr_t)d | 1;
	d->cpus = calloc(n, sizeof(*d->cpus));
	for (size_t i = 0; d->cpus && i < n; i++)
		d->cpus[i].period = nominal;
	return d->cpus != NULL;
}

void dither_release(struct dither *d)
{
	free(d->cpus);
	*d = (struct dither){ 0 };
}

void dither_rate(struct dither *d, uint64_t nominal)
{
	d->nominal = nominal;
}

/* Returns a number from 0 to 1 (xorshift64). */
static double draw_fraction(struct dither *d)
{
	d->random ^= d->random << 13;
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	return (double)(d->random >> 11) / (double)(1ull << 53);
}

/* Epochs are long enough to make changes rare among ticks, because each change loses half a tick. */
static uint64_t epoch_ns(const struct dither *d)
{
	return d->nominal * EPOCH_TICKS > EPOCH ? d->nominal * EPOCH_TICKS : EPOCH;
}

static const struct dither_epoch *last_epoch(const struct dither_cpu *c)
{
	return c->changes ? &c->epochs[(c->changes - 1) % DITHER_EPOCHS] : NULL;
}

bool dither_due(const struct dither *d, unsigned int cpu, uint64_t now)
{
	const struct dither_epoch *e = d->on && cpu < d->n ? last_epoch(&d->cpus[cpu]) : NULL;

	return e && now >= e->since + epoch_ns(d);
}

/* Epochs come in pairs: one is faster by as much as the other is slower, so both have the requested rate. */
static void choose_part(struct dither *d, struct dither_cpu *c)
{
	if (c->part > 0) {
		c->faster = !c->faster;
		c->part = -c->part; /* the second of its pair */
		return;
	}
	c->faster = draw_fraction(d) < 0.5;
	c->part = LEAST + (MOST - LEAST) * draw_fraction(d);
}

uint64_t dither_choose(struct dither *d, unsigned int cpu)
{
	struct dither_cpu *c = cpu < d->n ? &d->cpus[cpu] : NULL;
	double part, rate;

	if (!c || !d->on)
		return d->nominal;
	choose_part(d, c);
	part = c->part < 0 ? -c->part : c->part;
	rate = c->faster ? 1 + part : 1 - part;
	/* A change restarts the period, wherever in it the CPU was: half a tick is lost. */
	rate *= 1 + (double)d->nominal / 2 / (double)epoch_ns(d);
	c->period = (uint64_t)((double)d->nominal / rate);
	return c->period;
}

void dither_changed(struct dither *d, unsigned int cpu, uint64_t after)
{
	struct dither_cpu *c = cpu < d->n ? &d->cpus[cpu] : NULL;

	if (!c)
		return;
	if (!d->on)
		c->period = d->nominal;
	c->epochs[c->changes++ % DITHER_EPOCHS] = (struct dither_epoch){ after, c->period, d->nominal };
}

uint64_t dither_since(const struct dither *d, unsigned int cpu)
{
	const struct dither_epoch *e = cpu < d->n ? last_epoch(&d->cpus[cpu]) : NULL;

	return e ? e->since : 0;
}

uint64_t dither_period(const struct dither *d, unsigned int cpu)
{
	const struct dither_epoch *e = d->on && cpu < d->n ? last_epoch(&d->cpus[cpu]) : NULL;

	return e ? e->period : d->nominal; /* a failed change does not count */
}

/* Returns the epoch of a time, or the oldest one that is kept; *before: its predecessor, or NULL. */
static const struct dither_epoch *find_epoch(const struct dither_cpu *c, uint64_t time, const struct dither_epoch **before)
{
	unsigned int at = c->changes, oldest = c->changes > DITHER_EPOCHS ? c->changes - DITHER_EPOCHS : 0;

	while (at > oldest + 1 && c->epochs[(at - 1) % DITHER_EPOCHS].since > time)
		at--;
	*before = at > oldest + 1 ? &c->epochs[(at - 2) % DITHER_EPOCHS] : NULL;
	return &c->epochs[(at - 1) % DITHER_EPOCHS];
}

/* Returns the time since the previous tick, without ticks missed in between: the ledger has those. */
static uint64_t stands_for(const struct dither_cpu *c, uint64_t time, uint64_t gap, uint64_t *nominal)
{
	const struct dither_epoch *before, *e = find_epoch(c, time, &before);
	uint64_t left = 0; /* time from the previous tick to the change, less whole periods */

	*nominal = e->nominal;
	if (gap && before && time - gap < e->since)
		left = e->since - (time - gap);
	if (before && left > before->period)
		left %= before->period;
	return e->period + left;
}

uint64_t dither_weight(struct dither *d, unsigned int cpu, uint64_t time, uint64_t gap)
{
	struct dither_cpu *c = d->on && cpu < d->n ? &d->cpus[cpu] : NULL;
	uint64_t nominal;
	int64_t weight;

	if (!c || !c->changes)
		return 0;
	c->carried += (int64_t)stands_for(c, time, gap, &nominal);
	c->carried -= (int64_t)nominal;
	if (c->carried <= c->most && c->carried >= -c->most)
		return 0;
	weight = (int64_t)nominal + c->carried;
	/* A constant threshold would again be in step with some program. */
	c->most = (int64_t)((double)nominal * (0.25 + 0.5 * draw_fraction(d)));
	c->carried = 0;
	if (weight > 0)
		return (uint64_t)weight;
	c->carried = weight - 1;
	return 1;
}
