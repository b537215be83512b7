/*
 * The exact run time of threads, if the capture has it, against their samples of CPU time. A timer meets
 * short runs too seldom or never, and lost samples are missing; then on-CPU and off-CPU time do not add up to
 * a thread's whole time.
 *
 *	struct running all = { 0 };
 *
 *	running_sample(&all, thread, weight);	// each sample of CPU time that counts, of any thread
 *	running_span(&all, thread, who, ns);	// a RAN: account who gets ns, and the samples up to it
 *	running_drop(&all, thread);		// a RAN that does not count: drops the samples before it
 *	...
 *	running_share(&all, who, what, weight)	// after running_add for all parts: a part's new weight
 *	running_forget(&all);			// clears threads and accounts
 *	running_release(&all);
 *
 * An account is the threads that the view shows as one. Random sampling error is thus corrected per account,
 * not per thread. Samples after a thread's last RAN stay as they are.
 */
#ifndef CPROF_SELECT_RUNNING_H
#define CPROF_SELECT_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An account's samples, scaled down if they exceed its run time; its spans, scaled to what is not sampled. */
enum running_part { RUNNING_SAMPLED, RUNNING_SPANS, RUNNING_PARTS };

struct running {
	uint64_t *since; /* by thread: weight of its samples since its last RAN */
	size_t cap_since;
	struct running_account {
		uint64_t sampled, ran; /* nanoseconds of the same spans */
		/* sum of all parts; of the parts shared out so far */
		uint64_t whole[RUNNING_PARTS], seen[RUNNING_PARTS];
	} *accounts;
	size_t cap_accounts;
};

/* Functions that return bool return false if out of memory. */
bool running_sample(struct running *r, uint64_t thread, uint64_t weight);
bool running_span(struct running *r, uint64_t thread, uint32_t who, uint64_t ns);
void running_drop(struct running *r, uint64_t thread);
/* Adds a part to its account. If the account has no span, its parts keep their weight. */
void running_add(struct running *r, uint32_t who, enum running_part what, uint64_t weight);
/* Returns the part's new weight, rounded so that the sum over an account is exact. */
uint64_t running_share(struct running *r, uint32_t who, enum running_part what, uint64_t weight);
void running_forget(struct running *r);
void running_release(struct running *r);

#endif
