/*
 * One pass over a stream: its records are written as they came, and the names of its frames among them.
 *
 *	pass_begin(&p, modules, &times, NULL);
 *	for (; *paths && got <= 0; paths++)
 *		status = pass_file(&p, *paths, &got);
 *	pass_end(&p);
 *	cli_writer_done(p.writer);
 *	pass_release(&p);
 *
 * All of them print their messages on standard error, and exit if memory runs out.
 */
#ifndef CPROF_SYM_PASS_H
#define CPROF_SYM_PASS_H

#include "cmd/shared/cli.h"
#include "common/capture/capture.h"
#include "common/resolve/namer.h"
#include "common/resolve/script_lines.h"
#include "common/select/window_cut.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"

/* The reader, the capture it describes, the names and the writer. */
struct pass {
	struct reader *reader;
	struct writer *writer; /* to standard output */
	struct capture capture;
	struct namer *namer;
	struct script_lines *lines;
	uint64_t bytes; /* bytes that the writer had written before this record */
	bool open; /* the last record was a name or filled a block: names of an earlier run may follow */
	bool due;  /* that block has ended, and the missing names have not been written yet */
	bool timed; /* --from or --to was given */
	struct window_cut cut;
	uint64_t segments, unwanted; /* segments passed on; segments left out unread */
	uint64_t first, last;        /* times of the segments left out, nanoseconds since 1970 */
};

/*
 * Names come from modules and from scripts below symfs (NULL: /). Samples outside of the times are left out.
 * modules, times and symfs are borrowed until pass_release.
 */
void pass_begin(struct pass *p, struct modules *modules, const struct view *times, const char *symfs);
/*
 * Passes on the records of a file, as a continuation of the file before. *got: above 0 if writing failed, 0
 * at the end of the stream, below 0 if reading failed.
 */
enum status pass_file(struct pass *p, const char *path, int *got);
/* Writes the records that wait for the end of the stream. The caller flushes the writer. */
void pass_end(struct pass *p);
void pass_release(struct pass *p);

#endif
