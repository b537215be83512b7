/*
 * Which event is meant by what stands behind -e: "page-faults", "context-switches/10", "sched:sched_process_exec".
 *
 *	struct event e;
 *
 *	if (event_find(&e, "page-faults", &error) != EVENT_FOUND)
 *		...the error says what "page-faults" is not...
 */
#ifndef CPROF_RECORD_EVENTS_H
#define CPROF_RECORD_EVENTS_H

#include "common/base/buf.h"

enum { EVENTS_MAX = 16 }; /* beside the clock */

enum event_kind { EVENT_SOFTWARE, EVENT_HARDWARE, EVENT_TRACEPOINT };

struct event {
	enum event_kind kind;
	const char *name; /* as the stream has it; good for as long as the program runs */
	uint32_t type;    /* of perf_event_attr, as the next */
	uint64_t config;
	const char *raw;  /* of a tracepoint that programs can be called by without perf: what it is called; else NULL */
	uint64_t count;   /* a sample stands for so many; 0: not said */
};

enum event_found {
	EVENT_FOUND,
	EVENT_UNKNOWN, /* it makes no sense, here or anywhere */
	EVENT_REFUSED, /* the system does not let us know */
};

/* Not cpu-clock, which is none of these. */
enum event_found event_find(struct event *e, const char *text, struct buf *error);
/* What a sample weighs that does not say; 0: each says. */
uint64_t event_period(const struct event *e);

#endif
