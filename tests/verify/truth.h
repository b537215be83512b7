/*
 * The frames of a state as elfutils' libdwfl finds them: registers by .eh_frame and .debug_frame, memory from
 * the copied stack.
 *
 *	struct truth *t = truth_open(&states);
 *	struct true_chain c;
 *
 *	truth_unwind(t, &states.items[i], &c);
 *	...c.frames[0 .. c.n - 1], good until the next call...
 *	truth_close(t);
 */
#ifndef CPROF_VERIFY_TRUTH_H
#define CPROF_VERIFY_TRUTH_H

#include "tests/verify/state.h"

enum { TRUTH_FRAMES = 4096 };

enum truth_end {
	TRUTH_COMPLETE, /* a return address that is undefined, or 0 */
	TRUTH_DUMP,     /* memory that was not copied was needed */
	TRUTH_SWITCH,   /* the last frame's function was entered from another stack (Go), unknown to CFI */
	TRUTH_NO_CFI,   /* the last frame has no CFI, and frame pointers lead nowhere */
	TRUTH_FAILED,   /* libdw rejects the data that it finds */
	TRUTH_LIMIT,
};

struct true_frame {
	uint64_t pc;
	bool activation; /* it, or the next one, is an interrupted instruction: libdwfl marks both */
	bool has_cfi;    /* the next frame was found by CFI; otherwise libdwfl guessed it by rbp */
};

struct true_chain {
	struct true_frame frames[TRUTH_FRAMES];
	size_t n;
	enum truth_end end;
	const char *error; /* message of libdwfl */
	uint64_t refused;  /* the last address that could not be read, or 0 */
};

struct truth *truth_open(const struct states *all);
void truth_unwind(struct truth *t, const struct state *s, struct true_chain *c);
/* Prints libdw's knowledge of this address: the symbol, and the CFI row in words. */
void truth_describe(struct truth *t, const struct state *s, uint64_t pc, bool exact, FILE *out);
void truth_close(struct truth *t);

#endif
