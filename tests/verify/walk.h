/*
 * The walks to verify on states taken without BPF: they fill in state.ours.
 */
#ifndef CPROF_VERIFY_WALK_H
#define CPROF_VERIFY_WALK_H

#include "tests/verify/state.h"

/* Walks by frame pointers alone: shows the result without tables, and that the verifier finds the errors. */
void walk_fp(struct states *all);
/* Walks by tables, with the walk that the sampling program uses too. */
void walk_table(struct states *all);

#endif
