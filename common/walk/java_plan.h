/* Where the frame of the caller may be, for each kind of HotSpot's code. The second part of java_walk.h. */
#ifndef CPROF_WALK_JAVA_PLAN_H
#define CPROF_WALK_JAVA_PLAN_H

#include "common/walk/java_code.h"

static WALK_INLINE void java_add(struct java_walk *j, __u64 cfa, __u32 how)
{
	__u32 n = j->n;

	if (n >= JAVA_PLACES)
		return;
	j->n = n + 1;
	walk_opaque(n); /* 5.10 learns nothing of the index by a comparison of its lower half */
	n &= JAVA_PLACES - 1;
	j->spots[n].cfa = cfa;
	j->spots[n].how = how;
}

/*
 * Does a compiled method return here, with its frame gone? The bytes before pc and from pc on decide. Loops
 * poll by the same instructions as returns, and allocations store r10 in the thread, too. So whole
 * sequences are compared: a match by chance would take an old return address from the frame.
 */
static WALK_INLINE int java_is_return(__u64 before, __u64 bytes, __u64 more)
{
	__u64 three = bytes & 0x3fffff, far = bytes & 0xff00000000ffff;

	return (bytes & 0xff) == 0xc3 ||     /* ret */
	       three == 0x273b49 ||	     /* cmp d(%r15),%rsp; ja; ret: from 17 on */
	       far == 0xc300000000870f ||    /* ja; ret */
	       (__u32)bytes == 0xc3028541 || /* test %eax,(%r10); ret: 11 */
	       /* mov d(%r15),%r10 before it, with d of 8 or of 32 bits */
	       (bytes & 0xffffffff00ffffff) == 0xc302854100578b4d ||
	       ((bytes & 0xff00000000ffffff) == 0x4100000000978b4d && (more & 0xffffff) == 0xc30285) ||
	       far == 0xc3000000000585 || /* test %eax,d(%rip); ret: 8 */
	       /* slow path of 17's: lea d(%rip),%r10; mov %r10,d(%r15); jmp */
	       ((bytes & 0xff00000000ffffff) == 0x4d00000000158d4c && (more & 0x3fff) == 0x1789) ||
	       (three == 0x17894d && (before >> 8 & 0xffffff) == 0x158d4c) ||
	       ((bytes & 0xff) == 0xe9 && (before >> 8 & 0xffffff) == 0x97894d);
}

static WALK_INLINE int java_is_sub_rsp(__u64 bytes)
{
	return (bytes & 0xfdffff) == 0xec8148;
}

/* Has rbp just been pushed? By the byte before pc: push %rbp, or the end of mov %rsp,%rbp. */
static WALK_INLINE int java_is_pushed(__u64 before, __u64 bytes)
{
	__u8 last = before >> 56;

	return (last == 0x55 && ((bytes & 0xffffff) == 0xec8b48 || (bytes & 0xffffff) == 0xe58948)) ||
	       ((last == 0x55 || last == 0xec || last == 0xe5) && java_is_sub_rsp(bytes));
}

/* Lists places for the caller of compiled code that was interrupted. */
WALK_FN int java_plan_leaf(WALK_ENV env, __u64 pc)
{
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, code[3] = { 0, 0, 0 };
	int early;

	if (!j || !w)
		return 0;
	sp = w->regs[UNWIND_RSP];
	early = pc - j->begin < j->complete;
	java_copy(env, code, sizeof(code), 32, pc - 8);
	j->pc = pc;
	if (early && java_is_pushed(code[0], code[1]))
		java_add(j, sp + 16, JAVA_BP_SAVED);
	else if (early && (code[1] & 0xff3fffff) == 0x242c8948) /* mov %rbp,d(%rsp) */
		java_add(j, sp + j->frame_size, 0);
	else if (early || java_is_return(code[0], code[1], code[2]) ||
		 (code[0] >> 56 == 0x5d && (code[1] & 0xff) == 0xe9))
		java_add(j, sp + 8, 0);
	else if ((code[1] & 0xff) == 0x5d && /* pop %rbp, and ret or jmp to a stub */
		 ((code[1] >> 8 & 0xff) == 0xe9 ||
		  java_is_return(0, code[1] >> 8 | code[2] << 56, code[2] >> 8)))
		java_add(j, sp + 16, JAVA_BP_SAVED);
	java_add(j, sp + j->frame_size, JAVA_BP_SAVED);
	j->scan = sp + 8 + (early ? 0 : j->frame_size);
	j->scans = JAVA_SCANS_CODE;
	return 0;
}

/* Lists the place for the caller of compiled code that has made a call. */
WALK_FN int java_plan_caller(WALK_ENV env, __u64 pc)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, real = pc;

	if (!j || !w || !y)
		return 0;
	sp = w->regs[UNWIND_RSP];
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

/* Lists places for the caller of a stub, which may be C++ code. */
WALK_FN int java_plan_stub(WALK_ENV env, __u64 pc, __u32 exact)
{
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, bp, code[2] = { 0, 0 };

	if (!j || !w)
		return 0;
	sp = w->regs[UNWIND_RSP];
	bp = w->regs[UNWIND_RBP];
	if (exact) {
		java_copy(env, code, sizeof(code), 16, pc - 8);
		if (code[0] >> 56 == 0x55 || (code[1] & 0xffff) == 0xc35d)
			java_add(j, sp + 16, JAVA_BP_SAVED | JAVA_NATIVE);
		else if (j->kind == JAVA_GLUE || (code[1] & 0xff) == 0x55 || (code[1] & 0xff) == 0xc3)
			java_add(j, sp + 8, JAVA_NATIVE);
	}
	if (j->kind == JAVA_GLUE && !exact) { /* it may have aligned rsp for its call */
		java_add(j, sp + 8, 0);
		java_add(j, sp + 16, 0);
	}
	if (j->frame_size)
		java_add(j, sp + j->frame_size, JAVA_BP_SAVED | JAVA_NATIVE);
	if (j->kind != JAVA_GLUE && bp >= sp && bp - sp < JAVA_FRAME_SPAN)
		java_add(j, bp + 16, JAVA_BP_SAVED | JAVA_NATIVE);
	/* The barrier at a method's entry has a word between its rbp and the return address. */
	j->scan = exact || j->frame_size ? sp + 8 : bp + 24;
	j->scans = exact || j->frame_size ? JAVA_SCANS : 1;
	j->scan_how = JAVA_BP_GUESS | JAVA_NATIVE;
	return 0;
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

/*
 * Lists places for a method that the interpreter enters. Its frame is not whole yet: the method is in rbx,
 * and the caller's rsp in r13. The return address is on top of the stack, in rax, or in the new frame.
 * Returns false if it enters none.
 */
static WALK_INLINE int java_plan_entry(WALK_ENV env, struct java_walk *j, const struct walk *w, __u64 code)
{
	__u64 sp = w->regs[UNWIND_RSP], bp = w->regs[UNWIND_RBP], sender = w->regs[13];

	/*
	 * r13 is the bytecode's address elsewhere, except at a return: mov -16(%rbp),%rsp; movq
	 * $0,-16(%rbp)
	 */
	if (sender - sp >= JAVA_FRAME_SPAN || (sender & 7) || (__u32)code == 0xf0658b48 ||
	    (__u32)code == 0xf045c748 || !java_read_method(env, w->regs[UNWIND_RBX]))
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
 * Lists the place for a method that the interpreter leaves: pop %r13; mov %rbx,%rsp; jmp *%r13. Returns
 * false if it does not leave one.
 */
static WALK_INLINE int java_plan_exit(struct java_walk *j, const struct walk *w, __u64 code)
{
	__u64 sp = w->regs[UNWIND_RSP], six = code & 0xffffffffffff, five = code & 0xffffffffff;

	j->ra = w->regs[13];
	j->sp = w->regs[UNWIND_RBX];
	if ((code & 0xffffff) == 0xe5ff41)
		java_add(j, sp, JAVA_RA_GIVEN);
	else if (six == 0xe5ff41e38b48 || six == 0xe5ff41dc8948)
		java_add(j, sp, JAVA_RA_GIVEN | JAVA_SP_GIVEN);
	else if (five == 0xe38b485d41 || five == 0xdc89485d41)
		java_add(j, sp + 8, JAVA_SP_GIVEN);
	return j->n != 0;
}

/* Lists the place for a method that runs in the interpreter. */
WALK_FN int java_plan_interpreted(WALK_ENV env, __u64 pc, __u32 exact)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);
	__u64 sp, bp, bcp, code = 0, method[2] = { 0, 0 }, saved[2] = { 0, 0 };

	if (!j || !w || !y)
		return 0;
	sp = w->regs[UNWIND_RSP];
	bp = w->regs[UNWIND_RBP];
	exact = exact && w->inner;
	if (exact)
		java_copy(env, &code, sizeof(code), 8, pc);
	if (exact && (java_plan_exit(j, w, code) || java_plan_entry(env, j, w, code)))
		return 0;
	/* Each read has two words: the second is of no use. */
	if (bp < sp || bp - sp >= JAVA_FRAME_SPAN || (bp & 7) ||
	    walk_read(env, saved, sizeof(saved), bp - 8 * (__u64)y->at[JAVA_BCP_SLOT]) ||
	    walk_read(env, method, sizeof(method), bp - 8 * JAVA_SLOT_METHOD))
		return 0;
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
