/*
 * Sums of the waits for each lock, for a table: the waits themselves, and the waiting time by holder, by
 * waiting thread, by the place where it waits, by the place where the lock was let go, and by what went on
 * meanwhile.
 *
 *	struct lock_sums s;
 *
 *	lock_sums_init(&s);
 *	view.locks = &s;			// blame.h then fills it
 *	...
 *	lock_sums_sort(&s);
 *	for (i = 0; i < s.n_locks; i++)		// the longest waited for first
 *		for (j = s.locks[i].first; j < s.locks[i].end; j++)
 *			...s.parts[j] is a part of the time of s.locks[i]...
 *	lock_sums_release(&s);
 */
#ifndef CPROF_BLAME_LOCK_SUMS_H
#define CPROF_BLAME_LOCK_SUMS_H

#include "common/base/intern.h"
#include "common/stream/record.h"

enum lock_part_kind {
	LOCK_HOLDER, /* a thread held it when the wait began */
	LOCK_WAITER,
	LOCK_SITE,     /* the function that wanted it */
	LOCK_RELEASE,  /* the function that let it go */
	LOCK_MEANWHILE, /* where the threads that let it go spent the time */
	LOCK_PART_KINDS,
};

struct lock_sums {
	struct intern names, lock_keys, part_keys;
	struct lock_sum {
		uint32_t name; /* in names */
		uint8_t kind;  /* enum lock_kind */
		uint64_t waits, ns, longest;
		size_t first, end; /* its parts, after lock_sums_sort */
		size_t counts[LOCK_PART_KINDS];
	} * locks;
	size_t n_locks, cap_locks;
	struct lock_part {
		uint32_t lock; /* index in locks, until lock_sums_sort */
		uint32_t name;
		uint8_t kind; /* enum lock_part_kind */
		uint64_t ns;
	} * parts; /* after lock_sums_sort by lock, then by kind, then the longest first */
	size_t n_parts, cap_parts;
	bool failed; /* out of memory */
};

void lock_sums_init(struct lock_sums *s);
void lock_sums_release(struct lock_sums *s);
/* Counts a wait for the lock of this name. Returns its index; UINT32_MAX if out of memory. */
uint32_t lock_sums_wait(struct lock_sums *s, struct slice name, enum lock_kind kind, uint64_t ns);
/* Returns the index of a lock that was counted; UINT32_MAX if it was not. */
uint32_t lock_sums_find(const struct lock_sums *s, struct slice name);
void lock_sums_part(struct lock_sums *s, uint32_t lock, enum lock_part_kind kind, struct slice name,
		    uint64_t ns);
/* Call it once, at the end. Locks whose holder is known come first. */
void lock_sums_sort(struct lock_sums *s);

#endif
