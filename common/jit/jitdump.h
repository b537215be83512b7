/*
 * Code from jitdump files, by time: finds the name that an address had when a sample was taken.
 *
 *	struct jitdump d = { 0 };
 *
 *	jitdump_add(&d, &record);	// as the records come, mostly in order of time
 *	if (jitdump_find(&d, address, time, &hit) > 0)
 *		...hit.name, address - hit.start...
 *	if (jitdump_due(&d, n_queries, false))	// some came later than samples that they name
 *		jitdump_replay(&d, queries, n_queries);
 *	jitdump_release(&d);
 *
 * If several records cover an address, the last one by that time counts. A move takes the name along and
 * leaves nothing at the old place. An address without a name at that time gets the first name after it.
 *
 * Programs that write through a large buffer record code long after it ran. The history is then replayed from
 * its beginning, with all queries in order of time. A replay waits until enough is new, so that all replays
 * together take about 64 times the history; the last one is at the end.
 */
#ifndef CPROF_JIT_JITDUMP_H
#define CPROF_JIT_JITDUMP_H

#include "common/base/intern.h"
#include "common/jit/perfmap.h"
#include "common/stream/record.h"

struct jitdump_code {
	uint64_t time, start, end, old;
	uint64_t base; /* start of the function: a moved range may be a part of it */
	size_t order; /* of arrival */
	bool moved;
	struct slice name; /* for a move the name at the old place, once the move was applied */
};

struct jitdump {
	struct jitdump_code *codes; /* the first `applied` are in map */
	size_t n, cap, applied;
	struct perfmap map; /* as of the time `now` */
	uint64_t now, newest; /* newest: the largest time of all codes */
	/* codes that came after a query for their time; until the replay map stays as it is */
	size_t late;
	size_t news;    /* codes since the last replay */
	bool unnamed;   /* a query had no answer */
	struct intern names;
};

struct jitdump_query {
	uint64_t address, time;
	uint32_t place; /* the caller's */
	struct perfmap_hit hit; /* name.n is 0 if there is none */
};

void jitdump_release(struct jitdump *d);
/* Adds a record; ignores closes, marks, and records that make no sense. Returns false if out of memory. */
bool jitdump_add(struct jitdump *d, const struct record_jitcode *r);
/*
 * Returns 1 if named, 0 if not, -1 if out of memory. Queries come in order of time; an older time is answered
 * as of the newest.
 */
int jitdump_find(struct jitdump *d, uint64_t address, uint64_t time, struct perfmap_hit *hit);
/* Returns true if a replay could change an answer and is worth its time; last: worth any time. */
bool jitdump_due(const struct jitdump *d, size_t n_queries, bool last);
/* Answers all queries, and sorts them by time. Returns false if out of memory. */
bool jitdump_replay(struct jitdump *d, struct jitdump_query *queries, size_t n);

#endif
