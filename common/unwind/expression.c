/*
 * Decodes the few DWARF expressions that call frame information uses in practice. DWARF 5 2.5.1, 7.7.1.
 */
#include "common/unwind/cfa.h"

enum {
	OP_DEREF = 0x06, OP_AND = 0x1a, OP_PLUS = 0x22, OP_PLUS_UCONST = 0x23, OP_SHL = 0x24, OP_GE = 0x2a,
	OP_LIT0 = 0x30, OP_LIT31 = 0x4f, OP_BREG0 = 0x70, OP_BREG31 = 0x8f,
	OPS_MAX = 9,
};

struct op {
	uint8_t code; /* LIT0 and BREG0 for all of their kind, */
	uint8_t n;    /* with the number here */
	int64_t arg;
};

/* Reads the operations; returns 0 if there are others, or too many. */
static size_t read_ops(struct slice expression, struct op ops[OPS_MAX])
{
	struct cursor c = cursor_over(expression.p, expression.n);
	size_t n = 0;
	uint8_t code;

	while (encoded_u8(&c, &code)) {
		struct op *o = &ops[n];
		uint64_t v;

		if (n++ == OPS_MAX)
			return 0;
		*o = (struct op){ .code = code };
		if (code >= OP_LIT0 && code <= OP_LIT31) {
			*o = (struct op){ .code = OP_LIT0, .n = (uint8_t)(code - OP_LIT0) };
		} else if (code >= OP_BREG0 && code <= OP_BREG31) {
			*o = (struct op){ .code = OP_BREG0, .n = (uint8_t)(code - OP_BREG0) };
			if (!encoded_signed(&c, &o->arg))
				return 0;
		} else if (code == OP_PLUS_UCONST) {
			if (!encoded_unsigned(&c, &v) || v > INT64_MAX)
				return 0;
			o->arg = (int64_t)v;
		} else if (code != OP_DEREF && code != OP_AND && code != OP_PLUS && code != OP_SHL && code != OP_GE) {
			return 0;
		}
	}
	return n;
}

static bool is_literal(const struct op *o, uint8_t n)
{
	return o->code == OP_LIT0 && o->n == n;
}

/* rsp + at + ((rip & 15) >= n) << 3, as linkers write it: a PLT stub that has pushed from its nth byte on. */
static bool is_plt(const struct op *o, size_t n)
{
	return n == 9 && o[0].code == OP_BREG0 && o[0].n == UNWIND_RSP && o[1].code == OP_BREG0 &&
	       o[1].n == UNWIND_RIP && o[1].arg == 0 && is_literal(&o[2], 15) && o[3].code == OP_AND &&
	       o[4].code == OP_LIT0 && o[5].code == OP_GE && is_literal(&o[6], 3) && o[7].code == OP_SHL &&
	       o[8].code == OP_PLUS;
}

void cfa_by_expression(struct cfa_state *s, struct slice expression)
{
	struct op o[OPS_MAX];
	size_t n = read_ops(expression, o);

	s->form = CFA_OTHER;
	s->reg = s->at = s->add = 0;
	if (n == 0 || o[0].code != OP_BREG0)
		return;
	s->reg = o[0].n;
	s->at = o[0].arg;
	if (n == 1) {
		s->form = CFA_SUM;
	} else if (o[1].code == OP_DEREF && (n == 2 || (n == 3 && o[2].code == OP_PLUS_UCONST))) {
		s->form = CFA_DEREF;
		s->add = n == 3 ? o[2].arg : 0;
	} else if (is_plt(o, n)) {
		s->form = CFA_PLT;
		s->add = o[4].n;
	}
}

struct save save_by_expression(struct slice expression)
{
	struct op o[OPS_MAX];

	if (read_ops(expression, o) == 1 && o[0].code == OP_BREG0 && (o[0].n == UNWIND_RBP || o[0].n == UNWIND_RSP))
		return (struct save){ o[0].n == UNWIND_RBP ? SAVE_AT_RBP : SAVE_AT_RSP, o[0].arg };
	return (struct save){ SAVE_OTHER, 0 };
}
