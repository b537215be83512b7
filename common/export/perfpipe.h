/*
 * A stream as a perf pipe, as `perf record -o -` writes it, for perf report and perf script, which find the
 * names themselves.
 *
 *	struct perf_pipe p;
 *
 *	if (!perf_pipe_init(&p, &view)) ...out of memory...
 *	while ((got = reader_next(r, &rec)) > 0) {
 *		const char *wrong = perf_pipe_apply(&p, &rec);
 *
 *		if (wrong)
 *			reader_complain(r, wrong);
 *		...write p.out, buf_clear it...
 *	}
 *	perf_pipe_finish(&p);		// then write p.out a last time
 *	if (p.out.failed || p.capture.no_memory) ...out of memory...
 *	perf_pipe_release(&p);
 *
 * Samples are written as they come, so the other end of a pipe keeps up with a recorder. Layout: perf_event.h
 * of the kernel's uapi, and perf.data-file-format.txt in its tools/perf/Documentation.
 *
 * perf looks up each address of a stack as it is, so a return address is written less one: it then lies in
 * the call, and not in what may be the next function. perf sorts by time what cprof-stream(5) orders by
 * position. So a process brings all of its mappings, also those from its parent. A late record is given at
 * least the time up to which perf has processed its records.
 *
 * A perf pipe cannot express: that memory was unmapped (anonymous memory is mapped there instead), JIT code
 * (perf looks for the process's perf map itself), names, inlined functions, how stacks ended.
 */
#ifndef CPROF_EXPORT_PERFPIPE_H
#define CPROF_EXPORT_PERFPIPE_H

#include "common/base/buf.h"
#include "common/base/intern.h"
#include "common/capture/capture.h"
#include "common/gather/gather.h"

struct perf_pipe {
	struct capture capture;
	const struct view *view; /* its filters choose the samples, its half the frames */
	bool based;    /* base is set */
	uint64_t base; /* see recordings_base */
	struct buf out;
	uint64_t samples;   /* samples written since the caller last set it to 0 */
	uint64_t shortened; /* stacks among them that lost outer frames: a perf record has 64 KiB at most */
	struct intern events; /* by perf's id - 1: name */
	uint32_t ids[CAPTURE_EVENTS]; /* perf's id by event of the segment; 0: not written yet */
	bool begun;         /* the head of the pipe is written */
	bool introduced;    /* the header of this segment is written */
	uint64_t stext;     /* start of the kernel's text as written; 0: not written */
	uint64_t latest;    /* latest time written */
	uint64_t round;     /* latest as of the last FINISHED_ROUND */
	uint64_t floor;     /* perf has processed all up to this time */
};

/* Returns false if out of memory; the object can be released even then. */
bool perf_pipe_init(struct perf_pipe *p, const struct view *view);
/* Returns NULL, or a sentence why the record is invalid. Appends to out. */
const char *perf_pipe_apply(struct perf_pipe *p, const struct record *r);
void perf_pipe_finish(struct perf_pipe *p);
void perf_pipe_release(struct perf_pipe *p);

#endif
