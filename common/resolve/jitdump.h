/*
 * Code that jitdump files told of, by time: which name had an address when a sample was taken?
 *
 *	struct jitdump d = { 0 };
 *
 *	jitdump_add(&d, &record);	// as the records come, mostly in the order of their times
 *	if (jitdump_find(&d, address, time, &hit) > 0)
 *		...hit.name, address - hit.start...
 *	if (jitdump_due(&d, n_queries))	// some came later than samples that they name
 *		jitdump_replay(&d, queries, n_queries);
 *	jitdump_release(&d);
 *
 * Of records that cover an address the last one by then counts. A move takes the name along: where the code
 * was there is nothing any more. What nothing named by then gets the first name that it is given afterwards.
 *
 * Programs that write through a large buffer tell of code long after it ran. Then the history is gone through
 * again from its beginning, with all questions in the order of their times. That is done when so
 * much is new that the sum of all such passes stays some 64 times the history, and at the end.
 */
#ifndef CPROF_RESOLVE_JITDUMP_H
#define CPROF_RESOLVE_JITDUMP_H

#include "common/base/hash.h"
#include "common/resolve/perfmap.h"
#include "common/stream/record.h"

struct jitdump_code {
	uint64_t time, start, end, old;
	uint64_t base; /* where the function begins: what moves may be a part of it */
	size_t order; /* of arrival */
	bool moved;
	struct slice name; /* of a move: what it had, once that was gone through */
};

struct jitdump {
	struct jitdump_code *codes; /* the first `applied` are in map */
	size_t n, cap, applied;
	struct perfmap map; /* as of the time `now` */
	uint64_t now, newest; /* newest: the largest time of all codes */
	size_t late;    /* codes that came after a question of their time; until the replay map stays as it is */
	size_t news;    /* codes since the last replay */
	bool unnamed;   /* a question had no answer */
	struct intern names;
};

struct jitdump_query {
	uint64_t address, time;
	uint32_t place; /* the caller's */
	struct perfmap_hit hit; /* name.n is 0 where there is none */
};

void jitdump_release(struct jitdump *d);
/* False without memory. What makes no sense, a close and a mark are passed over. */
bool jitdump_add(struct jitdump *d, const struct record_jitcode *r);
/* 1: named; 0: not; -1: out of memory. Asked in the order of time; older questions are answered as of now. */
int jitdump_find(struct jitdump *d, uint64_t address, uint64_t time, struct perfmap_hit *hit);
/* Would a replay change an answer, and is it worth its time? last: there is no other time. */
bool jitdump_due(const struct jitdump *d, size_t n_queries, bool last);
/* Answers all of them, and sorts them by time. False without memory. */
bool jitdump_replay(struct jitdump *d, struct jitdump_query *queries, size_t n);

#endif
