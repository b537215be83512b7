/*
 * The file of --metrics, replaced as a whole each time. A process opens its directory, and works in it itself
 * if its file system may not answer.
 *
 *	struct metrics_file m;
 *
 *	metrics_file_open(&m, path);
 *	if (!metrics_file_write(&m, &text, false)) ...errno...
 *	metrics_file_close(&m);
 *
 * The directory stays the same while it exists: another user may decide where its path leads later.
 */
#ifndef CPROF_RECORD_OUTPUT_METRICS_FILE_H
#define CPROF_RECORD_OUTPUT_METRICS_FILE_H

#include "cmd/cprof-record/output/output_process.h"
#include "common/base/buf.h"

struct metrics_file {
	const char *path;
	int dir;         /* a local directory; -1: none, or the process has it */
	int error;       /* the last write or opening failed; 0: it did not */
	bool opening;    /* the process has not answered about the directory yet */
	struct output_process process;
};

/* If the directory is missing, each write tries again. */
void metrics_file_open(struct metrics_file *m, const char *path);
/*
 * Replaces the file. Without a local directory it does not wait: the next call has the result, and writes
 * nothing if there is none yet. last: waits for the result. False: errno.
 */
bool metrics_file_write(struct metrics_file *m, const struct buf *text, bool last);
void metrics_file_close(struct metrics_file *m);

#endif
