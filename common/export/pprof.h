/*
 * Stacks as a profile of pprof: profile.proto, by protobuf-c.
 *
 *	struct pprof_writer *w = pprof_new(&traces, &about);
 *	struct slice bytes;
 *
 *	while (pprof_next(w, &bytes))
 *		...write them...
 *	if (pprof_failed(w)) ...out of memory...
 *	pprof_free(w);
 *
 * A message of protobuf may come in pieces, which are one after the other what they would be at once; so memory does
 * not grow with the profile. It is not compressed: that is gzip.h's.
 *
 * Without the library or the schema (HAVE_PPROF) pprof_known is false, and pprof_new gives NULL.
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
/* The sums of the stacks fit into 63 bits, and they are settled; a few texts are added to them. NULL without memory. */
struct pprof_writer *pprof_new(struct traces *s, const struct pprof_about *about);
/* The next piece, good until the next call; false at the end, and without memory. */
bool pprof_next(struct pprof_writer *w, struct slice *bytes);
bool pprof_failed(const struct pprof_writer *w);
void pprof_free(struct pprof_writer *w);

#endif
