/*
 * One step up the stack through the code that HotSpot has made: compiled methods, the interpreter, native
 * wrappers, stubs and adapters. There are no tables of this code, but the JVM describes it in its own data
 * (common/lang/java.h). The same source is compiled into the BPF program and for the host, as walk.h.
 *
 * Include it after walk.h, which calls java_step by WALK_LANG_STEP, and define the functions that are
 * declared below without a body. At the start of each walk call java_begin.
 *
 * A step has three parts: find the blob of code that contains the pc; list where the caller's frame may be;
 * try these places in turn. A place is right if its return address follows a call instruction. The
 * interpreter and the return barrier are entered by other ways than calls, so their addresses are good
 * anywhere.
 *
 * Sources: OpenJDK, frame_x86.hpp, frame_x86.inline.hpp (frames), codeHeap in memory/heap.cpp (segment map),
 * c1_LIRAssembler_x86.cpp, x86_64.ad (prologues, epilogues).
 */
#ifndef CPROF_WALK_JAVA_WALK_H
#define CPROF_WALK_JAVA_WALK_H

#include "common/walk/java_plan.h"

/* May this return address be the caller's? */
static WALK_INLINE int java_is_good(WALK_ENV env, struct java_walk *j, struct walk *w, __u64 ra, __u32 how)
{
	int call, within = ra - 1 - j->low < j->span;

	if (!walk_is_code(ra) || (!within && !(how & JAVA_NATIVE)))
		return 0;
	if (java_is_within(ra, j->p.interpreter, j->p.interpreter_end))
		return !(how & JAVA_WHOLE);
	if (java_is_within(ra, j->p.barrier, j->p.barrier_end) || java_is_known(env, ra))
		return 1;
	call = walk_is_call(env, ra);
	if (call == 0)
		return within && java_find(env, ra) == JAVA_COMPILED && (ra == j->deopt || ra == j->deopt_mh);
	/* Before its mappings are known, the call must do. */
	if (!within && w->space.n && walk_enter(env, ra - 1) != WALK_ON)
		return 0;
	if (call < 0)
		w->unchecked = 1;
	return 1;
}

/* Takes the caller's registers from place number i, or from a word of the stack after the last place. */
WALK_FN int java_try(WALK_ENV env, __u32 i)
{
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 pair[2] = { 0, 0 }, cfa, sp;
	__u32 how;

	if (!j || !w)
		return WALK_BAD_RULE;
	if (i < j->n) {
		cfa = j->spots[i & (JAVA_PLACES - 1)].cfa;
		how = (__u32)j->spots[i & (JAVA_PLACES - 1)].how;
	} else if (i - j->n < j->scans) {
		cfa = j->scan + 8 * (__u64)(i - j->n);
		how = j->scan_how;
	} else {
		return j->unreadable ? WALK_UNREADABLE : WALK_BAD_RULE;
	}
	sp = w->regs[UNWIND_RSP];
	if (cfa < sp || cfa - sp >= WALK_FP_SPAN || (cfa & 7))
		return JAVA_NEXT;
	if (!(how & JAVA_RA_GIVEN) && walk_read(env, pair, sizeof(pair), cfa - 16)) {
		j->unreadable = 1;
		return JAVA_NEXT;
	}
	if (how & JAVA_RA_GIVEN)
		pair[1] = j->ra;
	if (!java_is_good(env, j, w, pair[1], how))
		return JAVA_NEXT;
	if ((how & JAVA_BP_GUESS) && (pair[0] < cfa || pair[0] - cfa >= WALK_FP_SPAN || (pair[0] & 7)))
		how = 0;
	if (how & (JAVA_BP_SAVED | JAVA_BP_GUESS))
		w->regs[UNWIND_RBP] = pair[0];
	if ((how & JAVA_SP_GIVEN) && j->sp >= cfa && j->sp - cfa < JAVA_FRAME_SPAN)
		cfa = j->sp;
	w->regs[UNWIND_RSP] = cfa;
	w->regs[UNWIND_RIP] = pair[1];
	w->exact = w->inner = w->bx_known = 0;
	w->unchecked |= i >= j->n; /* it may be an old one */
	return WALK_ON;
}

/* Finds the code at pc, and lists the places for its caller. Returns the enum java_kind. */
static WALK_INLINE int java_plan(WALK_ENV env, struct java_walk *j, const struct walk *w,
				 const struct java_layout *y, __u64 pc)
{
	__u64 rip = w->regs[UNWIND_RIP];
	__u32 exact = w->exact;

	j->n = j->scans = j->unreadable = 0;
	j->scan_how = JAVA_BP_GUESS;
	j->pc = j->method = 0;
	j->bci = JAVA_NO_BCI;
	if (java_is_within(pc, j->p.interpreter, j->p.interpreter_end))
		j->kind = JAVA_INTERPRETED;
	else if (!exact && java_is_within(rip, j->p.barrier, j->p.barrier_end))
		j->kind = JAVA_FROZEN;
	else
		java_find(env, pc);
	switch (j->kind) {
	case JAVA_INTERPRETED:
		java_plan_interpreted(env, pc, exact);
		break;
	case JAVA_FROZEN:
		java_plan_barrier(j, w, y);
		break;
	case JAVA_COMPILED:
	case JAVA_WRAPPER:
		if (exact)
			java_plan_leaf(env, pc);
		else
			java_plan_caller(env, rip);
		break;
	case JAVA_UNROLLS:
		java_plan_deopt(j, w);
		break;
	case JAVA_GLUE:
	case JAVA_STUB:
	case JAVA_ROUTINES:
		java_plan_stub(env, pc, exact);
		break;
	default:
		break;
	}
	return (int)j->kind;
}

/* Goes up one frame, if pc is in the JVM's code; otherwise returns WALK_FOUND. */
WALK_FN int java_step(WALK_ENV env, __u64 pc)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	int end;

	if (!j || !w || !y || pc - j->low >= j->span)
		return WALK_FOUND;
	end = java_recall(env);
	if (end != JAVA_NEXT)
		return end;
	if (java_plan(env, j, w, y, pc) == JAVA_NOTHING)
		return WALK_GAP;
	java_seen(env, pc);
	for (__u32 i = 0; i < JAVA_PLACES + JAVA_SCANS + 1; i++) {
		end = java_try(env, i);
		if (end == WALK_ON && i == 0)
			java_settled(env);
		if (end != JAVA_NEXT)
			break;
	}
	return end == JAVA_NEXT ? WALK_BAD_RULE : end;
}

#endif
