/*
 * The last ticks of tasks that are not to be recorded. A recorded thread may be in the queue for their CPU,
 * which is known only when the thread runs again.
 *
 *	struct outsiders o = { 0 };
 *
 *	outsiders_put(&o, sample);		// SAMPLE_OUTSIDE, in order of time
 *	for (at = outsiders_find(&o, from); (s = outsiders_next(&o, &at, cpu, to));)
 *		...s had the CPU at a time from from to to; it is not returned again...
 *	outsiders_release(&o);
 *
 * Ticks are kept until OUTSIDERS_MOST later ones have come, or OUTSIDERS_NS.
 */
#ifndef CPROF_RECORD_ENCODE_OUTSIDERS_H
#define CPROF_RECORD_ENCODE_OUTSIDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/sample.h"

enum { OUTSIDERS_MOST = 1 << 14 }; /* a power of two */
#define OUTSIDERS_NS UINT64_C(60000000000)

struct outsider {
	uint64_t time, cgroup;
	uint32_t cpu, pid, tid;
	bool taken;
};

struct outsiders {
	struct outsider *items; /* a ring */
	size_t cap;             /* a power of two, or 0 */
	size_t first, end;	/* numbers of ticks since the start */
};

void outsiders_release(struct outsiders *o);
/* Without memory, older ticks are dropped. */
void outsiders_put(struct outsiders *o, const struct sample_head *s);
/* Returns the number of the first tick at this time or later. */
size_t outsiders_find(const struct outsiders *o, uint64_t from);
/* Returns the next tick of the CPU before this time, and marks it as taken; NULL: there are no more. */
const struct outsider *outsiders_next(struct outsiders *o, size_t *at, uint32_t cpu, uint64_t to);

#endif
