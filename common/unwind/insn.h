/*
 * Decodes x86-64 machine code as far as unwinding needs it: how long an instruction is, where it jumps, and its
 * effect on rsp and rbp. Only for this directory.
 *
 *	struct insn i;
 *
 *	if (!insn_decode(code, &i))
 *		...not an instruction that is known here...
 *	at += i.length;
 *
 * Anything that writes rsp or rbp in a way that has no kind here is INSN_RSP_LOST or INSN_RBP_LOST. In doubt the
 * decoder refuses: an instruction of unknown length, or one that user space cannot run.
 *
 * Sources: Intel SDM volume 2, chapter 2 and appendix A (opcode maps); AMD64 APM volume 3, appendix A.
 */
#ifndef CPROF_UNWIND_INSN_H
#define CPROF_UNWIND_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/cursor.h"

enum { INSN_BYTES_MAX = 15 };

enum insn_kind {
	INSN_OTHER,         /* changes neither rsp nor rbp */
	INSN_PUSH,          /* rsp -= 8; reg is saved there, or INSN_NO_REG */
	INSN_POP,           /* the reverse */
	INSN_ADD_RSP,       /* rsp += value */
	INSN_RSP_FROM_RBP,  /* rsp = rbp + value */
	INSN_RBP_FROM_RSP,  /* rbp = rsp + value */
	INSN_STORE_RBP,     /* [rsp + value] = rbp */
	INSN_LOAD_RBP,      /* rbp = [rsp + value] */
	INSN_LEAVE,         /* rsp = rbp; pop rbp */
	INSN_CALL,          /* to value if has_target; rsp is the same after it */
	INSN_JUMP,          /* to value if has_target; nothing follows */
	INSN_BRANCH,        /* to value, or on */
	INSN_RETURN,
	INSN_STOP,          /* traps: nothing follows */
	INSN_RBP_LOST,
	INSN_RSP_LOST,      /* and perhaps rbp */
};

enum { INSN_NO_REG = 0xff };

struct insn {
	enum insn_kind kind;
	uint8_t length;
	uint8_t reg;     /* the processor's number: 4 rsp, 5 rbp */
	bool has_target;
	int64_t value;   /* a target counts from the end of the instruction */
};

/* Decodes the instruction at the start of the bytes. Returns false if it is unknown or cut off. */
bool insn_decode(struct slice code, struct insn *out);

#endif
