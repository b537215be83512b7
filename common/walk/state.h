/* The state of a walk up the stack, and its possible ends. Structures only, for BPF and for the host. */
#ifndef CPROF_WALK_STATE_H
#define CPROF_WALK_STATE_H

#include "common/walk/space.h"

/* How a walk ended: the numbers of enum root in common/stream/record_values.h. */
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
	WALK_COPY = 13, /* the next step needs more of the stack than was copied */
	WALK_BUDGET = 14,
	/* Not ends: */
	WALK_ON = 64,  /* the state is the caller's now */
	WALK_ASK = 65, /* no table yet for the file that is entered: walk->file_at */
	WALK_LANG = 67, /* this frame is for the program of the process's language; nothing has changed */
	/*
	 * Added to an end: the frame pointer leads outside of all known mappings. A caller that knows more
	 * mappings may continue.
	 */
	WALK_UNSURE = 128,
};

struct walk {
	/*
	 * By DWARF number. rip, rsp, rbp, rbx are the current frame's; the others are valid if inner is set.
	 */
	__u64 regs[UNWIND_REGISTERS];
	/* The mapping of the last frame, which usually is also that of the next. */
	__u64 start, end, offset;
	struct unwind_file file;
	__u32 file_at;
	struct unwind_space space;
	struct unwind_rule rule; /* the last frame's */
	__u32 distance; /* from its row's first byte */
	__u32 at;       /* in the trail: the last row that was found or added there */
	__u8 exact;    /* rip was interrupted; it is not a return address */
	__u8 inner;    /* all registers are known: the sampled frame, or one that a signal interrupted */
	__u8 bx_known;
	__u8 unchecked; /* a step without a rule was taken without a call before the return address */
};

#endif
