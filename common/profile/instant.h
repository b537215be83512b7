/*
 * A moment as people say it: so long after the beginning, a time of the clock, or a time of any day.
 *
 *	struct instant from;
 *
 *	if (!instant_parse(&from, "14:03:20", offset)) ...it makes no sense...
 *	if (instant_between(&from, &to, time - base, time + realtime)) ...
 *
 *	12.5			seconds after the first sample
 *	14:03, 14:03:20.5	this time of each day, where the offset from UTC is as given
 *	2026-11-21T14:03:20	this moment, by that offset; with Z at its end by UTC; a space may stand for the T
 *	@1795269800.25		seconds since 1970
 */
#ifndef CPROF_PROFILE_INSTANT_H
#define CPROF_PROFILE_INSTANT_H

#include "common/base/buf.h"

enum instant_kind { INSTANT_UNSET, INSTANT_OFFSET, INSTANT_DAYTIME, INSTANT_MOMENT };

struct instant {
	enum instant_kind kind;
	int64_t ns;       /* after the first sample, or the beginning of waits; after midnight UTC, may be negative or beyond the day; since 1970 */
	int64_t midnight; /* of a time of the day: when the day begins, as ns */
};

/* offset: seconds that the local clock is ahead of UTC. False where the text is no time. */
bool instant_parse(struct instant *w, const char *text, long offset);
/*
 * Is the time in [from, to)? after: nanoseconds since the first sample, may be negative; clock: since 1970. Two times of the
 * day may have midnight between them; one alone reaches from, or to, midnight. Unset ones let everything pass.
 */
bool instant_between(const struct instant *from, const struct instant *to, int64_t after, int64_t clock);

/* Are both times of the clock, or one of them, with none of the other kind? Where the first sample was is not asked then. */
bool instant_by_clock(const struct instant *from, const struct instant *to);
/*
 * Of such: may some of [first, last], since 1970, lie between them? It may be true of what does not, where one is a time of the day
 * and the other is none.
 */
bool instant_overlaps(const struct instant *from, const struct instant *to, int64_t first, int64_t last);

/*
 * Of a stretch of time that ends at after, or clock, and is n ns long: how much of it lies in [from, to). *before: how long before
 * its end the last of that ends.
 */
uint64_t instant_overlap(const struct instant *from, const struct instant *to, int64_t after, int64_t clock, uint64_t n,
			 uint64_t *before);

#endif
