/*
 * From a stream to a profile of waits with their causes. It is that of gather.h with wall set, but each long
 * wait continues with the frames of its waker (chain.h):
 *
 *	comm;main;pthread_join;...;[sleeping];<- worker;work;compute
 *	comm;main;pthread_join;...;[sleeping];<- worker;work;nanosleep;...;[sleeping];[timer]
 *
 * Call the functions as those of gather.h. The view's filters by process, thread, group and label choose the
 * waiting threads, not their wakers. All weights are nanoseconds. The sum is exactly that of the view with
 * wall, because waits are only divided. The result is in the profile after blame_finish.
 *
 * With wakers in place of chains, the only frame is the end of the long wait: a thread, "[timer]" and so on.
 * With locks, the long waits for a futex are below frames for the lock and its holder. With view.locks they
 * are counted there as well (lock_sums.h).
 *
 * With culprits, the stacks are those of samples of the threads that had the CPU while a waiting thread was
 * in its queue (culprits.h), under the view's keys. All other time is left out then.
 *
 * With a replay, the profile stays empty, and the result is in the view's what_if (what_if.h).
 */
#ifndef CPROF_BLAME_BLAME_H
#define CPROF_BLAME_BLAME_H

#include "common/base/intern.h"
#include "common/blame/chain.h"
#include "common/blame/culprits.h"
#include "common/gather/gather.h"

struct blame {
	struct gather gather; /* all threads; its totals and sums are valid after blame_finish */
	struct gather_tap tap;
	struct profile wall; /* its profile; roots are "comm-pid/tid" */
	uint32_t roots;	 /* frames of its stacks that are not functions, up to "comm-pid/tid" */
	uint32_t hidden; /* those before the last that only keep stacks apart */
	struct view view;    /* its view */
	const struct view *asked;
	struct profile *p; /* the caller's */
	unsigned int side;
	struct chain chain;
	struct culprits culprits; /* unused for other views; hits is valid after blame_finish */
	uint64_t throttled;	  /* ns that the view's threads were throttled */
	size_t samples_done;	  /* samples of culprits with nodes of wall, not keys + 1 */
	struct intern identities; /* threads, across segments */
	struct blame_thread {
		uint32_t label;		       /* in wall: "comm-pid/tid" */
		uint32_t comm;		       /* text id, in the segment, from which label was made */
		uint32_t segment;	       /* for which comm and the next four are valid */
		struct blame_last {
			uint32_t key; /* key + 1; 0: there is none */
			size_t part;  /* index + 1 in the chain's parts */
		} slept, throttled, queued; /* the last samples of waiting time */
		uint32_t queue_cpu;
	} * threads;
	size_t cap_threads;
	struct blame_life {
		uint64_t end; /* as far as it was recorded */
		uint64_t from, to; /* the part of the time window before that; from == to: there is none */
		uint32_t process, parent; /* the numbers of their main threads, plus 1; 0: unknown */
		bool exited, wanted;
	} * lives; /* by thread; only for a replay */
	size_t cap_lives;
	struct blame_window {
		uint64_t seen; /* so far */
		uint64_t from, to;
	} window; /* that of the asked view, in the time of this capture; only for a replay */
	uint32_t segment;
	uint64_t captures; /* that have begun; several may be concatenated */
	bool *wanted;	   /* by key: the thread passes the asked view's filters */
	size_t n_wanted, cap_wanted;
	size_t parts_done, waits_done, spans_done; /* whose places are nodes of wall, not keys + 1 */
	struct blame_span {
		struct chain_wait wait;
		uint64_t from, to; /* the part of its sleep in the time window */
		uint32_t pair;	   /* index + 1 in pairs; 0: it is for no lock, or not of interest */
	} * spans;		   /* to be explained */
	size_t n_spans, cap_spans;
	struct intern pairs; /* with locks: a lock and a holder; see blame_locks.c */
	struct buf lock_name;
	bool *shown; /* by node of wall: a wanted thread's */
	size_t cap_shown;
	bool failed; /* out of memory */
};

/* p is empty or has been filled like this before. False if out of memory; it can be released even then. */
bool blame_init(struct blame *b, struct profile *p, unsigned int side, const struct view *view);
void blame_release(struct blame *b);
/* Returns NULL, or a sentence why the record is invalid. */
const char *blame_apply(struct blame *b, const struct record *r);
/* Returns false if out of memory. */
bool blame_finish(struct blame *b);

#endif
