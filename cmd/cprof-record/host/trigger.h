/*
 * Conditions of the host, as --when takes them.
 *
 *	struct trigger w;
 *
 *	if (!trigger_parse(&w, "cpu>90", &error)) ...
 *	if (trigger_holds(&w))			// to be called about once a second
 *		...
 *
 *	cpu>90			percent of the time of all CPUs that is not idle, since the last call
 *	cpu.some>20		pressure (/proc/pressure): percent of the last 10 seconds; memory and io too, some and full
 *	throttled:/web>25	percent of the periods in which a control group was throttled, since the last call
 *
 * Sources: the kernel's Documentation/accounting/psi.rst, Documentation/admin-guide/cgroup-v2.rst
 * ("cpu.stat"), Documentation/scheduler/sched-bwc.rst for version 1.
 */
#ifndef CPROF_RECORD_HOST_TRIGGER_H
#define CPROF_RECORD_HOST_TRIGGER_H

#include "common/base/buf.h"

enum trigger_kind { TRIGGER_CPU, TRIGGER_PRESSURE, TRIGGER_THROTTLED };

struct trigger {
	enum trigger_kind kind;
	char *text;  /* as given */
	double more; /* the threshold, in percent */
	char *path;          /* /proc/pressure/cpu, or the cpu.stat of the group; NULL for TRIGGER_CPU */
	const char *line;    /* "some" or "full" */
	uint64_t part, whole; /* counters at the last call; whole 0: never called */
};

/* Parses a condition; text is copied. False: error is a sentence. */
bool trigger_parse(struct trigger *w, const char *text, struct buf *error);
/* Does the condition hold now? Not if its figures cannot be read. */
bool trigger_holds(struct trigger *w);

#endif
