#include "common/unwind/cfa.h"

/* Instructions; the first three have an operand in their low six bits. */
enum {
	ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0, HIGH = 0xc0,
	NOP = 0x00, SET_LOC, ADVANCE1, ADVANCE2, ADVANCE4, OFFSET_EXTENDED, RESTORE_EXTENDED, UNDEFINED, SAME_VALUE,
	REGISTER, REMEMBER, RESTORE_STATE, DEF_CFA, DEF_CFA_REGISTER, DEF_CFA_OFFSET, DEF_CFA_EXPRESSION, EXPRESSION,
	OFFSET_EXTENDED_SF, DEF_CFA_SF, DEF_CFA_OFFSET_SF, VAL_OFFSET, VAL_OFFSET_SF, VAL_EXPRESSION,
	GNU_ARGS_SIZE = 0x2e, GNU_NEGATIVE_OFFSET = 0x2f,
	INSTRUCTIONS = 0x30,
};

/* The operands of an instruction: at most two of these. */
enum operand { UNKNOWN, NOTHING, U8, U16, U32, ADDRESS, UNSIGNED, FACTORED, SIGNED_FACTORED, BLOCK };

static const uint8_t operands[INSTRUCTIONS][2] = {
	[NOP] = { NOTHING },
	[SET_LOC] = { ADDRESS },
	[ADVANCE1] = { U8 },
	[ADVANCE2] = { U16 },
	[ADVANCE4] = { U32 },
	[OFFSET_EXTENDED] = { UNSIGNED, FACTORED },
	[RESTORE_EXTENDED] = { UNSIGNED },
	[UNDEFINED] = { UNSIGNED },
	[SAME_VALUE] = { UNSIGNED },
	[REGISTER] = { UNSIGNED, UNSIGNED },
	[REMEMBER] = { NOTHING },
	[RESTORE_STATE] = { NOTHING },
	[DEF_CFA] = { UNSIGNED, UNSIGNED },
	[DEF_CFA_REGISTER] = { UNSIGNED },
	[DEF_CFA_OFFSET] = { UNSIGNED },
	[DEF_CFA_EXPRESSION] = { BLOCK },
	[EXPRESSION] = { UNSIGNED, BLOCK },
	[OFFSET_EXTENDED_SF] = { UNSIGNED, SIGNED_FACTORED },
	[DEF_CFA_SF] = { UNSIGNED, SIGNED_FACTORED },
	[DEF_CFA_OFFSET_SF] = { SIGNED_FACTORED },
	[VAL_OFFSET] = { UNSIGNED, FACTORED },
	[VAL_OFFSET_SF] = { UNSIGNED, SIGNED_FACTORED },
	[VAL_EXPRESSION] = { UNSIGNED, BLOCK },
	[GNU_ARGS_SIZE] = { UNSIGNED },
	[GNU_NEGATIVE_OFFSET] = { UNSIGNED, FACTORED },
};

/* One instruction. Operands that it does not have are not set. */
struct instruction {
	uint8_t code;
	uint64_t a, b; /* operands, factored ones multiplied out; a single one is a */
	struct slice block;
};

static bool read_operand(struct cfa_machine *m, enum operand kind, uint64_t *v, struct slice *block)
{
	int64_t s;

	switch (kind) {
	case UNKNOWN:
	case NOTHING:
		return true;
	case U8:
		return encoded_fixed(&m->code, 1, v);
	case U16:
		return encoded_fixed(&m->code, 2, v);
	case U32:
		return encoded_fixed(&m->code, 4, v);
	case ADDRESS:
		return encoded_pointer(&m->code, m->encoding, m->bases, v);
	case UNSIGNED:
		return encoded_unsigned(&m->code, v);
	case FACTORED:
		if (!encoded_unsigned(&m->code, v))
			return false;
		*v *= (uint64_t)m->data_align;
		return true;
	case SIGNED_FACTORED:
		if (!encoded_signed(&m->code, &s))
			return false;
		*v = (uint64_t)s * (uint64_t)m->data_align;
		return true;
	case BLOCK:
		return cursor_slice(&m->code, block);
	}
	return false;
}

static bool read_instruction(struct cfa_machine *m, struct instruction *i)
{
	uint8_t code;

	if (!encoded_u8(&m->code, &code))
		return false;
	if (code & HIGH) {
		i->code = code & HIGH;
		i->a = code & (uint8_t)~HIGH;
		return i->code != OFFSET || read_operand(m, FACTORED, &i->b, NULL);
	}
	i->code = code;
	return code < INSTRUCTIONS && operands[code][0] != UNKNOWN &&
	       read_operand(m, operands[code][0], &i->a, &i->block) &&
	       read_operand(m, operands[code][1], &i->b, &i->block);
}

/* Returns the save of this register; NULL if no rule needs it. */
static struct save *save_of(struct cfa_state *s, uint64_t reg)
{
	switch (reg) {
	case UNWIND_RBX:
		return &s->rbx;
	case UNWIND_RBP:
		return &s->rbp;
	case UNWIND_RSP:
		return &s->rsp;
	case UNWIND_RIP:
		return &s->rip;
	default:
		return NULL;
	}
}

static bool set_save(struct cfa_machine *m, uint64_t reg, enum save_form form, uint64_t at)
{
	struct save *save = save_of(&m->state, reg);

	if (save)
		*save = (struct save){ form, (int64_t)at };
	return true;
}

static bool restore_register(struct cfa_machine *m, uint64_t reg)
{
	struct save *save = save_of(&m->state, reg);

	if (!m->initial)
		return false;
	if (save) {
		struct cfa_state initial = *m->initial;

		*save = *save_of(&initial, reg);
	}
	return true;
}

static bool set_cfa(struct cfa_state *s, uint64_t reg, uint64_t offset)
{
	s->form = CFA_REGISTER;
	s->reg = reg;
	s->at = s->offset = (int64_t)offset;
	s->add = 0;
	return true;
}

/* An expression for CFA stays in force: gcc's unwinder does so, and libgcrypt's assembly relies on it. */
static bool set_cfa_offset(struct cfa_state *s, uint64_t offset)
{
	if (s->form == CFA_REGISTER)
		s->at = (int64_t)offset;
	s->offset = (int64_t)offset;
	return s->form != CFA_NONE;
}

/* Executes an instruction that changes registers or CFA, not the location. */
static bool execute_instruction(struct cfa_machine *m, const struct instruction *i)
{
	struct cfa_state *s = &m->state;
	struct save *save;

	switch (i->code) {
	case OFFSET:
	case OFFSET_EXTENDED:
	case OFFSET_EXTENDED_SF:
		return set_save(m, i->a, SAVE_AT_CFA, i->b);
	case GNU_NEGATIVE_OFFSET:
		return set_save(m, i->a, SAVE_AT_CFA, -i->b);
	case RESTORE:
	case RESTORE_EXTENDED:
		return restore_register(m, i->a);
	case UNDEFINED:
		return set_save(m, i->a, SAVE_UNDEFINED, 0);
	case SAME_VALUE:
		return set_save(m, i->a, SAVE_SAME, 0);
	case REGISTER:
		return set_save(m, i->a, SAVE_REGISTER, i->b);
	case VAL_OFFSET:
	case VAL_OFFSET_SF:
		return set_save(m, i->a, SAVE_IS_CFA, i->b);
	case EXPRESSION:
		save = save_of(s, i->a);
		if (save)
			*save = save_by_expression(i->block);
		return true;
	case VAL_EXPRESSION:
		return set_save(m, i->a, SAVE_OTHER, 0);
	case REMEMBER:
		if (m->n_remembered == CFA_REMEMBERED_MAX)
			return false;
		m->remembered[m->n_remembered++] = *s;
		return true;
	case RESTORE_STATE:
		if (m->n_remembered == 0)
			return false;
		*s = m->remembered[--m->n_remembered];
		return true;
	case DEF_CFA:
	case DEF_CFA_SF:
		return set_cfa(s, i->a, i->b);
	case DEF_CFA_REGISTER:
		return s->form != CFA_NONE && set_cfa(s, i->a, (uint64_t)s->offset);
	case DEF_CFA_OFFSET:
	case DEF_CFA_OFFSET_SF:
		return set_cfa_offset(s, i->a);
	case DEF_CFA_EXPRESSION:
		cfa_by_expression(s, i->block);
		return true;
	default: /* NOP, GNU_ARGS_SIZE */
		return true;
	}
}

enum cfa_more cfa_advance(struct cfa_machine *m)
{
	struct instruction i;

	while (cursor_left(&m->code)) {
		uint64_t to;

		if (!read_instruction(m, &i))
			return CFA_BAD;
		switch (i.code) {
		case ADVANCE:
		case ADVANCE1:
		case ADVANCE2:
		case ADVANCE4:
			if (__builtin_mul_overflow(i.a, m->code_align, &to) || __builtin_add_overflow(to, m->loc, &to))
				return CFA_BAD;
			break;
		case SET_LOC:
			to = i.a;
			break;
		default:
			if (!execute_instruction(m, &i))
				return CFA_BAD;
			continue;
		}
		if (to < m->loc)
			return CFA_BAD;
		if (to == m->loc)
			continue;
		m->loc = to;
		return CFA_ROW;
	}
	return CFA_END;
}

static bool fits_s16(int64_t v)
{
	return v >= INT16_MIN && v <= INT16_MAX;
}

static bool fits_s32(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

static void rule_rbp(struct unwind_rule *r, const struct save *rbp)
{
	r->bp = UNWIND_LOST;
	if (rbp->form == SAVE_NONE || rbp->form == SAVE_SAME || (rbp->form == SAVE_REGISTER && rbp->at == UNWIND_RBP))
		r->bp = UNWIND_SAME;
	else if (!fits_s32(rbp->at))
		return;
	else if (rbp->form == SAVE_AT_CFA)
		r->bp = UNWIND_AT_CFA;
	else if (rbp->form == SAVE_AT_RBP)
		r->bp = UNWIND_AT_RBP;
	else if (rbp->form == SAVE_IS_CFA)
		r->bp = UNWIND_IS_CFA;
	if (r->bp != UNWIND_SAME && r->bp != UNWIND_LOST)
		r->bp_at = (int32_t)rbp->at;
}

static void rule_rbx(struct unwind_rule *r, const struct save *rbx)
{
	r->bx = UNWIND_LOST;
	if (rbx->form == SAVE_NONE || rbx->form == SAVE_SAME || (rbx->form == SAVE_REGISTER && rbx->at == UNWIND_RBX)) {
		r->bx = UNWIND_SAME;
	} else if (rbx->form == SAVE_AT_CFA && fits_s16(rbx->at)) {
		r->bx = UNWIND_AT_CFA;
		r->bx_at = (int16_t)rbx->at;
	}
}

/* Sets how CFA is computed; returns false if a rule cannot express it. */
static bool rule_cfa(struct unwind_rule *r, const struct cfa_state *s)
{
	if (!fits_s32(s->at))
		return false;
	r->cfa = (int32_t)s->at;
	switch (s->form) {
	case CFA_REGISTER:
	case CFA_SUM:
		if (s->reg >= UNWIND_RIP)
			return false;
		r->kind = s->reg == UNWIND_RSP ? UNWIND_CFA_RSP : s->reg == UNWIND_RBP ? UNWIND_CFA_RBP :
			  s->reg == UNWIND_RBX ? UNWIND_CFA_RBX : UNWIND_CFA_REG;
		if (r->kind == UNWIND_CFA_REG)
			r->reg = (uint8_t)s->reg;
		return true;
	case CFA_DEREF:
		r->kind = s->reg == UNWIND_RSP ? UNWIND_DEREF_RSP : UNWIND_DEREF_RBP;
		r->mask = (uint16_t)s->add;
		return (s->reg == UNWIND_RSP || s->reg == UNWIND_RBP) && fits_s16(s->add);
	case CFA_PLT:
		r->kind = UNWIND_PLT;
		r->reg = (uint8_t)s->add;
		return s->add < 16;
	default:
		return false;
	}
}

/* Returns true for the kernel's signal frame, a ucontext at rsp. Its rsp and rip are at 160 and 168. */
static bool is_sigframe(const struct cfa_state *s)
{
	return s->form == CFA_DEREF && s->reg == UNWIND_RSP && s->at == 160 && s->add == 0 &&
	       s->rip.form == SAVE_AT_RSP && s->rip.at == 168;
}

/* Returns true if the caller's rsp is CFA, which is also the default. */
static bool rsp_is_cfa(const struct save *rsp)
{
	return rsp->form == SAVE_NONE || rsp->form == SAVE_SAME || (rsp->form == SAVE_IS_CFA && rsp->at == 0);
}

struct unwind_rule cfa_rule(const struct cfa_state *s, bool signal)
{
	static const struct unwind_rule stop = { .kind = UNWIND_STOP }, bad = { .kind = UNWIND_BAD },
					frame = { .kind = UNWIND_SIGNAL };
	struct unwind_rule r = { 0 };

	if (s->rip.form == SAVE_UNDEFINED)
		return stop;
	if (signal)
		return is_sigframe(s) ? frame : bad;
	if (!rsp_is_cfa(&s->rsp) || !rule_cfa(&r, s))
		return bad;
	if (s->rip.form == SAVE_REGISTER && r.kind == UNWIND_CFA_RSP && s->rip.at >= 0 && s->rip.at < UNWIND_RIP) {
		r.kind = UNWIND_RA_REG;
		r.reg = (uint8_t)s->rip.at;
	} else if (s->rip.form != SAVE_AT_CFA || s->rip.at != -8) {
		return bad;
	}
	rule_rbp(&r, &s->rbp);
	rule_rbx(&r, &s->rbx);
	return r;
}
