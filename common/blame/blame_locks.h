/* Waits for locks, for blame.c: the lock and the holder of each wait, and their frames. */
#ifndef CPROF_BLAME_BLAME_LOCKS_H
#define CPROF_BLAME_BLAME_LOCKS_H

#include "common/blame/blame.h"

/* Notes the lock of a wait that is to be explained. holder: CHAIN_NO_THREAD if unknown. */
void blame_locks_note(struct blame *b, struct blame_span *span, const struct record_woken *r,
		      uint32_t holder);
/* Explains each wait for a lock in the chains. The place of its root is the pair of lock and holder. */
void blame_locks_explain(struct blame *b);
/* Returns the thread that held the lock of a pair, or CHAIN_NO_THREAD. */
uint32_t blame_locks_holder(const struct blame *b, uint32_t pair);
/* Returns the name of the lock of a pair, valid until the next call. */
struct slice blame_locks_name(struct blame *b, uint32_t pair);
/*
 * Returns the function of a stack of wall that called the lock, without the frames of the library and the
 * kernel.
 */
struct slice blame_locks_site(const struct blame *b, uint32_t node);
/* Counts the waits in the asked view's sums. */
void blame_locks_sum(struct blame *b);

#endif
