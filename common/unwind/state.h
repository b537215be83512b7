/* Where a walk up the stack is, and how it can end. Shapes only, for BPF and for the host. */
#ifndef CPROF_UNWIND_STATE_H
#define CPROF_UNWIND_STATE_H

#include "common/unwind/space.h"

/* How a walk ended: the numbers of enum root in common/stream/record.h. */
enum walk_end {
	WALK_COMPLETE = 0,
	WALK_FP_END = 1,
	WALK_DEPTH = 2,
	WALK_UNREADABLE = 3,
	WALK_BROKEN = 4,
	WALK_NO_REGS = 5,
	WALK_NO_TABLE = 7,
	WALK_NO_MAPPING = 8,
	WALK_GAP = 9,
	WALK_BAD_RULE = 10,
	WALK_COPY = 13, /* to go on takes more of the stack than is at hand */
	WALK_BUDGET = 14,
	/* Not ends: */
	WALK_ON = 64,  /* the state is the caller's now */
	WALK_ASK = 65, /* no table yet of the file that is entered: walk->file_at */
	/* With an end: the frame pointer leads to an address in no mapping that is known. Who knows more may go on. */
	WALK_UNSURE = 128,
};

struct walk {
	/* By DWARF number. rip, rsp, rbp and rbx are the present frame's; the others count where inner is set. */
	__u64 regs[UNWIND_REGISTERS];
	/* The mapping of the last frame, which most often is that of the next. */
	__u64 start, end, offset;
	struct unwind_file file;
	__u32 file_at;
	struct unwind_space space;
	struct unwind_rule rule; /* of the last frame */
	__u32 distance; /* from its row's first byte */
	__u32 at;       /* in the trail: the last row that was found there or put there */
	__u8 exact;    /* rip was interrupted, it is no return address */
	__u8 inner;    /* all registers are known: the sampled frame, or one that a signal interrupted */
	__u8 bx_known;
	__u8 unchecked; /* a step went by the frame pointer through a gap of a table, and nobody looked for the call */
};

#endif
