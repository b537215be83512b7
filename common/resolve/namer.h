/*
 * Gives the frames of a capture their names, as records to be added to its stream.
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
 * It only adds. A name that the stream has already is left alone where it is as good as ours (its
 * source is not worse and it says the same) or better, so that naming twice adds nothing, and naming
 * again where other files are adds what is better and loses nothing.
 *
 * Frames in anonymous memory get the name that the process's jitdump file, or else its perf map, gave them when
 * the sample was taken; those that neither named by then, the first that they get later. A frame whose memory
 * meant something else before, and for which there is no name now, gets the name "none", since
 * the old one would be believed otherwise. All other frames without a name get nothing; the SOURCE of
 * their file says why.
 */
#ifndef CPROF_RESOLVE_NAMER_H
#define CPROF_RESOLVE_NAMER_H

#include "common/capture/capture.h"
#include "common/resolve/kernelfile.h"
#include "common/resolve/modules.h"
#include "common/resolve/tally.h"
#include "common/stream/writer.h"

struct namer;

/* NULL without memory. The modules stay the caller's. */
struct namer *namer_new(struct modules *modules);
void namer_free(struct namer *n);
/* Kernel frames that the capture has no symbols for are looked up there; it stays the caller's. */
void namer_use_kernel(struct namer *n, struct kernel_files *k);
/* To be called for each record that capture_apply has taken. False without memory. */
bool namer_see(struct namer *n, struct capture *c, const struct record *r);
/* Need it be called for this one? Two of three records say nothing to a namer. */
static inline bool namer_minds(const struct record *r)
{
	return r->type != RECORD_NODE && (r->type != RECORD_FRAME || r->frame.process == 0);
}
/* Writes what is known by now and has not been said. False without memory; the writer keeps its own errors. */
bool namer_say(struct namer *n, struct capture *c, struct writer *w);
/* The same, and the last word on the segment. Nothing happens when it has been said. */
bool namer_last(struct namer *n, struct capture *c, struct writer *w);
/* Of all segments whose last word was said. */
struct tally *namer_tally(struct namer *n);

#endif
