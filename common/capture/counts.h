/*
 * Counts events, their samples, samples left out, losses and the cost of recording.
 *
 *	wrong = sample_apply(c, &r->sample);	// NULL, or "a sample of an undefined thread"
 *
 * For capture_apply (see capture_internal.h); capture_totals returns the sums.
 */
#ifndef CPROF_CAPTURE_COUNTS_H
#define CPROF_CAPTURE_COUNTS_H

#include "common/capture/capture.h"

const char *event_apply(struct capture *c, const struct record_event *r);
const char *sample_apply(struct capture *c, const struct record_sample *r);
const char *left_out_apply(struct capture *c, const struct record_left_out *r);
const char *ledger_apply(struct capture *c, const struct record_ledger *r);
const char *tally_apply(struct capture *c, const struct record_tally *r);
const char *cost_apply(struct capture *c, const struct record_cost *r);
const char *damage_apply(struct capture *c, const struct record_damage *r);
const char *end_apply(struct capture *c, const struct record_end *r);

#endif
