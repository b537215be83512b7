/*
 * The threads that had the CPU while another one was in the queue for it, by the samples on that CPU in that
 * time. A time in the queue is often shorter than the time between two samples, so all samples in
 * any of a thread's times in the queue are pooled, and the thread's total time in the queue is divided among
 * them.
 *
 *	struct culprits c = { 0 };
 *
 *	culprits_sample(&c, &(struct culprit_sample){ ... });	// each sample of CPU time, of any thread
 *	culprits_queue(&c, cpu, thread, from, to);		// each time in the queue
 *	culprits_find(&c);
 *	for (i = 0; i < c.n_found; i++)
 *		...c.found[i].ns of the time of c.found[i].thread are due to c.found[i].who...
 *	culprits_release(&c);
 *
 * The ns found for a thread add up to exactly its time in the queue. Threads and culprits are numbers of the
 * caller's. If the samples stand for less time than the thread was queued, by more than chance
 * explains, the rest is nobody's: the CPU was idle, or its samples were lost or left out.
 */
#ifndef CPROF_BLAME_CULPRITS_H
#define CPROF_BLAME_CULPRITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CULPRITS_NOBODY = UINT32_MAX }; /* there are no samples of that time */

struct culprits {
	struct culprit_sample {
		uint64_t time, weight; /* ns; the weight covers the time that ends at its own */
		uint32_t cpu, thread, who;
	} * samples;
	size_t n_samples, cap_samples;
	struct culprit_queue {
		uint64_t from, to;
		uint32_t cpu, thread;
	} * queues;
	size_t n_queues, cap_queues;
	struct culprit {
		uint64_t ns;	/* at first the weight of the samples */
		uint64_t count; /* samples */
		uint32_t thread, who;
	} * found; /* by thread, then by who */
	size_t n_found, cap_found;
	double hits; /* the number of samples of equal weight that would estimate the shares as precisely */
	bool failed; /* out of memory */
};

void culprits_release(struct culprits *c);
void culprits_sample(struct culprits *c, const struct culprit_sample *s);
void culprits_queue(struct culprits *c, uint32_t cpu, uint32_t thread, uint64_t from, uint64_t to);
void culprits_find(struct culprits *c);

#endif
