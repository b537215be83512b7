/*
 * The destination of the capture: standard output, one file, a series of files (--rotate), or the flight
 * buffer in memory (--ring), which is written to a file on request.
 *
 *	struct output out;
 *
 *	output_open(&out, &options, &mask, &asks);	// ends the program on failure
 *	output_begin(&out);			// sampling begins now: write to out.w
 *	...
 *	switch (output_flush(&out, now)) {
 *	case OUTPUT_STAYS: ...
 *	case OUTPUT_DUE: ...end the segment, output_next(&out), begin a segment...
 *	case OUTPUT_LOST: ...data since the last flush is lost; output_next(&out), begin a segment...
 *	}
 *	...end the segment...
 *	output_close(&out);
 *
 * Without --rotate and --ring, any error ends the program. With them, no error does while recording. If there
 * is no room, and no older file of ours to remove, or if the file system does not answer, output is
 * suspended: all data is discarded until it can be written again.
 */
#ifndef CPROF_RECORD_OUTPUT_OUTPUT_H
#define CPROF_RECORD_OUTPUT_OUTPUT_H

#include "cmd/cprof-record/output/file_process.h"
#include "cmd/cprof-record/output/rotate_process.h"
#include "cmd/cprof-record/output/hooks.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/output/flight_buffer.h"
#include "common/stream/writer.h"

enum output_kind { OUTPUT_ONE, OUTPUT_FILES, OUTPUT_FLIGHT_BUFFER };
enum output_state { OUTPUT_STAYS, OUTPUT_DUE, OUTPUT_LOST };

/* Questions to the recorder. Each returns NULL, or a sentence that ends the recording. */
struct output_asks {
	/* Waits until the descriptor of an output that may stall is ready. Signals may end the wait. */
	const char *(*wait)(void *arg, int fd, short events);
	/* May an existing file be replaced now? */
	const char *(*replace)(void *arg);
	void *arg;
};

struct output {
	const struct options *o;
	struct output_asks asks;
	int fd;           /* -1: process or files write the file */
	struct file_process process;
	bool waits;       /* its reader may stall */
	bool replaces;    /* the file is still as it was: all blocks are in first */
	struct buf first; /* blocks before the first flush */
	struct writer *w; /* valid until output_next */
	enum output_kind kind;
	bool suspended;   /* all data is discarded until there is room again */
	bool silent;      /* it was reported that the file system does not answer; the flight buffer waits */
	bool lossy;       /* the last file ended because it could not be written */
	bool full;        /* the last flush found no room for more: later data may not fit */
	/* By a signal or --when: end the file, or write the flight buffer to one, at the next flush. */
	bool file_requested;
	bool requested_later; /* the same, once the file system has answered */
	struct flight_buffer flight_buffer;
	uint64_t buffer_written; /* when the flight buffer last was, CLOCK_MONOTONIC ns; 0: never */
	uint64_t began;   /* when this file began, CLOCK_MONOTONIC ns */
	uint64_t before;  /* bytes of earlier files */
	uint64_t good;    /* bytes of this file as of the last flush */
	uint64_t written; /* number of complete files, which have their names */
	uint64_t ended;   /* number of files that are to have one */
	bool uncopied;    /* the last copy of the flight buffer failed */
	bool incomplete;  /* data could not be written, or a file has no name: valid after output_close */
	struct rotate_process files;
	struct hooks hooks;
	struct buf complaint; /* a sentence that is not reported yet */
};

/* o and mask (for the commands of --on-rotate) must stay valid until output_release. */
void output_open(struct output *out, const struct options *o, const sigset_t *mask,
		 const struct output_asks *asks);
/* An existing file stays as it is until the first flush, usually a second later. */
void output_begin(struct output *out);
/* Flushes the writer, and returns whether the file stays, is due to end, or has lost data. */
enum output_state output_flush(struct output *out, uint64_t now);
/* Gives the file its name and begins the next one, or suspends output. */
void output_next(struct output *out, uint64_t now);
/* Writes pending data. Commands of --on-rotate may still run, or wait to run. */
void output_close(struct output *out);
void output_release(struct output *out);
bool output_is_standard(const struct output *out);
/* Returns the bytes written to all files. */
uint64_t output_bytes(const struct output *out);

#endif
