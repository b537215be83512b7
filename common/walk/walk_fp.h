/*
 * Steps that need no row of a table: by frame pointer, checked by the call before the return address, and over
 * CPython's trampolines.
 *
 *	if (walk_by_fp(env, WALK_NO_TABLE) == WALK_ON)
 *		...the walk's registers are the caller's...
 *
 * Sources: System V ABI AMD64 3.4.1 for the chain of frame pointers; Intel SDM 2, CALL and table 2-2.
 */
#ifndef CPROF_WALK_WALK_FP_H
#define CPROF_WALK_WALK_FP_H

#include "common/walk/walk_search.h"

enum { WALK_FP_SPAN = 8 << 20, WALK_LEAST = 4096, WALK_BITS = 56 };

static WALK_INLINE int walk_is_code(__u64 address)
{
	return address >= WALK_LEAST && address >> WALK_BITS == 0;
}

/* Returns true for opcode FF /2 with a register operand, or a memory one of this many bytes after ModRM. */
static WALK_INLINE int walk_is_indirect(__u64 bytes, __u32 after)
{
	__u32 opcode = (bytes >> (48 - 8 * after)) & 0xff, modrm = (bytes >> (56 - 8 * after)) & 0xff,
	      rm = modrm & 7;

	if (opcode != 0xff)
		return 0;
	switch (after) {
	case 0:
		return (modrm & 0xf8) == 0xd0 || ((modrm & 0xf8) == 0x10 && rm != 4 && rm != 5);
	case 1:
		return ((modrm & 0xf8) == 0x50 && rm != 4) || modrm == 0x14;
	case 2:
		return modrm == 0x54;
	case 4:
		return modrm == 0x15 || ((modrm & 0xf8) == 0x90 && rm != 4);
	default:
		return modrm == 0x94;
	}
}

/* Returns 1 if a call ends at this address, 0 if not, -1 if unreadable. Intel SDM 2, CALL and table 2-2. */
WALK_FN int walk_is_call(WALK_ENV env, __u64 address)
{
	__u64 bytes;

	if (!walk_is_code(address))
		return 0;
	if (walk_read_code(env, &bytes, address - 8))
		return -1;
	return ((bytes >> 24) & 0xff) == 0xe8 || walk_is_indirect(bytes, 0) || walk_is_indirect(bytes, 1) ||
	       walk_is_indirect(bytes, 2) || walk_is_indirect(bytes, 4) || walk_is_indirect(bytes, 5);
}

/* Is this frame left to the program of the process's language, or may it be? */
static WALK_INLINE int walk_is_foreign(WALK_ENV env, const struct walk *w)
{
#ifdef WALK_LANG_FRAME
	WALK_LANG_FRAME(env);
#endif
	(void)env;
#if defined(WALK_LANG_STEP) || defined(WALK_LANG_FRAME)
	(void)w;
	return 0;
#else
	return w->space.lang || w->space.generation & UNWIND_LIVE;
#endif
}

/* Only user space knows the language of a process that was not published. */
static WALK_INLINE int walk_foreign_end(const struct walk *w)
{
	return w->space.generation & UNWIND_LIVE ? WALK_ASK : WALK_LANG;
}

/*
 * Without a rule: finds the caller's frame by the frame pointer if that can be one, else returns why. In
 * assembly and in JIT code rbp may be an ordinary register: its frame is trusted if a call ends at the return
 * address, and a stack that continued without this check is not called complete. Within memory without a file
 * the call may be missing, because HotSpot's interpreter pushes return addresses by itself.
 */
WALK_FN int walk_by_fp(WALK_ENV env, int why)
{
	struct walk *w = walk_state(env);
	__u64 sp, bp, pair[2];
	__u32 from;
	int call;

	if (!w)
		return why;
	if (walk_is_foreign(env, w))
		return walk_foreign_end(w);
	from = w->file_at;
	sp = w->regs[UNWIND_RSP];
	bp = w->regs[UNWIND_RBP];
	/* By convention 0 is the outermost frame's: the ABI, 3.4.1. In the innermost frame it may be data. */
	if (bp == 0)
		return w->inner ? why : WALK_FP_END;
	if (bp < sp || bp - sp >= WALK_FP_SPAN || (bp & 7) || walk_read(env, pair, sizeof(pair), bp))
		return why;
	if (pair[1] == 0)
		return WALK_FP_END;
	/* The value may be anything: a return address must be in code, after a call. */
	if (!walk_is_code(pair[1]))
		return why;
	if (!walk_is_mapped(env, w, pair[1] - 1))
		return why | WALK_UNSURE;
	call = walk_is_call(env, pair[1]);
	if (call == 0 && (why != WALK_NO_TABLE || from || w->file_at))
		return why;
	if (call <= 0)
		w->unchecked = 1;
	w->regs[UNWIND_RIP] = pair[1];
	w->regs[UNWIND_RSP] = bp + 16;
	w->regs[UNWIND_RBP] = pair[0];
	w->exact = w->inner = w->bx_known = 0;
	return WALK_ON;
}

/*
 * Steps over a trampoline by which CPython 3.12 and newer, with -X perf or -X perf_jit, call the function of
 * each of their frames: memory without a row, with a copy of eleven bytes for each function. All eleven are
 * compared.
 */
WALK_FN int walk_trampoline(WALK_ENV env, int why)
{
	/* sub $8,%rsp; call *%rcx; the call returns to add $8,%rsp; ret */
	const __u64 first = 0x8348d1ff08ec8348, rest = 0xc308c48348; /* first: eight bytes from its start */
	struct walk *w = walk_state(env);
	__u64 bytes, caller;

	if (!w || w->exact || walk_read_code(env, &bytes, w->regs[UNWIND_RIP] - 6) || bytes != first ||
	    walk_read_code(env, &bytes, w->regs[UNWIND_RIP]) || (bytes & 0xffffffffff) != rest ||
	    walk_read(env, &caller, sizeof(caller), w->regs[UNWIND_RSP] + 8) || !walk_is_code(caller))
		return why;
	w->regs[UNWIND_RIP] = caller;
	w->regs[UNWIND_RSP] += 16;
	w->exact = w->inner = 0;
	return WALK_ON;
}

#endif
