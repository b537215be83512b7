/*
 * The exact run time of threads in collected stacks, if the capture has it and the view is --wall: samples of
 * CPU time are scaled down to it, and time without samples is a stack "[running, not sampled]". See
 * select/running.h. For collect.c.
 *
 *	wrong = collect_running_due(c, r);		// before each record is applied, and at the end: NULL
 *	collect_running_ran(c, &r->ran);		// each valid RAN
 *	collect_running_sample(c, &r->sample, answer, &part);
 *	collect_running_correct(c);			// before the sums of a segment are used
 *
 * An account is a thread with its command and group, as in cprof-top --by thread.
 */
#ifndef CPROF_EXPORT_COLLECT_RUNNING_H
#define CPROF_EXPORT_COLLECT_RUNNING_H

#include "common/export/collect.h"
#include "common/select/select.h"

/* Returns whether the view wants it, and the traces are sums. */
bool collect_running_asked(const struct collect *c);
const char *collect_running_due(struct collect *c, const struct record *r);
void collect_running_ran(struct collect *c, const struct record_ran *r);
void collect_running_sample(struct collect *c, const struct record_sample *r, enum select_answer answer,
			    const struct record_sample *part);
void collect_running_correct(struct collect *c);

#endif
