/*
 * Where the capture goes: to standard output, into one file, with --rotate into file after file, or with --ring into
 * memory, and into a file when that is asked for.
 *
 *	struct output out;
 *
 *	output_open(&out, &options, &mask);	// dies where it cannot be had
 *	output_begin(&out);			// sampling begins now: out.w is to be written to
 *	...
 *	switch (output_flush(&out, now)) {	// what was written is on its way
 *	case OUTPUT_STAYS: ...
 *	case OUTPUT_DUE: ...end the segment, output_next(&out), begin a segment...
 *	case OUTPUT_LOST: ...what came since the last flush is lost; output_next(&out), begin a segment...
 *	}
 *	...end the segment...
 *	output_close(&out);
 *
 * Without --rotate and --ring whatever goes wrong ends the program. With them nothing does: where there is no room, and no older
 * file of ours that could make some, the output is dark: what is written goes nowhere until there is room again.
 */
#ifndef CPROF_RECORD_OUTPUT_H
#define CPROF_RECORD_OUTPUT_H

#include "cmd/cprof-record/files.h"
#include "cmd/cprof-record/hooks.h"
#include "cmd/cprof-record/options.h"
#include "cmd/cprof-record/recent.h"
#include "common/stream/writer.h"

enum output_kind { OUTPUT_ONE, OUTPUT_FILES, OUTPUT_RECENT };
enum output_state { OUTPUT_STAYS, OUTPUT_DUE, OUTPUT_LOST };

struct output {
	const struct options *o;
	int fd;
	struct writer *w; /* good until output_next */
	enum output_kind kind;
	bool dark;
	bool lossy;       /* the last file ended because it could not be written */
	bool full;        /* the last flush found no room for more: what comes behind it may not fit */
	bool turn;        /* the next flush is to be the last of this file; what is in memory is to be written */
	struct recent recent;
	uint64_t turned;  /* when what was in memory was written last; 0: never */
	uint64_t began;   /* this file: CLOCK_MONOTONIC */
	uint64_t before;  /* bytes of the files before */
	uint64_t good;    /* bytes of this file as of the last flush */
	uint64_t written; /* files that have their names */
	struct files files;
	struct hooks hooks;
	struct buf complaint; /* a sentence that has not been said yet */
};

void output_open(struct output *out, const struct options *o, const sigset_t *mask);
/* Empties a file that was there. */
void output_begin(struct output *out);
enum output_state output_flush(struct output *out, uint64_t now);
/* The file gets its name, and the next one is begun; or the output is dark. */
void output_next(struct output *out, uint64_t now);
/* Writes what waits. Hooks may still run, or have to. */
void output_close(struct output *out);
void output_release(struct output *out);
/* Bytes written into all files. */
uint64_t output_bytes(const struct output *out);

#endif
