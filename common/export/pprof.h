/*
 * Stacks as a pprof profile: profile.proto, by protobuf-c.
 *
 *	struct pprof_writer *w = pprof_new(&traces, &about);
 *	struct slice bytes;
 *
 *	while (pprof_next(w, &bytes))
 *		...write them...
 *	if (pprof_failed(w)) ...out of memory...
 *	pprof_free(w);
 *
 * A protobuf message may be written in pieces, which concatenated are the same as the whole; so memory does
 * not grow with the profile. The output is not compressed; use gzip.h for that.
 *
 * If there are waits, each kind of them is a sample type, and the last type is their sum with CPU time.
 *
 * Without the library or the schema (HAVE_PPROF) pprof_known is false, and pprof_new returns NULL.
 */
#ifndef CPROF_EXPORT_PPROF_H
#define CPROF_EXPORT_PPROF_H

#include "common/export/traces.h"

struct pprof_about {
	uint64_t duration_ns;
	const struct slice *comments; /* valid UTF-8 */
	size_t n_comments;
};

struct pprof_writer;

bool pprof_known(void);
/*
 * The sums of the traces must fit into 63 bits, and the traces must be settled; a few texts are added to
 * them. They must outlive the writer. Returns NULL if out of memory.
 */
struct pprof_writer *pprof_new(struct traces *s, const struct pprof_about *about);
/* Sets *bytes to the next piece, valid until the next call; returns false at the end or if out of memory. */
bool pprof_next(struct pprof_writer *w, struct slice *bytes);
bool pprof_failed(const struct pprof_writer *w);
void pprof_free(struct pprof_writer *w);

#endif
