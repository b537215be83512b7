/*
 * Runs the programs in call frame information, one row at a time. Only for this directory.
 *
 *	struct cfa_machine m = { .code = cursor, .loc = start, ... };
 *
 *	do {
 *		uint64_t from = m.loc;
 *
 *		more = cfa_advance(&m);		// then state holds for [from, m.loc), to the end if CFA_END
 *		rule = cfa_rule(&m.state, signal);
 *	} while (more == CFA_ROW);
 *
 * The state holds only what a rule can express, already in the terms of rules: an expression is decoded when
 * met, and is one of the few forms that compilers and linkers write, or "other".
 *
 * Sources: DWARF 5 6.4.2; LSB 5.0 core 10.5.3 for the GNU instructions.
 */
#ifndef CPROF_UNWIND_CFA_H
#define CPROF_UNWIND_CFA_H

#include "common/elf/encoded.h"
#include "common/unwind/rule.h"

/* How CFA is computed. */
enum cfa_form {
	CFA_NONE,      /* not specified */
	CFA_REGISTER,  /* reg + at */
	CFA_SUM,       /* the same, from an expression */
	CFA_DEREF,     /* [reg + at] + add */
	CFA_PLT,       /* rsp + at + ((rip & 15) >= add ? 8 : 0) */
	CFA_OTHER,
};

/* Where a caller's register is saved. */
enum save_form {
	SAVE_NONE,      /* not specified */
	SAVE_SAME,
	SAVE_UNDEFINED,
	SAVE_AT_CFA,    /* [CFA + at] */
	SAVE_IS_CFA,    /* CFA + at */
	SAVE_REGISTER,  /* in register at */
	SAVE_AT_RBP,    /* [rbp + at] */
	SAVE_AT_RSP,    /* [rsp + at] */
	SAVE_OTHER,
};

struct save {
	enum save_form form;
	int64_t at;
};

struct cfa_state {
	enum cfa_form form;
	uint64_t reg;
	int64_t at, add;
	/* last offset outside of expressions: another register may be combined with it later */
	int64_t offset;
	struct save rbx, rbp, rsp, rip;
};

/* Compilers nest once. */
enum { CFA_REMEMBERED_MAX = 16 };

struct cfa_machine {
	struct cursor code;
	uint64_t loc; /* address */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;                   /* encoding of addresses in the program */
	const struct encoded_bases *bases;
	/* the state for DW_CFA_restore; NULL in a CIE's own program: not allowed */
	const struct cfa_state *initial;
	struct cfa_state state;
	struct cfa_state remembered[CFA_REMEMBERED_MAX];
	unsigned int n_remembered;
};

enum cfa_more { CFA_ROW, CFA_END, CFA_BAD };

/* Runs the program to the next row, or to its end. CFA_BAD: it is invalid. */
enum cfa_more cfa_advance(struct cfa_machine *m);
/* Returns the rule for a state. signal: the kernel made the frame to call a handler. */
struct unwind_rule cfa_rule(const struct cfa_state *s, bool signal);

/* In expression.c: decode a whole expression. */
void cfa_by_expression(struct cfa_state *s, struct slice expression);
struct save save_by_expression(struct slice expression);

#endif
