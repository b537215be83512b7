/*
 * Dithered sampling: the period of each CPU's ticks changes by up to ten percent, about twice a second.
 * Otherwise a program whose own period is near that of the ticks would always be sampled at the same point.
 * The CPUs also drift apart from each other.
 *
 *	dither_init(&d, cpus, period, true);
 *	...open an event with dither_choose(&d, cpu)...; dither_changed(&d, cpu, now);
 *	...for each tick, in order of time:	weight = dither_weight(&d, cpu, time, gap);
 *	if (dither_due(&d, cpu, now))
 *		...set the event's period to dither_choose(&d, cpu)...; dither_changed(&d, cpu, now);
 *
 * Weights: a tick stands for the time since the previous one. In a capture most ticks weigh the nominal
 * period, because an explicit weight costs bytes. The difference is carried over, and added to a tick once it
 * reaches about half a period. The weights of a CPU thus add up to its time, as exactly as whole periods can.
 * All times and periods are nanoseconds.
 */
#ifndef CPROF_RECORD_RINGS_DITHER_H
#define CPROF_RECORD_RINGS_DITHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DITHER_EPOCHS = 8 }; /* the weight of a tick can still be found this many changes later */

/* From one change to the next, the ticks of a CPU have this period. */
struct dither_epoch {
	uint64_t since, period, nominal;
};

struct dither_cpu {
	struct dither_epoch epochs[DITHER_EPOCHS]; /* a ring */
	unsigned int changes;
	uint64_t period;  /* chosen, for the next epoch */
	double part;      /* change of the rate in this pair of epochs; negative in the second one */
	bool faster;
	int64_t carried;  /* weight that is not yet part of any tick */
	int64_t most;     /* the next tick takes the carried weight once it is more than this */
};

struct dither {
	bool on;
	uint64_t nominal; /* the requested period; 0: there are no ticks, or each has its own weight */
	uint64_t random;
	struct dither_cpu *cpus;
	size_t n;
};

/* n: possible CPUs. Returns false if out of memory. */
bool dither_init(struct dither *d, size_t n, uint64_t nominal, bool on);
void dither_release(struct dither *d);
/* Sets another nominal period; the next dither_choose of each CPU uses it. */
void dither_rate(struct dither *d, uint64_t nominal);
/* Returns true if the CPU has ticked at its period for long enough. */
bool dither_due(const struct dither *d, unsigned int cpu, uint64_t now);
/* Chooses the period of the CPU's next epoch. The mean rate over many epochs is the requested one. */
uint64_t dither_choose(struct dither *d, unsigned int cpu);
/* Records that the CPU has ticked at the period chosen last since a moment before `after`. */
void dither_changed(struct dither *d, unsigned int cpu, uint64_t after);
/* Returns the `after` of the CPU's last dither_changed; 0: there was none. */
uint64_t dither_since(const struct dither *d, unsigned int cpu);
/* Returns the CPU's current period. */
uint64_t dither_period(const struct dither *d, unsigned int cpu);
/*
 * Returns the weight of a tick that came `gap` after the CPU's previous one (0: it is the first). A weight of
 * 0 stands for the nominal period.
 */
uint64_t dither_weight(struct dither *d, unsigned int cpu, uint64_t time, uint64_t gap);

#endif
