/*
 * Stacks as a speedscope file (https://www.speedscope.app/file-format-schema.json).
 *
 *	struct speedscope_writer *w = speedscope_new(&traces, &options);
 *	struct slice bytes;
 *
 *	while (speedscope_next(w, &bytes))
 *		...write them...
 *	if (speedscope_failed(w)) ...out of memory...
 *	speedscope_free(w);
 *
 * There is a profile for each thread or process, or one for all, sorted by name and number; the heaviest one
 * is shown first. Folded text has one. If one profile holds several commands, these are outermost frames. A
 * wait has its kind as innermost frame.
 *
 * Samples are in order of time if the traces are timed and hold no folded text; those in a row with one stack
 * are one. Otherwise stacks are in the order of their names, each once.
 *
 * JSON comes from json.h: if json_known is false, do not call these functions.
 */
#ifndef CPROF_EXPORT_SPEEDSCOPE_H
#define CPROF_EXPORT_SPEEDSCOPE_H

#include "common/export/traces.h"

enum speedscope_by { SPEEDSCOPE_THREAD, SPEEDSCOPE_PROCESS, SPEEDSCOPE_ALL };

struct speedscope_options {
	enum speedscope_by by;
	bool weight; /* values are weights, not numbers of samples */
	bool lines;  /* frames that differ only in the line are separate */
	const char *exporter;
};

struct speedscope_writer;

/* Traces must be settled, and outlive the writer; a few texts are added. Returns NULL if out of memory. */
struct speedscope_writer *speedscope_new(struct traces *s, const struct speedscope_options *options);
/* Sets *bytes to the next piece, valid until the next call; returns false at the end or if out of memory. */
bool speedscope_next(struct speedscope_writer *w, struct slice *bytes);
bool speedscope_failed(const struct speedscope_writer *w);
void speedscope_free(struct speedscope_writer *w);

#endif
