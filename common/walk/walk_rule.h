/*
 * The step by the rule of a row: the CFA, the caller's registers, and frames of signals.
 *
 * Sources: System V ABI AMD64 3.4.1 and 3.7; arch/x86/include/uapi/asm/sigcontext.h for signal frames.
 */
#ifndef CPROF_WALK_WALK_RULE_H
#define CPROF_WALK_WALK_RULE_H

#include "common/walk/walk_fp.h"

/* Returns the number of bits set among the d lowest. A popcount's multiplications are more expensive here. */
static WALK_INLINE __u32 walk_bits(__u32 mask, __u32 d)
{
	mask &= (1u << (d < UNWIND_RUN ? d : UNWIND_RUN)) - 1;
	mask = mask - ((mask >> 1) & 0x5555);
	mask = (mask & 0x3333) + ((mask >> 2) & 0x3333);
	mask = (mask + (mask >> 4)) & 0x0f0f;
	return (mask + (mask >> 8)) & 0x1f;
}

/*
 * rsp points to a struct ucontext; its struct sigcontext, at offset 40, begins with these registers. A
 * separate function because it is rare, and the verifier adds up the stack of functions that call each other.
 */
WALK_FN int walk_signal(WALK_ENV env)
{
	__u64 g[17]; /* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	struct walk *w = walk_state(env);

	if (!w || walk_read(env, g, sizeof(g), w->regs[UNWIND_RSP] + 40))
		return WALK_UNREADABLE;
	if (!walk_is_code(g[16]))
		return WALK_BROKEN;
	for (int i = 0; i < 8; i++)
		w->regs[8 + i] = g[i];
	w->regs[5] = g[8];
	w->regs[4] = g[9];
	w->regs[UNWIND_RBP] = g[10];
	w->regs[UNWIND_RBX] = g[11];
	w->regs[1] = g[12];
	w->regs[0] = g[13];
	w->regs[2] = g[14];
	w->regs[UNWIND_RSP] = g[15];
	w->regs[UNWIND_RIP] = g[16];
	w->exact = w->inner = w->bx_known = 1;
	return WALK_ON;
}

/* Returns the CFA by a rule; 0 if it has none, with the reason in *end. */
static WALK_INLINE __u64 walk_cfa(WALK_ENV env, const struct walk *w, const struct unwind_rule *r, __u32 distance, int *end)
{
	__u64 sp = w->regs[UNWIND_RSP], cfa;

	*end = WALK_BAD_RULE;
	switch (r->kind) {
	case UNWIND_CFA_RSP:
		return sp + (__s64)r->cfa;
	case UNWIND_CFA_RBP:
	case UNWIND_SWITCH:
		return w->regs[UNWIND_RBP] + (__s64)r->cfa;
	case UNWIND_PUSHES:
		return sp + (__s64)r->cfa + 8 * (__u64)walk_bits(r->mask, distance);
	case UNWIND_POPS:
		return sp + (__s64)r->cfa - 8 * (__u64)walk_bits(r->mask, distance);
	case UNWIND_PLT:
		return sp + (__s64)r->cfa + ((w->regs[UNWIND_RIP] & 15) >= r->reg ? 8 : 0);
	case UNWIND_CFA_RBX:
		return w->bx_known ? w->regs[UNWIND_RBX] + (__s64)r->cfa : 0;
	case UNWIND_CFA_REG:
		return w->inner && r->reg < UNWIND_RIP ? w->regs[r->reg & 15] + (__s64)r->cfa : 0;
	case UNWIND_RA_REG:
		return w->inner ? sp + (__s64)r->cfa : 0;
	case UNWIND_DEREF_RSP:
	case UNWIND_DEREF_RBP:
		*end = WALK_UNREADABLE;
		if (walk_read(env, &cfa, sizeof(cfa),
			      (r->kind == UNWIND_DEREF_RSP ? sp : w->regs[UNWIND_RBP]) + (__s64)r->cfa))
			return 0;
		return cfa + (__s64)(__s16)r->mask;
	default:
		return 0;
	}
}

/* Returns true if a register's slot in a run is not filled yet, or empty again. See UNWIND_PUSHES. */
static WALK_INLINE int walk_is_register(const struct unwind_rule *r, __u64 slot, __u64 sp)
{
	return (r->kind == UNWIND_PUSHES || r->kind == UNWIND_POPS) && slot < sp;
}

/*
 * Loads the caller's rbp and return address, in one read if they are adjacent, as they mostly are. After a
 * pop the rule often still names the slot, now below rsp: if that is not readable the value is in the
 * register.
 */
static WALK_INLINE int walk_load(WALK_ENV env, const struct walk *w, const struct unwind_rule *r, __u64 cfa, __u64 *pair)
{
	__u64 sp = w->regs[UNWIND_RSP], at = r->bp == UNWIND_AT_RBP ? w->regs[UNWIND_RBP] : cfa;

	at += (__s64)r->bp_at;
	if (r->bp == UNWIND_AT_CFA && r->bp_at == -16 && r->kind != UNWIND_RA_REG && at >= sp)
		return walk_read(env, pair, 16, at);
	if (r->kind == UNWIND_RA_REG)
		pair[1] = w->regs[r->reg & 15];
	else if (walk_read(env, &pair[1], 8, cfa - 8))
		return -1;
	if (r->bp == UNWIND_SAME || (r->bp == UNWIND_AT_CFA && walk_is_register(r, at, sp)))
		pair[0] = w->regs[UNWIND_RBP];
	else if (r->bp == UNWIND_IS_CFA)
		pair[0] = at;
	else if (r->bp == UNWIND_LOST)
		pair[0] = 1; /* not aligned, so not a frame pointer */
	else if (walk_read(env, &pair[0], 8, at)) {
		if (r->bp != UNWIND_AT_CFA || at >= sp)
			return -1;
		pair[0] = w->regs[UNWIND_RBP];
	}
	return 0;
}

static WALK_INLINE void walk_load_bx(WALK_ENV env, struct walk *w, const struct unwind_rule *r, __u64 cfa)
{
	__u64 at = cfa + (__s64)r->bx_at;

	if (r->bx == UNWIND_LOST)
		w->bx_known = 0;
	else if (r->bx == UNWIND_AT_CFA && !walk_is_register(r, at, w->regs[UNWIND_RSP]))
		w->bx_known = walk_read(env, &w->regs[UNWIND_RBX], 8, at) == 0;
}

static WALK_INLINE int walk_by_rule(WALK_ENV env, struct walk *w, const struct unwind_rule *r, __u32 distance)
{
	__u64 cfa, pair[2] = { 0, 0 };
	int end, call;

	if (r->kind == UNWIND_GAP) {
		/* A jitdump file lacks code that CPython has yet to flush. "File offsets" there are addresses. */
		if (w->offset == w->start && walk_trampoline(env, WALK_GAP) == WALK_ON)
			return WALK_ON;
		goto by_fp;
	}
	if (unwind_from_code(r) && r->kind == UNWIND_CFA_RBP && walk_is_foreign(env, w))
		return walk_foreign_end(w);
	if (r->kind == UNWIND_STOP)
		return WALK_COMPLETE;
	if (r->kind == UNWIND_SIGNAL)
		return walk_signal(env);
	cfa = walk_cfa(env, w, r, distance, &end);
	if (cfa == 0)
		return end;
	/* A caller's frame is above. With RA_REG the return address itself was popped already. */
	if (r->kind != UNWIND_SWITCH && cfa < w->regs[UNWIND_RSP] + (r->kind == UNWIND_RA_REG ? 0 : 8))
		return WALK_BROKEN;
	if (walk_load(env, w, r, cfa, pair))
		return WALK_UNREADABLE;
	walk_load_bx(env, w, r, cfa);
	if (pair[1] == 0)
		return unwind_from_code(r) ? WALK_FP_END : WALK_COMPLETE;
	if (unwind_from_code(r)) {
		call = walk_is_call(env, pair[1]);
		if (call == 0 || (call < 0 && !walk_is_mapped(env, w, pair[1] - 1)))
			goto by_fp;
		if (call < 0)
			w->unchecked = 1;
	} else if (!walk_is_code(pair[1])) {
		return WALK_BROKEN;
	}
	w->regs[UNWIND_RIP] = pair[1];
	w->regs[UNWIND_RBP] = pair[0];
	w->regs[UNWIND_RSP] = cfa;
	w->exact = w->inner = 0;
	return WALK_ON;
by_fp:
	return walk_by_fp(env, WALK_GAP);
}

#endif
