/* Where the frame of the caller may be, for each kind of HotSpot's code. The third part of java_walk.h. */
#ifndef CPROF_WALK_JAVA_PLAN_H
#define CPROF_WALK_JAVA_PLAN_H

#include "common/walk/java_leaf.h"

/* Lists the place for the caller of compiled code that has made a call. */
WALK_FN int java_plan_caller(WALK_ENV env, __u64 pc)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, real = pc, bytes = 0;

	if (!j || !w || !y)
		return 0;
	sp = w->regs[UNWIND_RSP];
	if (pc != j->deopt && pc != j->deopt_mh && !walk_read_code(env, &bytes, pc))
		j->frame_size += 8 * java_popped(bytes);
	/* A deoptimized frame: the true return address is in the frame. */
	if ((pc == j->deopt || pc == j->deopt_mh) &&
	    (java_copy(env, &real, sizeof(real), 8, sp + java_blob32(j, y, JAVA_NM_ORIG_PC)) ||
	     !java_is_within(real, j->begin, j->end)))
		real = 0;
	j->pc = real;
	java_add(j, sp + j->frame_size, JAVA_BP_SAVED);
	j->scan = sp + j->frame_size + 8;
	j->scans = JAVA_SCANS_CODE;
	return 0;
}

/* Does the stub, whose blob has no other one, begin with push %rbp; mov %rsp,%rbp? */
static WALK_INLINE int java_has_enter(WALK_ENV env, const struct java_walk *j)
{
	__u32 bytes = 0;

	if (java_copy(env, &bytes, sizeof(bytes), 4, j->begin))
		return 0;
	return bytes == 0xec8b4855 || bytes == 0xe5894855;
}

/* ret, or a jump to other code, by register or not */
static WALK_INLINE int java_is_exit(__u64 bytes)
{
	return (bytes & 0xff) == 0xc3 || (bytes & 0xff) == 0xe9 || (bytes & 0xf8ff) == 0xe0ff ||
	       (bytes & 0xf8ffff) == 0xe0ff41;
}

/*
 * Lists the only place for the caller of a stub that was interrupted, if the instructions show that its frame
 * is not there yet, or is gone. Returns false if they do not.
 */
static WALK_INLINE int java_plan_stub_edge(struct java_walk *j, __u64 sp)
{
	__u64 bytes = j->around[JAVA_BEFORE];
	__u8 last = j->around[JAVA_BEFORE - 1] >> 56;

	if (java_is_pushed(j) || ((bytes & 0xff) == 0x5d && java_is_exit(bytes >> 8)))
		java_add(j, sp + 16, JAVA_BP_SAVED | JAVA_NATIVE);
	else if ((bytes & 0xff) == 0xc3 || (last == 0x5d && java_is_exit(bytes)))
		java_add(j, sp + 8, JAVA_NATIVE);
	return j->n != 0;
}

/*
 * Lists places for the caller of a stub that was interrupted. The size of a stub's frame is that at its
 * calls; before and after them the frame is smaller.
 */
static WALK_INLINE void java_plan_stub_leaf(WALK_ENV env, struct java_walk *j, const struct walk *w, __u64 pc)
{
	__u64 sp = w->regs[UNWIND_RSP];
	int enters = j->kind == JAVA_STUB && java_has_enter(env, j);

	j->scan = sp + 8;
	j->scans = JAVA_SCANS;
	if (j->kind == JAVA_GLUE || (j->around[JAVA_BEFORE] & 0xff) == 0x55 ||
	    (j->kind == JAVA_STUB && !j->frame_size && !enters)) /* as signature handlers */
		java_add(j, sp + 8, JAVA_NATIVE);
	if (enters || j->kind == JAVA_ROUTINES)
		java_add(j, w->regs[UNWIND_RBP] + 16, JAVA_BP_SAVED | JAVA_NATIVE);
	else if (j->frame_size && pc - j->begin < j->complete) /* the second compiler has made it */
		java_plan_early(env, j, sp);
	else if (j->frame_size)
		java_add(j, sp + j->frame_size, JAVA_BP_SAVED | JAVA_NATIVE);
}

/* Lists places for the caller of a stub, which may be C++ code. */
WALK_FN int java_plan_stub(WALK_ENV env, __u64 pc, __u32 exact)
{
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, bp;

	if (!j || !w)
		return 0;
	sp = w->regs[UNWIND_RSP];
	bp = w->regs[UNWIND_RBP];
	j->scan_how = JAVA_BP_GUESS | JAVA_NATIVE;
	if (exact) {
		if (!java_read_around(env, j, pc) && !java_plan_stub_edge(j, sp))
			java_plan_stub_leaf(env, j, w, pc);
		return 0;
	}
	if (j->kind == JAVA_GLUE) { /* it may have aligned rsp for its call */
		java_add(j, sp + 8, 0);
		java_add(j, sp + 16, 0);
	}
	if (j->frame_size)
		java_add(j, sp + j->frame_size, JAVA_BP_SAVED | JAVA_NATIVE);
	if (j->kind != JAVA_GLUE && bp >= sp && bp - sp < JAVA_FRAME_SPAN)
		java_add(j, bp + 16, JAVA_BP_SAVED | JAVA_NATIVE);
	/* The barrier at a method's entry has a word between its rbp and the return address. */
	j->scan = j->frame_size ? sp + 8 : bp + 24;
	j->scans = j->frame_size ? JAVA_SCANS : 1;
	return 0;
}

/*
 * Lists the place for the caller of a blob that deoptimizes. At its first call the frame of compiled code is
 * still there. Then the blob takes that frame down and makes frames for the interpreter, which have no method
 * until its second call is over. Between calls there is no place: the stack is neither the one nor the other.
 */
static WALK_INLINE void java_plan_deopt(struct java_walk *j, const struct walk *w)
{
	if (!w->exact)
		java_add(j, w->regs[UNWIND_RSP] + j->frame_size, JAVA_BP_SAVED | JAVA_WHOLE);
}

/*
 * Lists places above the return barrier. At rsp is the entry of the continuation; rbp and the return address
 * of the carrier follow it. Once the barrier has made room on the stack, only rbp still leads there.
 */
static WALK_INLINE void java_plan_barrier(struct java_walk *j, const struct walk *w,
					  const struct java_layout *y)
{
	__u64 cfa = w->regs[UNWIND_RSP] + y->at[JAVA_ENTRY_BYTES] + 16;

	for (int i = 0; i < 3; i++)
		java_add(j, cfa + 8 * (__u64)i, JAVA_BP_SAVED);
	java_add(j, w->regs[UNWIND_RBP] + 16, JAVA_BP_SAVED);
}

enum {
	JAVA_SLOTS = 10, /* words below rbp that each interpreted frame has; by number from rbp on: */
	JAVA_SLOT_SENDER = 1,
	JAVA_SLOT_METHOD = 3,
};

static WALK_INLINE int java_read_method(WALK_ENV env, __u64 method)
{
	return java_recall_method(env, method) || java_method(env, method);
}

/* A call returns to the interpreter: r13 and rbx are what the callee has left there. */
static WALK_INLINE int java_is_resumed(__u64 code)
{
	__u32 four = (__u32)code;

	return four == 0xf0658b48 || four == 0xf045c748 || /* mov -16(%rbp),%rsp; movq $0,-16(%rbp) */
	       four == 0xf04d8b48 || four == 0xcd648d48 || /* mov -16(%rbp),%rcx; lea (%rbp,%rcx,8),%rsp */
	       (code & 0xffffff) == 0x6d8b4c;		   /* mov d(%rbp),%r13 */
}

/*
 * Lists places for a method that the interpreter enters. Its frame is not whole yet: the method is in rbx,
 * and the caller's rsp in r13. The return address is on top of the stack, in rax, or in the new frame.
 * Returns false if it enters none.
 */
static WALK_INLINE int java_plan_entry(WALK_ENV env, struct java_walk *j, const struct walk *w, __u64 code)
{
	__u64 sp = w->regs[UNWIND_RSP], bp = w->regs[UNWIND_RBP], sender = w->regs[13];

	/* r13 is the bytecode's address elsewhere, except at a return. */
	if (sender - sp >= JAVA_FRAME_SPAN || (sender & 7) || java_is_resumed(code) ||
	    !java_read_method(env, w->regs[UNWIND_RBX]))
		return 0;
	j->method = w->regs[UNWIND_RBX];
	j->bci = j->code_bytes ? 0 : JAVA_NO_BCI;
	j->sp = sender;
	j->ra = w->regs[0];
	if (bp >= sp && bp - sp < 8 * JAVA_SLOTS) {
		java_add(j, bp + 16, JAVA_BP_SAVED | JAVA_SP_GIVEN);
	} else {
		/* rax first: on top of the stack may be an old return address until this one is pushed. */
		java_add(j, sp, JAVA_SP_GIVEN | JAVA_RA_GIVEN);
		java_add(j, sp + 8, JAVA_SP_GIVEN);
		java_add(j, sp + 16, JAVA_BP_SAVED | JAVA_SP_GIVEN);
	}
	return 1;
}

/*
 * Lists the place for a method that the interpreter leaves: leave; pop %r13; mov %rbx,%rsp; jmp *%r13. Newer
 * versions have more before the jump (19), and movb $0,d(%r15) after leave (25). Returns false if it does not
 * leave one.
 */
static WALK_INLINE int java_plan_exit(struct java_walk *j, const struct walk *w, __u64 before, __u64 code)
{
	__u64 sp = w->regs[UNWIND_RSP], five = code & 0xffffffffff;

	j->ra = w->regs[13];
	j->sp = w->regs[UNWIND_RBX];
	/* Elsewhere r13 is in code only just after a call. */
	if (j->ra - j->low < j->span && !java_is_resumed(code))
		java_add(j, sp, JAVA_RA_GIVEN | JAVA_SP_GIVEN);
	else if (five == 0xe38b485d41 || five == 0xdc89485d41 ||
		 (before >> 56 == 0xc9 && (code & 0xff00000000ffffff) == 0x87c641))
		java_add(j, sp + 8, JAVA_SP_GIVEN);
	return j->n != 0;
}

/* Lists the place for a method that runs in the interpreter. */
WALK_FN int java_plan_interpreted(WALK_ENV env, __u64 pc, __u32 exact)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, bp, bcp, code[2] = { 0, 0 }, method[2] = { 0, 0 }, saved[2] = { 0, 0 };

	if (!j || !w || !y)
		return 0;
	sp = w->regs[UNWIND_RSP];
	bp = w->regs[UNWIND_RBP];
	exact = exact && w->inner;
	if (exact)
		java_copy(env, code, sizeof(code), 16, pc - 8);
	if (exact && (java_plan_exit(j, w, code[0], code[1]) || java_plan_entry(env, j, w, code[1])))
		return 0;
	/* Each read has two words: the second is of no use. */
	if (bp < sp || bp - sp >= JAVA_FRAME_SPAN || (bp & 7) ||
	    walk_read(env, saved, sizeof(saved), bp - 8 * (__u64)y->at[JAVA_BCP_SLOT]) ||
	    walk_read(env, method, sizeof(method), bp - 8 * JAVA_SLOT_METHOD))
		return 0;
	/*
	 * Words below rsp are of frames that are gone. While the interpreter makes this one, the method is in
	 * rbx, and the bytecode's address only in r13.
	 */
	if (exact && bp - sp < 8 * JAVA_SLOT_METHOD)
		method[0] = w->regs[UNWIND_RBX];
	if (exact && bp - sp < 8 * (__u64)y->at[JAVA_BCP_SLOT])
		saved[0] = 0;
	if (!java_read_method(env, method[0]))
		return 0;
	j->method = method[0];
	bcp = w->regs[13];
	if (!exact || bcp - j->bytecodes >= j->code_bytes)
		bcp = saved[0];
	j->bci = bcp - j->bytecodes < j->code_bytes ? (__u32)(bcp - j->bytecodes) : JAVA_NO_BCI;
	if (walk_read(env, saved, sizeof(saved), bp - 8 * JAVA_SLOT_SENDER))
		return 0;
	j->sp = saved[0];
	java_add(j, bp + 16, JAVA_BP_SAVED | JAVA_SP_GIVEN);
	return 0;
}

#endif
