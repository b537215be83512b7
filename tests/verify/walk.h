/*
 * The walks that are verified on states taken without BPF: they fill in state.ours.
 */
#ifndef CPROF_VERIFY_WALK_H
#define CPROF_VERIFY_WALK_H

#include "tests/verify/state.h"

/* By frame pointers alone: what is to be had without tables, and the proof that the verifier sees it. */
void walk_fp(struct states *all);
/* By tables, with the walk that the sampling program has too. */
void walk_table(struct states *all);

#endif
