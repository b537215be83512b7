/*
 * A moment as users write it: a span after the beginning or before now, a time of the clock, or a time of any
 * day.
 *
 *	struct time_arg from;
 *
 *	if (!time_arg_parse(&from, "14:03:20", now, offset)) ...it is invalid...
 *	if (time_arg_between(&from, &to, time - base, time + realtime)) ...
 *
 *	12.5, 12s, 1m30s	this long after the first sample
 *	-90s, -1h, 1 hour ago	this long before now
 *	14:03, 14:03:20.5	this time of each day, at the given offset from UTC
 *	2026-11-21T14:03:20	this moment, at that offset; a space may replace T
 *	14:03Z, 14:03 UTC	with another offset, also +01:00 and +0100
 *	@1795269800.25		seconds since 1970
 */
#ifndef CPROF_SELECT_TIME_ARG_H
#define CPROF_SELECT_TIME_ARG_H

#include "common/base/buf.h"

enum time_arg_kind { TIME_ARG_UNSET, TIME_ARG_OFFSET, TIME_ARG_DAYTIME, TIME_ARG_MOMENT };

struct time_arg {
	enum time_arg_kind kind;
	/*
	 * TIME_ARG_OFFSET: nanoseconds after the first sample, or after the beginning of waits.
	 * TIME_ARG_DAYTIME: after midnight UTC; may be negative or beyond the day. TIME_ARG_MOMENT: since 1970.
	 */
	int64_t ns;
	int64_t midnight; /* TIME_ARG_DAYTIME: when the day begins, on the scale of ns */
};

/*
 * now: nanoseconds since 1970; offset: seconds that the local clock is ahead of UTC. Returns false if the
 * text is not a time.
 */
bool time_arg_parse(struct time_arg *w, const char *text, int64_t now, long offset);
/*
 * Returns whether the time is in [from, to). after: nanoseconds since the first sample, may be negative;
 * clock: nanoseconds since 1970. Two times of the day may have midnight between them; a single one is bounded
 * by midnight on the other side. Unset bounds let everything pass.
 */
bool time_arg_between(const struct time_arg *from, const struct time_arg *to, int64_t after, int64_t clock);

/* Returns whether a bound is set and none is TIME_ARG_OFFSET: the first sample's time is not needed then. */
bool time_arg_by_clock(const struct time_arg *from, const struct time_arg *to);
/*
 * For such bounds: returns whether a part of [first, last], since 1970, may lie between them. May also return
 * true if none does, when one bound is a time of the day and the other is not.
 */
bool time_arg_overlaps(const struct time_arg *from, const struct time_arg *to, int64_t first, int64_t last);

/*
 * Returns how many nanoseconds of a span of n ns, which ends at after (or clock), lie in [from, to). *before:
 * nanoseconds from the end of the last of them to the end of the span.
 */
uint64_t time_arg_overlap(const struct time_arg *from, const struct time_arg *to, int64_t after, int64_t clock, uint64_t n,
			 uint64_t *before);

#endif
