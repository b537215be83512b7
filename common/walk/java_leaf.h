/*
 * Where the caller's frame is while HotSpot's code builds its own frame, and after it has taken that frame
 * down. The second part of java_walk.h.
 *
 * The instructions decide. Each word of the stack may be an old return address, of a call that is over, so a
 * return address alone shows nothing: no second place is tried for compiled code that was interrupted.
 */
#ifndef CPROF_WALK_JAVA_LEAF_H
#define CPROF_WALK_JAVA_LEAF_H

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

/* Reads the code around pc. Returns 0 on success. */
static WALK_INLINE int java_read_around(WALK_ENV env, struct java_walk *j, __u64 pc)
{
	const __u32 n = sizeof(j->around);

	for (int i = 0; i < JAVA_AROUND; i++)
		j->around[i] = 0;
	if (java_copy(env, j->around, n, JAVA_AROUND * 8, pc - JAVA_BEFORE * 8) == 0)
		return 0;
	j->unreadable = 1;
	return -1;
}

/*
 * Does a compiled method return here, with its frame gone? By the bytes before pc and from pc on. Loops poll
 * by the same instructions as returns, and allocations store r10 in the thread, too. So whole sequences are
 * compared.
 */
static WALK_INLINE int java_is_return(__u64 before, __u64 bytes, __u64 more)
{
	__u64 three = bytes & 0x3fffff, four = bytes & 0xff00000000ffffff, far = bytes & 0xff00000000ffff;

	return (bytes & 0xff) == 0xc3 || /* ret */
	       /* cmp d(%r15),%rsp; ja, or jb for reserved pages; ret: from 17 on */
	       three == 0x273b49 || (before >> 8 & 0xffffff) == 0xa73b49 ||
	       (before >> 32 & 0xffffff) == 0x673b49 || far == 0xc300000000870f || /* ja; ret */
	       /* test %eax,(%r10); ret: 11 */
	       (__u32)bytes == 0xc3028541 ||
	       /* mov d(%r15),%r10 before it, with d of 8 or of 32 bits */
	       (bytes & 0xffffffff00ffffff) == 0xc302854100578b4d ||
	       (four == 0x4100000000978b4d && (more & 0xffffff) == 0xc30285) ||
	       far == 0xc3000000000585; /* test %eax,d(%rip); ret: 8 */
}

/*
 * Is this the slow path of such a return from 17 on? lea d(%rip),%r10, or movabs; mov %r10,d(%r15); jmp
 */
static WALK_INLINE int java_is_slow_return(const struct java_walk *j)
{
	__u64 before = j->around[JAVA_BEFORE - 1], bytes = j->around[JAVA_BEFORE],
	      more = j->around[JAVA_BEFORE + 1], most = j->around[JAVA_BEFORE + 2];
	__u64 four = bytes & 0xff00000000ffffff, last = before >> 8 & 0xffffff; /* seven bytes before pc */

	if ((bytes & 0xffff) == 0xba49)
		return (more >> 16 & 0xffffff) == 0x97894d && (most >> 8 & 0xff) == 0xe9;
	if (four == 0x4d00000000158d4c)
		return (more & 0xff00000000ffff) == 0xe9000000009789;
	if (four == 0xe90000000097894d)
		return last == 0x158d4c || j->around[JAVA_BEFORE - 2] >> 48 == 0xba49;
	return (bytes & 0xff) == 0xe9 && last == 0x97894d;
}

/* sub $N,%rsp, with any N */
static WALK_INLINE int java_is_sub_rsp(__u64 bytes)
{
	return (bytes & 0xfffdff) == 0xec8148;
}

/* mov %rsp,%rbp, in both encodings */
static WALK_INLINE int java_is_mov_rbp(__u64 bytes)
{
	return (bytes & 0xffffff) == 0xec8b48 || (bytes & 0xffffff) == 0xe58948;
}

/* Has rbp just been pushed, and the room for the frame is to be made next? */
static WALK_INLINE int java_is_pushed(const struct java_walk *j)
{
	__u64 bytes = j->around[JAVA_BEFORE];
	__u8 last = j->around[JAVA_BEFORE - 1] >> 56;

	return (last == 0x55 && java_is_mov_rbp(bytes)) ||
	       ((last == 0x55 || last == 0xec || last == 0xe5) && java_is_sub_rsp(bytes));
}

/* sub $N,%rsp, with the N of the frame that rbp has been pushed to */
static WALK_INLINE int java_makes_room(const struct java_walk *j, __u64 bytes)
{
	__u64 room = (__u64)(j->frame_size - 16) << 24;

	return (bytes & 0xffffffff) == (0xec8348 | room) || (bytes & 0xffffffffffffff) == (0xec8148 | room);
}

/*
 * Is this the second prologue of the first compiler's code, by which the interpreter's loops get into it?
 * Returns the bytes up to the caller's frame; 0: it is not.
 */
static WALK_INLINE __u32 java_in_entry(const struct java_walk *j)
{
	__u64 bytes = j->around[JAVA_BEFORE];

	if ((bytes & 0xff00000000ffffff) == 0x5500000000248489 || /* mov %eax,d(%rsp); push %rbp */
	    ((bytes & 0xff) == 0x55 && java_makes_room(j, bytes >> 8)))
		return 8;
	return java_is_pushed(j) && java_makes_room(j, bytes) ? 16 : 0;
}

/* Returns 1 for a number below 2^63 if it is 0. Without a branch: see java_has_room. */
static WALK_INLINE __u64 java_is_zero(__u64 n)
{
	walk_opaque(n);
	n = (n - 1) >> 63;
	walk_opaque(n);
	return n;
}

/* cmpl $N,d(%r15) */
static WALK_INLINE __u64 java_is_barrier(__u64 bytes)
{
	return java_is_zero((bytes & 0x3ffdff) ^ 0x3f8141);
}

/* Returns the eight bytes that begin i bytes after the first ones around pc; those from pc on are 0. */
static WALK_INLINE __u64 java_bytes_before(const struct java_walk *j, int i)
{
	__u64 next = i / 8 + 1 < JAVA_BEFORE ? j->around[i / 8 + 1] : 0;

	return j->around[i / 8] >> i % 8 * 8 | (i % 8 ? next << (64 - i % 8 * 8) : 0);
}

/*
 * Has the room for the frame been made by sub $N,%rsp? By the lowest byte of the frame's N. Before it is rbp
 * on the stack, or it is stored afterwards. In newer versions a barrier follows, which the JVM counts to the
 * prologue. A frame without room has only rbp. Each branch in the loop would double the verifier's work.
 */
WALK_FN int java_has_room(WALK_ENV env)
{
	struct java_walk *j = java_state(env);
	__u64 room, only_rbp, has;

	if (!j)
		return 0;
	room = j->frame_size - 16;
	only_rbp = java_is_zero(room) & java_is_zero(j->kind ^ JAVA_COMPILED);
	has = only_rbp & java_is_barrier(j->around[JAVA_BEFORE]);
	for (int i = 0; i < JAVA_BEFORE * 8; i++) {
		__u64 bytes = java_bytes_before(j, i), four = bytes & 0xfffffdff; /* N of any width */

		has |= java_is_zero(four ^ (0xec8148 | (room & 0xff) << 24));
		has |= java_is_zero(four ^ (0xec8148 | ((room + 8) & 0xff) << 24)); /* without rbp */
		has |= only_rbp & java_is_barrier(bytes);
	}
	return has != 0;
}

/* The place for the caller of a method that has not built its frame, or may have. */
static WALK_INLINE void java_plan_early(WALK_ENV env, struct java_walk *j, __u64 sp)
{
	if ((j->around[JAVA_BEFORE] & 0xff3fffff) == 0x242c8948) /* mov %rbp,d(%rsp) */
		java_add(j, sp + j->frame_size, 0);
	else if (java_is_pushed(j))
		java_add(j, sp + 16, JAVA_BP_SAVED);
	else if (java_has_room(env))
		java_add(j, sp + j->frame_size, JAVA_BP_SAVED);
	else
		java_add(j, sp + 8, 0);
}

/*
 * Is the frame of a native wrapper gone? After leave come a poll in newer versions, testb $1,d(%r15); jne; a
 * test for exceptions, cmpq $0,8(%r15); jne; and ret, or a jump to a stub.
 */
static WALK_INLINE int java_has_left(const struct java_walk *j, __u64 pc)
{
	__u64 before = j->around[JAVA_BEFORE - 1], bytes = j->around[JAVA_BEFORE],
	      target = pc + 5 + (__u64)(__s64)(__s32)(bytes >> 8);

	return (bytes & 0xff) == 0xc3 || (bytes & 0xff00000000ffff) == 0xc300000000850f ||
	       (bytes & 0x3fffff) == 0x3f8349 ||
	       (before >> 56 == 0xc9 && (bytes & 0x3fffff) == 0x07f641) ||
	       (before >> 24 & 0xffffff) == 0x47f641 || (before & 0xffffff) == 0x87f641 ||
	       java_is_slow_return(j) ||
	       ((bytes & 0xff) == 0xe9 && !java_is_within(target, j->begin, j->end));
}

/* The place for the caller of a native wrapper that has built its frame: rbp points there. */
static WALK_INLINE void java_plan_wrapper(struct java_walk *j, __u64 pc, __u64 sp, __u64 bp)
{
	if (java_has_left(j, pc))
		java_add(j, sp + 8, 0);
	else
		java_add(j, bp + 16, JAVA_BP_SAVED);
}

/*
 * Returns how many registers code takes back from the stack after a call: the first compiler's code passes
 * two to a stub that way. pop %rbp belongs to the end of a frame.
 */
static WALK_INLINE __u32 java_popped(__u64 bytes)
{
	__u32 n = 0;

	for (__u32 i = 0; i < 2; i++) {
		int wide = (bytes & 0xf8ff) == 0x5841;
		int narrow = (bytes & 0xf8) == 0x58 && (bytes & 0xff) != 0x5d;

		n += n == i && (wide || narrow);
		bytes >>= wide ? 16 : 8;
	}
	return n;
}

/* Returns how many of these registers are on the stack: push; push; call; pop; pop. */
static WALK_INLINE __u32 java_pushed(const struct java_walk *j)
{
	__u64 before = j->around[JAVA_BEFORE - 1], bytes = j->around[JAVA_BEFORE],
	      more = j->around[JAVA_BEFORE + 1];
	__u32 wide = (bytes & 0xff) == 0x41, op = wide ? bytes >> 8 & 0xf8 : bytes & 0xf8, n;
	__u64 pops = bytes;
	int half = 0; /* after the first push, or before the second pop */

	if ((bytes & 0xff) == 0xe9) /* push %r10; jmp: the handler of deoptimization */
		return before >> 48 == 0x5241;
	if ((bytes & 0xff) == 0xe8) {
		pops = bytes >> 40 | more << 24;
	} else if (op == 0x50) {
		if (((wide ? bytes >> 16 : bytes >> 8) & 0xff) != 0xe8)
			return 0;
		half = 1;
		pops = wide ? more << 8 | bytes >> 56 : more << 16 | bytes >> 48;
	} else if (op != 0x58) {
		return 0;
	} else if ((before >> 24 & 0xff) != 0xe8) {
		half = 1;
		pops = (before >> 16 & 0xff) == 0xe8 ? before >> 56 | bytes << 8 :
		       (before >> 8 & 0xff) == 0xe8  ? before >> 48 | bytes << 16 : 0;
	}
	n = java_popped(pops);
	return half ? n >> 1 : n;
}

/* The place for the caller of a method that has built its frame. */
static WALK_INLINE void java_plan_body(struct java_walk *j, __u64 sp)
{
	__u64 before = j->around[JAVA_BEFORE - 1], bytes = j->around[JAVA_BEFORE],
	      more = j->around[JAVA_BEFORE + 1];
	__u32 entry = java_in_entry(j);

	if (entry)
		java_add(j, sp + entry, entry == 16 ? JAVA_BP_SAVED : 0);
	else if (java_is_return(before, bytes, more) || java_is_slow_return(j) ||
		 (before >> 56 == 0x5d && (bytes & 0xff) == 0xe9))
		java_add(j, sp + 8, 0);
	else if ((bytes & 0xff) == 0x5d && /* pop %rbp, and ret or jmp to a stub */
		 ((bytes >> 8 & 0xff) == 0xe9 || java_is_return(0, bytes >> 8 | more << 56, more >> 8)))
		java_add(j, sp + 16, JAVA_BP_SAVED);
	else
		java_add(j, sp + j->frame_size + 8 * java_pushed(j), JAVA_BP_SAVED);
}

/* Lists the place for the caller of compiled code that was interrupted. */
WALK_FN int java_plan_leaf(WALK_ENV env, __u64 pc)
{
	struct java_walk *j = java_state(env);
	struct walk *w = walk_state(env);

	if (!j || !w)
		return 0;
	j->pc = pc;
	if (java_read_around(env, j, pc))
		return 0;
	if (pc - j->begin < j->complete)
		java_plan_early(env, j, w->regs[UNWIND_RSP]);
	else if (j->kind == JAVA_WRAPPER)
		java_plan_wrapper(j, pc, w->regs[UNWIND_RSP], w->regs[UNWIND_RBP]);
	else
		java_plan_body(j, w->regs[UNWIND_RSP]);
	return 0;
}

#endif
