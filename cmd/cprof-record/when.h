/*
 * Conditions of the host, as --when has them.
 *
 *	struct when w;
 *
 *	if (!when_parse(&w, "cpu>90", &error)) ...
 *	if (when_holds(&w, now))		// asked about once a second
 *		...
 *
 *	cpu>90			percent of the time of all CPUs that is not idle, since it was asked last
 *	cpu.some>20		pressure (/proc/pressure): percent of the last 10 seconds; memory and io too, some and full
 *	throttled:/web>25	percent of the periods in which a control group was throttled, since it was asked last
 *
 * Documentation/accounting/psi.rst, Documentation/admin-guide/cgroup-v2.rst ("cpu.stat"),
 * Documentation/scheduler/sched-bwc.rst for version 1.
 */
#ifndef CPROF_RECORD_WHEN_H
#define CPROF_RECORD_WHEN_H

#include "common/base/buf.h"

enum when_kind { WHEN_CPU, WHEN_PRESSURE, WHEN_THROTTLED };

struct when {
	enum when_kind kind;
	char *text;  /* as it was given */
	double more; /* than this, in percent */
	char *path;          /* /proc/pressure/cpu, or the cpu.stat of the group; NULL for WHEN_CPU */
	const char *line;    /* "some" or "full" */
	uint64_t part, whole; /* counters when it was asked last; whole 0: never */
};

/* False: error is a sentence. */
bool when_parse(struct when *w, const char *text, struct buf *error);
/* What cannot be read does not hold. */
bool when_holds(struct when *w);

#endif
