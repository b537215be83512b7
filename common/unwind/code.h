/*
 * Makes unwind rules from machine code that has no table: follows a function from its first instruction through
 * its jumps, and notes where CFA is and where the caller's rbp is saved. Only for this directory.
 *
 *	struct code_rows rows = { 0 };
 *
 *	if (!code_rows(bytes, &rows))
 *		...out of memory...
 *	for (size_t i = 0; i < rows.n; i++)
 *		if (code_rule(&rows.items[i].state, &rule))
 *			...rule holds from items[i].start to items[i].end...
 *	code_rows_release(&rows);
 *
 * A rule is left out if it is not certain: if paths that meet disagree, if rsp is set to a value that is not
 * followed here, and in code that no path reaches. Code after the end of a path is taken for the target of the
 * function's jumps through tables, unless that contradicts known code. A function that does not return to its
 * caller, or that switches stacks, can still have wrong rules, so the walk checks that a call ends at the return
 * address.
 */
#ifndef CPROF_UNWIND_CODE_H
#define CPROF_UNWIND_CODE_H

#include "common/base/cursor.h"
#include "common/unwind/rule.h"

enum { CODE_MAX = 1 << 20 }; /* bytes of a function or a region; longer ones have no rows */

/* The contents of rbp. */
enum code_rbp {
	CODE_RBP_CALLERS, /* the caller's value */
	CODE_RBP_FRAME,   /* CFA - rbp_at */
	CODE_RBP_OTHER,
};

/* Before an instruction. */
struct code_state {
	int32_t depth;  /* CFA - rsp; 0: unknown */
	int32_t rbp_at;
	int32_t saved;  /* the caller's rbp is also at CFA - saved; 0: nowhere */
	uint8_t rbp;    /* enum code_rbp */
	uint8_t reached;
};

/* Offsets from the function's first byte. */
struct code_row {
	uint32_t start, end;
	struct code_state state;
};

/* Ascending. A zeroed object is empty. */
struct code_rows {
	struct code_row *items;
	size_t n, cap;
};

/* Appends the rows of the function that these bytes are. Returns false if out of memory. */
bool code_rows(struct slice function, struct code_rows *rows);
/*
 * Appends the rows of a region of code in which functions begin at unknown places: after the end of others. A piece
 * that cannot be a function, because it does not return to its caller, has no rows. address: only its alignment counts.
 */
bool code_region_rows(struct slice region, uint64_t address, struct code_rows *rows);
void code_rows_release(struct code_rows *rows);
/* Sets the rule for a state. Returns false if CFA is unknown in it. */
bool code_rule(const struct code_state *state, struct unwind_rule *rule);

#endif
