/*
 * The thread or the device that ended a wait. The program sends the current thread of each waking of a long
 * wait. If an interrupt woke the waiting thread, the current one is an innocent bystander. The program knows
 * that no interrupt is served, or knows this interrupt by its fingerprint; otherwise it sends the kernel's
 * stack, whose outermost frames are the bystander's. So that is read from the leaf to the first frame of an
 * interrupt or softirq.
 *
 *	struct wakers w;
 *
 *	wakers_init(&w, ksym);
 *	wakers_put(&w, waker, &lock, &by);	// SAMPLE_WAKER, in order of time
 *	found = wakers_find(&w, tid, woken);
 *	if (found.by == WOKEN_BY_TASK)
 *		...found.pid, found.tid...
 *	wakers_release(&w);
 */
#ifndef CPROF_RECORD_ENCODE_WAKERS_H
#define CPROF_RECORD_ENCODE_WAKERS_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/encode/lock_owner.h"
#include "cmd/cprof-record/host/ksym.h"
#include "common/base/idmap.h"
#include "common/stream/record.h"

struct waker_found {
	enum woken_by by;
	uint32_t pid, tid; /* WOKEN_BY_TASK: of the waker; tid 0: unknown */
	struct lock_found lock; /* that the thread waited for */
	uint64_t site; /* key of the waker's stack among the wait sites; 0: none */
};

struct wakers {
	struct ksym *ksym;    /* lent */
	struct idmap classes; /* return address to the class of its function */
	struct idmap by_tid;  /* waiting thread to index in items */
	struct pending_waker {
		uint64_t time;
		struct waker_found found;
	} * items;
	size_t n, cap;
};

void wakers_init(struct wakers *w, struct ksym *ksym);
void wakers_release(struct wakers *w);
/*
 * Classifies a waking, and keeps it until the end of the thread's wait. Without memory it is forgotten. *by is
 * its class. Returns true if each interrupt of this fingerprint is of that class.
 */
bool wakers_put(struct wakers *w, const struct waker *waker, const struct lock_found *lock,
		enum woken_by *by);
/* Finds the waking of the thread at this time; .by is WOKEN_BY_UNKNOWN without one. */
struct waker_found wakers_find(const struct wakers *w, uint32_t tid, uint64_t time);
/* Classifies n return addresses, leaf first. idle: the current task is the idle one. */
enum woken_by wakers_classify(struct wakers *w, const uint64_t *stack, size_t n, bool idle);

#endif
