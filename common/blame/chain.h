/*
 * Chains of waits, by time. The time [a, b) of a thread is divided by this rule. While it ran, the time is
 * its own. While it was queued, the time is the queue's. While it slept until it was woken, the time belongs
 * to the work of its waker in that time, by the same rule, or to the device or timer that woke it.
 *
 *	struct chain c;
 *
 *	chain_init(&c);
 *	chain_wait(&c, &(struct chain_wait){ ... });	// each long wait of each thread
 *	chain_part(&c, &(struct chain_part){ ... });	// each sample, and each sum of short waits
 *	chain_sort(&c);
 *	for (each wait that is to be explained)
 *		chain_explain(&c, place, &wait, from, to);
 *	chain_settle(&c);
 *	for (i = 0; i < c.n_links; i++)
 *		if (c.links[i].ns)
 *			...c.links[i] is a leaf; its parents, up to a CHAIN_ROOT, are the path to it...
 *	chain_release(&c);
 *
 * The ns of the links below a root add up to exactly the time explained there. Threads and places are numbers
 * of the caller's. Times are nanoseconds of one clock.
 *
 * There are no loops: a waker runs when it wakes, so each wait of a chain ends before the one above it. Only
 * CPUs whose clocks differ could break this. A chain is therefore cut at CHAIN_DEPTH, and the remaining time
 * goes to CHAIN_TOO_DEEP.
 *
 * It is time, not cause: in that time a waker may have done other things, for other threads.
 */
#ifndef CPROF_BLAME_CHAIN_H
#define CPROF_BLAME_CHAIN_H

#include "common/base/idmap.h"
#include "common/stream/record.h"

enum { CHAIN_DEPTH = 64, CHAIN_NO_THREAD = UINT32_MAX };

/* A thread slept in [start, woken) and was queued in [woken, on), from which [woken, throttled) is taken. */
struct chain_wait {
	uint64_t start, woken, on;
	uint32_t thread, waker; /* CHAIN_NO_THREAD: by is not a thread, or it is not known which */
	uint32_t place, queue;	/* where it slept, and where it was queued */
	uint32_t waking;	/* where its waker woke it; 0: unknown */
	uint8_t by;		/* enum woken_by */
	uint64_t throttled;	/* until then a quota kept it from running; 0: it did not */
	uint32_t quota;		/* where */
};

/* A sample of CPU time, or a sum of short waits. Its weight, in ns, covers the time that ends at its own. */
struct chain_part {
	uint64_t time, weight;
	uint32_t thread, place;
	bool waits;
};

enum chain_kind {
	CHAIN_ROOT,	    /* place: the wait to be explained */
	CHAIN_WAKER,	    /* thread: it ended the wait above; below are its waits and work meanwhile */
	CHAIN_WAKING,	    /* place: its stack as it ended the wait above */
	CHAIN_SITE,	    /* place: it slept there itself */
	CHAIN_RAN,	    /* thread: it ran, or had short waits; its own ns are running time without a sample */
	CHAIN_PART,	    /* place: the part of CHAIN_RAN that a sample stands for */
	CHAIN_SHORT,	    /* place: of that, short waits */
	CHAIN_QUEUE,	    /* place: it was queued, or throttled */
	CHAIN_BY,	    /* enum woken_by: what else ended the wait above */
	CHAIN_NOT_STARTED,  /* the waker did not exist yet */
	CHAIN_NOT_RECORDED, /* nothing is known of what the waker did */
	CHAIN_TOO_DEEP,
	CHAIN_KINDS,
};

struct chain_link {
	uint32_t parent, root; /* indices; of a CHAIN_ROOT its own */
	uint32_t what;	       /* place, thread or enum woken_by */
	uint8_t kind;	       /* enum chain_kind */
	uint64_t ns;
};

struct chain {
	struct chain_wait *waits;
	size_t n_waits, cap_waits;
	struct chain_part *parts;
	size_t n_parts, cap_parts;
	uint64_t *since; /* by thread: when it began, or was first seen; 0: unknown */
	size_t cap_since;
	size_t *first_wait, *first_part; /* by thread; n_threads + 1 entries */
	uint32_t n_threads;
	struct chain_link *links;
	size_t n_links, cap_links;
	struct idmap children;
	bool failed; /* out of memory */
};

void chain_init(struct chain *c);
void chain_release(struct chain *c);
/* Add a wait or a part, in any order. The waits of a thread must not overlap. */
void chain_wait(struct chain *c, const struct chain_wait *w);
void chain_part(struct chain *c, const struct chain_part *p);
/* Notes that the time of a thread is recorded from then on. Without this and waits, it is not recorded. */
void chain_since(struct chain *c, uint32_t thread, uint64_t time);
/* Call it once, before chain_explain. */
void chain_sort(struct chain *c);
/* Explains [from, to), a part of the sleep of w, below the root of this place. */
void chain_explain(struct chain *c, uint32_t place, const struct chain_wait *w, uint64_t from, uint64_t to);
/* Divides the time that wakers ran by their samples. Call it once, after the last chain_explain. */
void chain_settle(struct chain *c);

#endif
