/*
 * Names the frames of a capture, as records to be added to its stream.
 *
 *	struct namer *n = namer_new(modules);
 *
 *	while ((got = reader_next(r, &rec)) > 0) {
 *		...before a SEGMENT, an END: namer_last(n, &c, w)...
 *		wrong = capture_apply(&c, &rec);
 *		if (!wrong && !namer_see(n, &c, &rec))
 *			...out of memory...
 *		...before a FLUSH: namer_say(n, &c, w)...
 *		writer_put(w, &rec);
 *	}
 *	namer_last(n, &c, w);
 *
 * The namer only adds records. A name in the stream stays if it is better than ours, or as good (same text,
 * and a source that is not worse). So naming twice adds nothing, and naming again on a host with other files
 * adds better names and loses none.
 *
 * Frames in anonymous memory get the name that the process's jitdump file, or else its perf map, gave them at
 * the time of the sample; without one, the first later name. If a frame's memory had another meaning before
 * and there is no name now, the frame gets the name "none", so that the old name is not believed. All other
 * frames without a name get nothing; the SOURCE record of their file says why.
 */
#ifndef CPROF_RESOLVE_NAMER_H
#define CPROF_RESOLVE_NAMER_H

#include "common/capture/capture.h"
#include "common/resolve/jit_runtimes.h"
#include "common/resolve/kernelfile.h"
#include "common/resolve/modules.h"
#include "common/resolve/coverage.h"
#include "common/stream/writer.h"

struct namer;

/* Returns NULL if out of memory. The caller keeps the modules. */
struct namer *namer_new(struct modules *modules);
void namer_free(struct namer *n);
/* Looks up kernel frames in k if the capture has no symbols for them. The caller keeps k. */
void namer_use_kernel(struct namer *n, struct kernel_files *k);
/* Call this for each record after capture_apply has accepted it. Returns false if out of memory. */
bool namer_see(struct namer *n, struct capture *c, const struct record *r);
/* Returns true if namer_see needs this record; two of three records do not matter to a namer. */
static inline bool namer_minds(const struct record *r)
{
	return r->type != RECORD_NODE && (r->type != RECORD_FRAME || r->frame.process == 0);
}
/* Writes names found since the last call. Returns false if out of memory; w keeps its own errors. */
bool namer_say(struct namer *n, struct capture *c, struct writer *w);
/* Like namer_say, and completes the segment. Does nothing if the segment is complete already. */
bool namer_last(struct namer *n, struct capture *c, struct writer *w);
/* Returns the counts of all completed segments. */
struct coverage *namer_tally(struct namer *n);
/* Returns the counts, by runtime, of frames in code that was compiled at run time; of all completed segments. */
const struct jit_runtimes *namer_runtimes(const struct namer *n);

#endif
