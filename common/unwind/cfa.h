/*
 * The programs in call frame information: a machine that is run one row at a time. For this room only.
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
 * Only what a rule can say is kept, already in its terms: an expression is read when it is met, and is
 * one of the few forms that compilers and linkers write or "other".
 *
 * Sources: DWARF 5 6.4.2; LSB 5.0 core 10.5.3 for the GNU instructions.
 */
#ifndef CPROF_UNWIND_CFA_H
#define CPROF_UNWIND_CFA_H

#include "common/unwind/encoded.h"
#include "common/unwind/rule.h"

/* What CFA is. */
enum cfa_form {
	CFA_NONE,      /* nothing was said */
	CFA_REGISTER,  /* reg + at */
	CFA_SUM,       /* the same, said by an expression */
	CFA_DEREF,     /* [reg + at] + add */
	CFA_PLT,       /* rsp + at + ((rip & 15) >= add ? 8 : 0) */
	CFA_OTHER,
};

/* Where a caller's register is. */
enum save_form {
	SAVE_NONE,      /* nothing was said */
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
	int64_t offset; /* the last that was said outside of expressions: another register may be given to it later */
	struct save rbx, rbp, rsp, rip;
};

/* Compilers nest once. */
enum { CFA_REMEMBERED_MAX = 16 };

struct cfa_machine {
	struct cursor code;
	uint64_t loc; /* address */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;                   /* of addresses in the program */
	const struct encoded_bases *bases;
	const struct cfa_state *initial;    /* what DW_CFA_restore restores; NULL: not allowed, this is the CIE's */
	struct cfa_state state;
	struct cfa_state remembered[CFA_REMEMBERED_MAX];
	unsigned int n_remembered;
};

enum cfa_more { CFA_ROW, CFA_END, CFA_BAD };

enum cfa_more cfa_advance(struct cfa_machine *m);
/* signal: the frame is one that the kernel made to call a handler. */
struct unwind_rule cfa_rule(const struct cfa_state *s, bool signal);

/* expression.c: what this expression, a whole one, says. */
void cfa_by_expression(struct cfa_state *s, struct slice expression);
struct save save_by_expression(struct slice expression);

#endif
