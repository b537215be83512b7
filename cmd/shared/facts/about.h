/*
 * The identity of captures: the command or the host, the date, the length, and how they were sampled.
 *
 *	struct about a = { 0 };
 *
 *	about_take(&a, &capture);		// at the end of each segment
 *	about_name(&a, "sh", &out);		// "make -j2 on build7"
 *	about_facts(&a, 55700000000, false, &out);
 *	// "2026-11-21 14:03:20 UTC, 55.7 s, cpu-clock at 199 Hz, 2 CPUs"
 *
 * The texts do not depend on the order of the captures. Facts that differ between captures are left out.
 */
#ifndef CPROF_CMD_ABOUT_H
#define CPROF_CMD_ABOUT_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

enum { ABOUT_TEXT = 160 };

/* A fact of all captures. */
struct about_fact {
	char text[ABOUT_TEXT]; /* valid UTF-8; "": unknown */
	bool known, differs;
};

/* All zero to begin with. */
struct about {
	struct about_fact host, command, event, rate, cpus;
	bool whole;           /* a command was recorded together with the whole system */
	/* Begin of the first and of the last segment, nanoseconds since 1970; 0: unknown. */
	uint64_t first, last;
};

/* Adds the facts of a segment. Call it before its records are gone. */
void about_take(struct about *a, const struct capture *c);
/* Adds the facts of other captures. */
void about_add(struct about *a, const struct about *other);
/* Appends the title: the command, otherwise otherwise, and the host; nothing if all of them are unknown. */
void about_name(const struct about *a, const char *otherwise, struct buf *out);
/*
 * Appends the facts that are not in the title, separated by commas. ns: length of the captures. brief: only
 * "2026-11-21 14:03 UTC, 55.7 s at 199 Hz". Dates are in local time.
 */
void about_facts(const struct about *a, uint64_t ns, bool brief, struct buf *out);
/* Appends "55.7 s". */
void about_length(uint64_t ns, struct buf *out);

#endif
