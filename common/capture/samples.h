/*
 * How many samples captures have, as one text for every ledger that people read.
 *
 *	samples_append(&text, &totals, looked_at, 0);	// "100 in 2.24 s and 208 of waiting time"
 *
 * What is called a sample is a tick of the clock, or of the event that stands for it: those are what was expected and
 * lost. Records of waiting time and samples of other events are told apart, the former where they are looked at.
 */
#ifndef CPROF_CAPTURE_SAMPLES_H
#define CPROF_CAPTURE_SAMPLES_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

enum {
	SAMPLES_GROUPED = 1, /* "2,970", for a reader of English */
	SAMPLES_CALLED = 2,  /* "2970 samples in": where no label says what it is */
};

/* Those that are called samples. */
static inline uint64_t samples_ticks(const struct capture_totals *t)
{
	return t->samples - t->waits - t->others;
}

/* looked_at: those of them that passed the filters, of whatever event. */
void samples_append(struct buf *out, const struct capture_totals *t, uint64_t looked_at, unsigned int flags);
/* A number, with commas if the flags say so. */
void samples_count(struct buf *out, uint64_t v, unsigned int flags);

#endif
