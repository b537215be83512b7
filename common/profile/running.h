/*
 * How long threads ran, where the capture knows that exactly, against what samples of CPU time say of it. A timer meets
 * short runs too seldom, or none at all, and what is lost is not there; then on the CPU and off it are not all of a
 * thread's time.
 *
 *	struct running all = { 0 };
 *
 *	running_sample(&all, thread, weight);	// each sample of CPU time that counts, whoever the view asks for
 *	running_span(&all, thread, who, ns);	// a RAN: account number who has that much, and the samples since the last one
 *	running_drop(&all, thread);		// a RAN that does not count: nor are the samples before it compared with anything
 *	...
 *	running_share(&all, who, weight, what)	// for each part of an account, after running_add for each: what it is to weigh
 *	running_forget(&all);			// threads and accounts
 *	running_release(&all);
 *
 * An account is what the view shows as one: so that chance, which gives the one thread a sample too many and the next one
 * none, is not taken for an error of each. Samples behind a thread's last RAN are left as they are.
 */
#ifndef CPROF_PROFILE_RUNNING_H
#define CPROF_PROFILE_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The samples of an account, which weigh less where they are more than it ran; and the spans, which weigh what samples lack. */
enum running_part { RUNNING_SAMPLED, RUNNING_SPANS, RUNNING_PARTS };

struct running {
	uint64_t *since; /* by thread: weight of its samples since its last RAN */
	size_t cap_since;
	struct running_account {
		uint64_t sampled, ran; /* of the same spans */
		uint64_t whole[RUNNING_PARTS], seen[RUNNING_PARTS]; /* of all parts; of those that were shared out */
	} *accounts;
	size_t cap_accounts;
};

/* Those that return bool: false without memory. */
bool running_sample(struct running *r, uint64_t thread, uint64_t weight);
bool running_span(struct running *r, uint64_t thread, uint32_t who, uint64_t ns);
void running_drop(struct running *r, uint64_t thread);
/* An account without a span has none: its parts weigh what they weigh. */
void running_add(struct running *r, uint32_t who, enum running_part what, uint64_t weight);
/* Rounded so that the sum over an account is exact. */
uint64_t running_share(struct running *r, uint32_t who, enum running_part what, uint64_t weight);
void running_forget(struct running *r);
void running_release(struct running *r);

#endif
