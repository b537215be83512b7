/*
 * The sums of a segment's samples, by the ids of the capture, until the segment ends. For collect.c and
 * collect_running.c.
 */
#ifndef CPROF_EXPORT_COLLECT_SUMS_H
#define CPROF_EXPORT_COLLECT_SUMS_H

#include "common/export/collect.h"

/* As event of a key: the time that a thread ran, as reported in a RAN record. */
enum { COLLECT_RAN = CAPTURE_EVENTS };

/* Samples with the same key are summed. Has no padding, because keys are compared as bytes. */
struct collect_key {
	uint64_t epoch; /* 0 without user frames */
	uint32_t process, thread, comm;
	uint32_t user, kernel, event;
	uint32_t cgroup; /* text id of the path of the process's group at that time; 0: unknown */
	uint32_t waker;  /* end of a wait, see collect_woken; 0: none */
};

/* The wakers that are no threads are WAKER_NOT + enum woken_by; a thread is WAKER_THREAD + its id. */
enum { WAKER_NOT = 1, WAKER_THREAD = WAKER_NOT + WOKEN_BYS };

struct collect_sum {
	uint64_t samples, weight;
	uint32_t owner, node; /* once the stack is added; owner 0: it does not count */
	bool weighs;          /* its event has the unit of the weights */
};

struct collect_moment {
	uint64_t time, weight;
	uint32_t key, cpu;
};

/* Adds to the sum of a key; returns false if out of memory. *id: the number of the key. */
bool collect_add_key(struct collect *c, const struct collect_key *key, uint64_t samples, uint64_t weight,
		     uint32_t *id);
/* Notes a sample of waiting time that counts, with its weight and the number of its moment + 1. */
bool collect_slept(struct collect *c, uint64_t thread, uint32_t key, uint64_t weight, size_t moment);
/* Moves the long wait from its sample's key to one with the waker. Returns false if out of memory. */
bool collect_woken(struct collect *c, const struct record_woken *r);
/* Sets the waker of an owner, if there is one. Returns false if out of memory. */
bool collect_waker(struct collect *c, uint32_t waker, struct traces_owner *owner);
/* Claims weight in the traces; returns NULL, or a sentence if the sum would be too large. */
const char *collect_claim(struct collect *c, uint64_t weight);

#endif
