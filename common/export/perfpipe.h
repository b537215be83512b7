/*
 * A stream as a perf pipe: what `perf record -o -` writes, for perf report and perf script, which find the names
 * themselves.
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
 * Samples go on as they come, so the other end of a pipe keeps up with a recorder. Layout: perf_event.h of the kernel's
 * uapi, and perf.data-file-format.txt in its tools/perf/Documentation.
 *
 * perf looks up each address of a stack as it stands, so a return address is given less one: it then lies in the call,
 * and not in what may be the next function. perf sorts by time what cprof-stream(5) orders by place. So a process
 * brings all of its mappings, those too that it has from its parent; and what is told late is given the time
 * up to which perf has been told to go on, at least.
 *
 * What perf cannot be told: that memory was unmapped (anonymous memory is mapped there instead), what a JIT compiler
 * put where (perf looks for the perf map of the process itself), names, inlined functions, how stacks ended.
 */
#ifndef CPROF_EXPORT_PERFPIPE_H
#define CPROF_EXPORT_PERFPIPE_H

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/capture/capture.h"
#include "common/profile/gather.h"

struct perf_pipe {
	struct capture capture;
	const struct view *view; /* says which samples count, and which half of their stacks */
	bool based;    /* base is set */
	uint64_t base; /* time of the capture's first sample */
	struct buf out;
	uint64_t samples;   /* written, since who counts them set it to 0 */
	uint64_t shortened; /* of these, stacks that lost outer frames: a record of perf's has 64 KiB at most */
	struct intern events; /* by perf's id - 1: name */
	uint32_t ids[CAPTURE_EVENTS]; /* by event of the segment; 0: perf does not know it yet */
	bool begun;         /* the head of the pipe is written */
	bool introduced;    /* so is what the header of this segment says */
	uint64_t stext;     /* of the kernel that perf was told of; 0: none */
	uint64_t latest;    /* of all that was written, the latest time */
	uint64_t round;     /* that time when perf was last told to go on */
	uint64_t floor;     /* up to here it has gone on */
};

/* False without memory; the object can be released all the same. */
bool perf_pipe_init(struct perf_pipe *p, const struct view *view);
/* NULL, or a sentence why the record makes no sense. */
const char *perf_pipe_apply(struct perf_pipe *p, const struct record *r);
void perf_pipe_finish(struct perf_pipe *p);
void perf_pipe_release(struct perf_pipe *p);

#endif
