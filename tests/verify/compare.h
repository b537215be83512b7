/*
 * Two chains of one state, frame by frame.
 */
#ifndef CPROF_VERIFY_COMPARE_H
#define CPROF_VERIFY_COMPARE_H

#include "tests/verify/truth.h"

enum verdict {
	SAME,      /* every frame, and both end there */
	BEYOND,    /* every frame that libdwfl found: it ended without memory or CFI, ours went on */
	DEPTH,     /* ours ended at its depth limit; every frame up to there is true */
	SHORT,     /* ours ended earlier and says that it did; every frame up to there is true */
	EXPLAINED, /* they differ, and a rule in compare.c says why the truth is wrong there */
	WRONG,     /* an untrue frame, frames after the end, or "complete" before the end */
	VERDICTS,
};

struct comparison {
	enum verdict verdict;
	size_t at;       /* the first frame that one has and the other has not */
	const char *why; /* WRONG: the difference; EXPLAINED: the rule; SHORT: our reason */
};

struct comparison compare(const struct states *all, const struct state *s, const struct true_chain *t);
extern const char *const verdict_names[VERDICTS];
extern const char *const truth_ends[];

#endif
