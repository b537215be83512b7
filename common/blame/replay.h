/*
 * Replays chains of waits as if a function had run for a shorter time. Runs of threads get shorter by the
 * function's share of them; then the threads that waited for them go on earlier, and so on.
 *
 *	struct replay r;
 *
 *	replay_init(&r, &chain, lives, scaled, sleeps);	// after chain_sort
 *	r.pauses = pauses;				// if the requests of a server are of interest
 *	replay_run(&r, 0.5, REPLAY_MOST);		// half of its running time is saved
 *	...r.saved[thread].end ns earlier it reached its end, and r.saved[thread].begin its begin...
 *	replay_release(&r);
 *
 * The chains do not have all that decides, so two runs give bounds:
 *
 *	                  REPLAY_LEAST                    REPLAY_MOST
 *	woken by thread   when the waker gets there,      when the waker gets there, which
 *	                  which waits for the sleeper     never waits
 *	                  if it comes first
 *	timer, network    at the same moment              after a sleep of the same length
 *	unknown           at the same time                earlier by what any thread has saved
 *	queue for a CPU   as long                         shorter by the function's runs on that CPU; if it
 *	                                                  was preempted, by the function's share of its runs
 *	throttled         as long                         not at all, if the thread ran the function
 *	short waits       as long                         none, up to what the function saves in all;
 *	                                                  those for a CPU and for timers as above
 *	new thread        begins earlier by the smallest  by the largest of them
 *	                  saving of the threads that may
 *	                  have created it
 *
 * In both, a disk takes as long as before, and so does a sleep that its wait site shows to be for a duration.
 * A wait that did not happen, because a lock was free, does not appear. If the waker of a wait is unknown,
 * that of another wait of the thread at that wait site is taken. It stays unknown only if none is known.
 *
 * A request is the time of a thread from the end of a wait at one of the pauses to the beginning of its next
 * one. If the table says "at the same moment" for a wait within a request, the moment counts from the
 * beginning of the request: other requests do not arrive sooner because earlier ones took less time.
 *
 * The share of a function is that of a gap between long waits if the gap has many samples. Otherwise it is
 * that of all gaps of the thread between the same two wait sites. The function's position in the gap is taken
 * from these, too: a thread may wake another one before it calls the function, or after.
 */
#ifndef CPROF_BLAME_REPLAY_H
#define CPROF_BLAME_REPLAY_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/blame/chain.h"

enum replay_bound { REPLAY_LEAST, REPLAY_MOST };
/* How a thread sleeps until a timer wakes it, if the wait site shows it. */
enum replay_sleep {
	SLEEP_UNKNOWN,
	SLEEP_FOR, /* for a duration, as nanosleep */
	SLEEP_UNTIL, /* for a moment that does not depend on the thread, as a periodic timer */
	SLEEP_QUEUED, /* not asleep: waiting for a CPU */
};

/* By thread of the chain: when it began and ended, as far as recorded. Times are those of the chain. */
struct replay_life {
	uint64_t begin, end;
	uint32_t process, parent; /* process ids */
	bool exited;
	double queue_share; /* the function's part of the samples on its CPU while it was in the queue */
};

/* The requests of a thread that began and ended in the recording. */
struct replay_requests {
	uint64_t n;
	double ns, saved;
};

struct replay_request {
	uint32_t thread;
	uint64_t ns;
};

struct replay {
	const struct chain *chain;
	const struct replay_life *lives;
	const bool *scaled;    /* by place: the function is in its stack */
	const uint8_t *sleeps; /* by place: enum replay_sleep */
	const bool *pauses;    /* by place: waits there separate requests; NULL: there are none */
	double ran;	       /* ns that the function ran, in all threads */
	double part;	       /* ns of the function that one of its samples stands for */
	uint64_t samples;
	struct replay_saved {
		double begin, end;
		struct replay_requests requests;
	} * saved; /* by thread, in ns */
	struct replay_request *requests; /* all threads' requests, as recorded */
	size_t n_requests, cap_requests;
	double *own_before; /* by part: weight of the function's samples before it, in all threads */
	uint32_t *causes; /* by wait: that wait, or one whose waker stands for its own */
	struct replay_gap *gaps; /* before each wait; then the last one of each thread */
	struct intern pools;
	struct replay_sum *sums; /* by pool */
	size_t cap_sums;
	struct replay_point *points;
	size_t n_points, cap_points;
	struct replay_event *events;
	size_t n_events;
	struct replay_thread *threads;
	enum replay_bound bound;
	double share; /* the part of the function's running time that is saved */
	double most;  /* that any thread has saved so far */
	bool failed;  /* out of memory */
};

void replay_init(struct replay *r, const struct chain *c, const struct replay_life *lives, const bool *scaled,
		 const uint8_t *sleeps);
/* May be called several times. */
void replay_run(struct replay *r, double share, enum replay_bound bound);
void replay_release(struct replay *r);

#endif
