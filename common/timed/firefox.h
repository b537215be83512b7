/*
 * Timed stacks as a profile of the Firefox Profiler: its processed format, version 60. It is described by
 * docs-developer/CHANGELOG-formats.md and src/types/profile.ts of firefox-devtools/profiler. Newer viewers
 * convert it when they read it.
 *
 *	struct firefox_writer *w = firefox_new(&traces, &options);
 *	struct slice bytes;
 *
 *	while (firefox_next(w, &bytes))
 *		...write them...
 *	if (firefox_failed(w)) ...out of memory...
 *	firefox_free(w);
 *
 * Stacks, frames and functions are tables that all threads share. A thread has its samples in order of time.
 * A wait is a sample at its beginning, with its kind as innermost frame, and also a marker with the stack.
 * Times are milliseconds, to the nanosecond.
 *
 * JSON comes from json.h: if json_known is false, do not call these functions.
 */
#ifndef CPROF_TIMED_FIREFOX_H
#define CPROF_TIMED_FIREFOX_H

#include "common/export/traces.h"

struct firefox_options {
	bool weight; /* values are weights, not numbers of samples */
	const char *product; /* the program that makes the file */
};

struct firefox_writer;

/* Traces must be timed and settled, and outlive the writer. Returns NULL if out of memory. */
struct firefox_writer *firefox_new(struct traces *s, const struct firefox_options *options);
/* Sets *bytes to the next piece, valid until the next call; returns false at the end or if out of memory. */
bool firefox_next(struct firefox_writer *w, struct slice *bytes);
bool firefox_failed(const struct firefox_writer *w);
void firefox_free(struct firefox_writer *w);

#endif
