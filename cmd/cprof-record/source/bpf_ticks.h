/*
 * The ticks of the BPF engine: a perf event of the clock on each sampled CPU, which calls the sampling
 * program. Its period is dithered (dither.h).
 *
 *	bpf_ticks_init(&t, engine, &sampler, idle_known);
 *	bpf_ticks_prepare(&t, cpu);	// for all CPUs: ticks while memory is allocated would not be expected
 *	bpf_ticks_add(&t, cpu);		// sampling starts
 *	bpf_ticks_stop(&t);		// on all CPUs at once: detaching takes time
 *	bpf_ticks_detach(&t);
 *	bpf_ticks_release(&t);
 *
 * Without ticks (-e off-cpu alone), and on CPUs that are not to be sampled, the functions do nothing.
 */
#ifndef CPROF_RECORD_SOURCE_BPF_TICKS_H
#define CPROF_RECORD_SOURCE_BPF_TICKS_H

#include "cmd/cprof-record/programs/bpf_sampler.h"
#include "cmd/cprof-record/rings/dither.h"
#include "cmd/cprof-record/source/engine.h"

struct bpf_ticks {
	const struct engine *engine; /* options and rate; lent, as the sampler */
	struct bpf_sampler *sampler;
	struct dither dither;
	struct tick_event *events;
	size_t n, cap;
	bool idle_known; /* the idle loop's addresses; without them the kernel skips pid 0's ticks */
	bool kept_out;   /* other programs run at times at which the kernel skips ours */
};

/* sampler: loaded. False: out of memory. */
bool bpf_ticks_init(struct bpf_ticks *t, const struct engine *e, struct bpf_sampler *sampler,
		    bool idle_known);
bool bpf_ticks_prepare(struct bpf_ticks *t, unsigned int cpu); /* false: errno */
bool bpf_ticks_add(struct bpf_ticks *t, unsigned int cpu);     /* false: errno; nothing is attached */
bool bpf_ticks_has(const struct bpf_ticks *t, unsigned int cpu);
void bpf_ticks_drop(struct bpf_ticks *t, unsigned int cpu);
/* Returns the time from which the CPU's ticks are recorded; of a CPU without ticks, the current time. */
uint64_t bpf_ticks_began(const struct bpf_ticks *t, unsigned int cpu);
/* Applies the engine's rate to all CPUs. */
void bpf_ticks_rate(struct bpf_ticks *t);
/* Changes the periods that are due; changed gets each change. */
void bpf_ticks_dither(struct bpf_ticks *t, uint64_t now, engine_epoch_fn *changed, void *arg);
void bpf_ticks_stop(struct bpf_ticks *t);
void bpf_ticks_detach(struct bpf_ticks *t); /* their periods are still known */
void bpf_ticks_release(struct bpf_ticks *t);

#endif
