/*
 * Stacks as a file of speedscope (https://www.speedscope.app/file-format-schema.json).
 *
 *	struct speedscope_writer *w = speedscope_new(&traces, &options);
 *	struct slice bytes;
 *
 *	while (speedscope_next(w, &bytes))
 *		...write them...
 *	if (speedscope_failed(w)) ...out of memory...
 *	speedscope_free(w);
 *
 * There is a profile for each thread, process or for all, sorted by name and number, and the heaviest one is shown
 * first. Of folded text there is one. Stacks stand in the order of their names, each once. Where one profile holds
 * several commands, these are outermost frames.
 *
 * JSON is json.h's: where that is not known, this must not be called.
 */
#ifndef CPROF_EXPORT_SPEEDSCOPE_H
#define CPROF_EXPORT_SPEEDSCOPE_H

#include "common/export/traces.h"

enum speedscope_by { SPEEDSCOPE_THREAD, SPEEDSCOPE_PROCESS, SPEEDSCOPE_ALL };

struct speedscope_options {
	enum speedscope_by by;
	bool weight; /* not samples */
	bool lines;  /* frames are apart that differ in the line alone */
	const char *exporter;
};

struct speedscope_writer;

/* The stacks are settled. NULL without memory. */
struct speedscope_writer *speedscope_new(const struct traces *s, const struct speedscope_options *options);
/* The next piece, good until the next call; false at the end, and without memory. */
bool speedscope_next(struct speedscope_writer *w, struct slice *bytes);
bool speedscope_failed(const struct speedscope_writer *w);
void speedscope_free(struct speedscope_writer *w);

#endif
