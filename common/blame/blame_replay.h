/*
 * For blame.c: collects the data that a replay (what_if.h) needs beside the chains. thread: the number of the
 * record's thread in the chains.
 */
#ifndef CPROF_BLAME_BLAME_REPLAY_H
#define CPROF_BLAME_BLAME_REPLAY_H

#include "common/blame/blame.h"

/* Notes that the thread of this id of the capture was there until this time. NULL: out of memory. */
struct blame_life *blame_replay_seen(struct blame *b, uint64_t id, uint32_t thread, uint64_t time);
/* A sample that has just been gathered. */
void blame_replay_sample(struct blame *b, const struct record_sample *r, uint32_t thread);
/* A wait. Its time in the queue may be due to the function. */
void blame_replay_woken(struct blame *b, const struct record_woken *r, uint32_t thread);
/* Cuts waits, runs and times in queues to the time window of the asked view. Call it before chain_sort. */
void blame_replay_cut(struct blame *b);

#endif
