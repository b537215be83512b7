/*
 * Two chains of one state, frame by frame.
 */
#ifndef CPROF_VERIFY_COMPARE_H
#define CPROF_VERIFY_COMPARE_H

#include "tests/verify/truth.h"

enum verdict {
	SAME,      /* every frame, and both end there */
	BEYOND,    /* every frame that the truth could prove: it ended for want of memory or of CFI, ours went on */
	DEPTH,     /* ours ended at the depth it was told, every frame up to there is true */
	SHORT,     /* ours ended earlier and says that it did; every frame up to there is true */
	EXPLAINED, /* they differ, and a rule in compare.c says why the truth is wrong there */
	WRONG,     /* a frame that is not true, frames behind the end, or an end that is none but called one */
	VERDICTS,
};

struct comparison {
	enum verdict verdict;
	size_t at;       /* the first frame that one has and the other has not */
	const char *why; /* WRONG: in what; EXPLAINED: by which rule; SHORT: what ours said */
};

struct comparison compare(const struct states *all, const struct state *s, const struct true_chain *t);
extern const char *const verdict_names[VERDICTS];
extern const char *const truth_ends[];

#endif
