/*
 * The view of culprits, for blame.c: samples of CPU time under the keys of the view, and the times in queues
 * that they share (culprits.h). The stacks are made by the gatherer, as those of any view.
 */
#ifndef CPROF_BLAME_BLAME_CULPRITS_H
#define CPROF_BLAME_BLAME_CULPRITS_H

#include "common/blame/blame.h"

/* A sample that has just been gathered. thread: the caller's number of its thread. */
void blame_culprits_sample(struct blame *b, const struct record_sample *r, uint32_t thread);
/* A sample outside of the recording. */
void blame_culprits_outside(struct blame *b, const struct record_outside *r, uint32_t thread);
/* The time that the thread was in the queue, as far as the view wants the thread and the time. */
/* Returns how long a quota kept the thread from running, of the time that it was queued. */
uint64_t blame_throttled(const struct record_woken *r);
void blame_culprits_queue(struct blame *b, const struct record_woken *r, uint32_t thread);
/* At the end of a segment: puts the stacks' nodes of wall in place of their keys. */
void blame_culprits_segment(struct blame *b, const uint32_t *leaves);
/* Puts the profile of the caller together. Returns false if out of memory, or if the sum is too large. */
bool blame_culprits_write(struct blame *b);

#endif
