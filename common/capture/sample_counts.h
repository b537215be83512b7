/*
 * Describes the number of samples in captures, with the same text in every ledger.
 *
 *	samples_append(&text, &totals, looked_at, 0);	// "100 in 2.24 s and 208 of waiting time"
 *
 * "Samples" are ticks of the clock, or of the main event that replaces it: expected and lost counts are about
 * these. Samples of waiting time and of other events are counted separately, the former only if looked_at
 * includes them.
 */
#ifndef CPROF_CAPTURE_SAMPLE_COUNTS_H
#define CPROF_CAPTURE_SAMPLE_COUNTS_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

enum {
	SAMPLES_GROUPED = 1, /* "2,970", for English text */
	SAMPLES_CALLED = 2,  /* "2970 samples in": for text without a label */
};

/* Returns the number of samples that are ticks. */
static inline uint64_t samples_ticks(const struct capture_totals *t)
{
	return t->samples - t->waits - t->others;
}

/* Returns for how long threads waited, in nanoseconds. */
static inline uint64_t samples_waited(const struct capture_totals *t)
{
	uint64_t waited = 0;

	for (unsigned int i = CAPTURE_SLEEPS; i < CAPTURE_WAITS; i++)
		waited += t->waited[i];
	return waited;
}

/* Appends the text. looked_at: the samples of any event that passed the filters. */
void samples_append(struct buf *out, const struct capture_totals *t, uint64_t looked_at, unsigned int flags);
/* Appends a number, with commas if flags has SAMPLES_GROUPED. */
void samples_count(struct buf *out, uint64_t v, unsigned int flags);

#endif
