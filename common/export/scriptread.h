/*
 * The text of perf script as a stream, with names: for captures that perf made.
 *
 *	struct script_reader r;
 *
 *	if (!script_reader_init(&r, fd, writer, DEMANGLE_SIMPLIFIED)) ...out of memory...
 *	got = script_read(&r);		// writes every good sample
 *	if (got < 0) ...errno, or the writer's error...
 *	if (r.bad)			// so many lines made no sense: r.first_bad, r.why
 *	script_reader_release(&r);
 *
 * The stream needs no cprof-sym: each frame has its name, with its offset, its source line and what is inlined there,
 * as far as the text has them. A line that makes no sense is left out, and the rest of its sample stays.
 *
 * What the text does not say: where files were mapped (perf prints addresses as the files have them), so each
 * file gets a range of addresses for itself, and an offset that no file has; how stacks ended (see profile/ends.h);
 * what was lost; by which clock times are. Without a number of the process, that of the thread is taken for it. A
 * sample without a period weighs 1.
 *
 * Memory is bounded: when names and stacks have grown to SCRIPT_SEGMENT bytes or so, a new segment begins.
 */
#ifndef CPROF_EXPORT_SCRIPTREAD_H
#define CPROF_EXPORT_SCRIPTREAD_H

#include "common/base/hash.h"
#include "common/export/scriptline.h"
#include "common/resolve/demangle.h"
#include "common/stream/writer.h"

enum {
	SCRIPT_LINE_MAX = 1 << 20, /* a longer one is bad */
	SCRIPT_DEPTH_MAX = 1 << 16, /* frames of one sample; outer ones are left out */
	SCRIPT_SEGMENT = 96 << 20,
};

struct script_reader {
	int fd;
	struct writer *w;
	enum demangle_mode demangle; /* of the names of functions in files */
	uint64_t lines, bad, first_bad; /* lines read, lines left out, number of the first one */
	const char *why;                /* of the first one */
	uint64_t samples;               /* written */

	uint8_t *in; /* bytes [at, n) have not been used */
	size_t at, n, cap;
	bool eof, skipping; /* the rest of a line that is too long */

	/* What the comments at the beginning say, for the header. */
	struct buf facts[4];

	/* The sample whose lines are being read. */
	bool open;
	struct script_head head;
	uint64_t thread, event;
	uint32_t *stack; /* innermost frame first */
	size_t n_stack, cap_stack;
	bool cut;        /* outer frames were left out */

	/* Of the segment. Numbers of texts, functions and so on are those of their interns, ids one more. */
	bool begun;
	uint64_t time, flushed; /* of the latest sample; when the last block was ended */
	uint64_t segment_samples;
	struct intern lines_seen;  /* lines of frames, and what a source line makes of one */
	struct script_known *known;
	size_t cap_known;
	struct intern units;       /* a function with all that is inlined there: numbers of frames */
	struct intern strings, events, files, comms;
	struct idmap processes, threads, mappings, frames, nodes;
	uint32_t *thread_comms;    /* by thread: number of the command + 1 */
	size_t cap_thread_comms, n_frames, n_nodes;
	bool failed;               /* out of memory */
};

/* False without memory; the object can be released all the same. The descriptor and the writer stay the caller's. */
bool script_reader_init(struct script_reader *r, int fd, struct writer *w, enum demangle_mode demangle);
/* 0: all was read. -1: the system failed; see writer_error, else errno (ENOMEM too). */
int script_read(struct script_reader *r);
void script_reader_release(struct script_reader *r);

#endif
