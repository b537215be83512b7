/*
 * Reads the text of perf script as a stream with names, for captures that perf made.
 *
 *	struct script_reader r;
 *
 *	if (!script_reader_init(&r, fd, writer, DEMANGLE_SIMPLIFIED)) ...out of memory...
 *	got = script_read(&r);		// writes every good sample
 *	if (got < 0) ...errno, or the writer's error...
 *	if (r.bad)			// number of bad lines; see r.first_bad, r.why
 *	script_reader_release(&r);
 *
 * The stream needs no cprof-sym: each frame has its name, with offset, source line and inlined functions, as
 * far as the text has them. An invalid line is left out; the rest of its sample stays.
 *
 * The text does not say where files were mapped: perf prints addresses as the files have them. So each file
 * gets a range of addresses for itself, and an offset that no file has. The text does not say either how
 * stacks ended (see profile/ends.h), which losses there were, and which clock was used. Without a process
 * number, the thread number is taken for it. A sample without a period weighs 1.
 *
 * Memory is bounded: when names and stacks have grown to about SCRIPT_SEGMENT bytes, a new segment begins. The
 * sample during which they reach twice as much loses the rest of its frames.
 */
#ifndef CPROF_PERFSCRIPT_SCRIPT_READ_H
#define CPROF_PERFSCRIPT_SCRIPT_READ_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/perfscript/script_line.h"
#include "common/demangle/demangle.h"
#include "common/stream/writer.h"

enum {
	SCRIPT_LINE_MAX = 1 << 20, /* bytes; a longer line is bad */
	SCRIPT_DEPTH_MAX = 1 << 16, /* frames of one sample; outer ones beyond that are left out */
	SCRIPT_SEGMENT = 96 << 20,
};

struct script_reader {
	int fd;
	struct writer *w;
	enum demangle_mode demangle; /* for names of functions in files */
	uint64_t lines, bad, first_bad; /* lines read, lines left out, number of the first one left out */
	const char *why;                /* why the first one was left out; a constant */
	uint64_t samples;               /* written */

	uint8_t *in; /* bytes [at, n) are unread */
	size_t at, n, cap;
	bool eof, skipping; /* skipping: the rest of a line that is too long */

	/* Facts from the comments at the beginning, for the header. */
	struct buf facts[4];

	/* The sample whose lines are being read. */
	bool open;
	struct script_head head;
	uint64_t thread, event;
	uint32_t *stack; /* innermost frame first */
	size_t n_stack, cap_stack;
	bool cut;        /* outer frames were left out */
	bool after_frame; /* the line before is a frame of the stack */

	/*
	 * State of the segment. Numbers of texts, functions and so on are those of their interns; ids: + 1.
	 */
	bool begun;
	uint64_t time, flushed; /* time of the latest sample; of the last end of a block */
	uint64_t ksym_time;     /* time of the latest kernel symbol */
	uint64_t segment_samples;
	struct intern lines_seen;  /* lines of frames, alone and combined with a source line */
	struct script_known *known;
	size_t cap_known;
	struct intern units;       /* a function with all functions inlined there: numbers of frames */
	struct intern strings, events, files, comms;
	struct idmap processes, threads, mappings, frames, nodes;
	uint32_t *thread_comms;    /* by thread: number of the command + 1 */
	size_t cap_thread_comms, n_frames, n_nodes;
	bool failed;               /* out of memory */
};

/* Returns false if out of memory; release it even then. The descriptor and the writer stay the caller's. */
bool script_reader_init(struct script_reader *r, int fd, struct writer *w, enum demangle_mode demangle);
/* Puts bytes that the caller has read already before those of fd. Returns false if out of memory. */
bool script_reader_unread(struct script_reader *r, struct slice bytes);
/* Returns 0 if all was read, -1 on failure; see writer_error, otherwise errno (ENOMEM too). */
int script_read(struct script_reader *r);
void script_reader_release(struct script_reader *r);

#endif
