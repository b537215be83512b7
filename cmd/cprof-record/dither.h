/*
 * Dithered sampling: the period of each CPU's ticks moves by up to ten percent, about twice a second, so that no program
 * whose own period is near that of the ticks is always met at the same place. CPUs move apart from each other as well.
 *
 *	dither_init(&d, cpus, period, true);
 *	...open an event with dither_choose(&d, cpu)...; dither_changed(&d, cpu, now);
 *	...of each tick, in the order of time:	weight = dither_weight(&d, cpu, time, gap);
 *	if (dither_due(&d, cpu, now))
 *		...set the event's period to dither_choose(&d, cpu)...; dither_changed(&d, cpu, now);
 *
 * Weights: a tick stands for the time since the one before it. In a capture most ticks weigh the nominal period, since a
 * weight of its own costs bytes: the difference is carried on, and given to a tick once it is about half a period. The
 * weights of a CPU thus add up to its time, as exactly as whole periods can. All times and periods are nanoseconds.
 */
#ifndef CPROF_RECORD_DITHER_H
#define CPROF_RECORD_DITHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DITHER_EPOCHS = 8 }; /* a tick may be asked about so many changes later */

/* From a change on the ticks of a CPU come at this period. */
struct dither_epoch {
	uint64_t since, period, nominal;
};

struct dither_cpu {
	struct dither_epoch epochs[DITHER_EPOCHS]; /* a ring */
	unsigned int changes;
	uint64_t period;  /* chosen, for the next epoch */
	double part;      /* of the last pair of epochs: by how much, and which of the two comes next */
	bool faster;
	int64_t carried;  /* weight that no tick was given yet */
	int64_t most;     /* which is given at the next tick once it is more */
};

struct dither {
	bool on;
	uint64_t nominal; /* the period asked for; 0: there are no ticks, or each tells its own weight */
	uint64_t random;
	struct dither_cpu *cpus;
	size_t n;
};

/* n: possible CPUs. False: no memory. */
bool dither_init(struct dither *d, size_t n, uint64_t nominal, bool on);
void dither_release(struct dither *d);
/* Another rate is asked for: the next dither_choose of each CPU goes by it. */
void dither_rate(struct dither *d, uint64_t nominal);
/* Has the CPU ticked at its period for long enough? */
bool dither_due(const struct dither *d, unsigned int cpu, uint64_t now);
/* The period of the CPU's next epoch. The mean rate of many epochs is the one asked for. */
uint64_t dither_choose(struct dither *d, unsigned int cpu);
/* Since a moment before `after` the CPU ticks at the period chosen last. */
void dither_changed(struct dither *d, unsigned int cpu, uint64_t after);
/* When that was said last. */
uint64_t dither_since(const struct dither *d, unsigned int cpu);
/* The period that the CPU has now. */
uint64_t dither_period(const struct dither *d, unsigned int cpu);
/* The weight of a tick that came `gap` after the CPU's last one (0: the first). 0: it weighs the nominal period. */
uint64_t dither_weight(struct dither *d, unsigned int cpu, uint64_t time, uint64_t gap);

#endif
