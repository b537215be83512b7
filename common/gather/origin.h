/*
 * The origin of a profile's weight, besides its stacks: host, process, container, labels and time.
 *
 *	struct origins o;
 *
 *	origins_init(&o);
 *	view.origins = &o;			// gather.h: moments get numbers of origins then
 *	view.moment_ns = 10000000000;
 *	...
 *	const struct origin *from = origins_get(&o, moment->origin);
 *	uint64_t since_1970 = origins_time(&o, moment->run, moment->slice, view.moment_ns);
 *	origins_release(&o);
 *
 * Slices then begin at multiples of their length since 1970, so that those of several hosts coincide.
 * slices.h makes rows of all this.
 */
#ifndef CPROF_GATHER_ORIGIN_H
#define CPROF_GATHER_ORIGIN_H

#include "common/base/buf.h"
#include "common/base/intern.h"

/* Texts are as sanitize.h makes them; empty: unknown. The slices live as long as struct origins. */
struct origin {
	struct slice host, container, comm;
	struct slice labels; /* the capture's: "key=value,key=value" */
	uint64_t pid;
	uint64_t tid, cpu; /* with threads: cpu is the CPU + 1; 0: unknown */
};

/* Ticks with one outcome, evenly from slice on up to slice to, which is included. Only with threads. */
struct origin_ticks {
	uint32_t run, slice, to, outcome;
	uint64_t count;
};

/* How origins with threads are told apart: by less than the thread, weights of many moments are one. */
enum origin_grain { ORIGIN_THREAD, ORIGIN_PROCESS, ORIGIN_CONTAINER };

struct origins {
	/*
	 * Set it after origins_init for moments by thread and CPU. Slices then begin with the run, and waits
	 * and run time are spread exactly over them (see whole in struct profile_moment).
	 */
	bool threads;
	enum origin_grain grain; /* set with threads; coarser origins have no thread and CPU, and no process */
	bool aligned; /* set with threads: slices begin at multiples of their length since 1970 */
	struct origin_ticks *ticks; /* in the order of the stream; see origins_tick */
	size_t n_ticks, cap_ticks;
	struct intern keys; /* number 0 is no origin: folded text has none */
	struct origin *list;
	size_t cap;
	uint64_t *starts; /* by run: nanoseconds since 1970 at the beginning of slice 0; 0: unknown */
	size_t cap_starts;
	struct buf key;
};

void origins_init(struct origins *o);
void origins_release(struct origins *o);
/* Sets *number, which is not 0; the texts are copied. Returns false if out of memory. */
bool origins_add(struct origins *o, const struct origin *origin, uint32_t *number);
const struct origin *origins_get(const struct origins *o, uint32_t number);

/* Sets the beginning of a run's slice 0, in nanoseconds since 1970; returns false if out of memory. */
bool origins_start(struct origins *o, uint32_t run, uint64_t since_1970);
/* Adds ticks of the ledger; returns false if out of memory. */
bool origins_tick(struct origins *o, const struct origin_ticks *ticks);
/* Returns the beginning of a slice of length nanoseconds, in nanoseconds since 1970; 0: unknown. */
uint64_t origins_time(const struct origins *o, uint32_t run, uint32_t slice, uint64_t length);

#endif
