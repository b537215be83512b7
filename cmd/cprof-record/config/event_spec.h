/*
 * Finds the event that the argument of -e names: "page-faults", "context-switches/10",
 * "sched:sched_process_exec", "uprobe:/bin/bash:readline".
 *
 *	struct event e;
 *
 *	if (event_find(&e, "page-faults", &error) != EVENT_FOUND)
 *		...error names the expected events, or says why the event is not available...
 */
#ifndef CPROF_RECORD_CONFIG_EVENT_SPEC_H
#define CPROF_RECORD_CONFIG_EVENT_SPEC_H

#include "cmd/cprof-record/config/probe_spec.h"
#include "common/base/buf.h"

enum { EVENTS_MAX = 16 }; /* in addition to the clock */

enum event_kind { EVENT_SOFTWARE, EVENT_HARDWARE, EVENT_TRACEPOINT, EVENT_PROBE };

struct event {
	enum event_kind kind;
	const char *name; /* as in the stream; valid until the program ends */
	uint32_t type;    /* for perf_event_attr, like config */
	uint64_t config;
	const char *raw;  /* name by which programs attach to a tracepoint without perf; otherwise NULL */
	const struct probe *probe; /* NULL: the kind is another */
	uint64_t count;   /* events that a sample stands for; 0: not given */
};

/* Does not accept cpu-clock, which is not one of these events. */
enum event_found event_find(struct event *e, const char *text, struct buf *error);
/* Returns the weight of a sample without one of its own, in events; 0: each sample has its own. */
uint64_t event_period(const struct event *e);

#endif
