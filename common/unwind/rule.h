/*
 * The parts of an unwind table: rows that say which rule holds from which instruction on, and rules that say
 * where the caller's registers are. Structures only, for BPF and for the host: build.h makes tables from
 * files, walk.h uses them.
 *
 * Code is addressed by its offset in the file, never by its linked address: a mapping gives the offset, so
 * only the builder needs the segments. A file is cut into pages of 64 KiB. A row is one u32: (offset within
 * the page) << 16 | rule, ascending within its page, valid up to the next row. The first row of a page that
 * has any is at offset 0 and repeats the rule in force there, so a search never leaves its page. The rule
 * before the first function and between functions is UNWIND_GAP.
 *
 * Registers have DWARF's numbers (System V ABI AMD64, figure 3.36): 3 rbx, 6 rbp, 7 rsp, 16 the return
 * address.
 */
#ifndef CPROF_UNWIND_RULE_H
#define CPROF_UNWIND_RULE_H

#include <linux/types.h>

enum {
	UNWIND_PAGE_SHIFT = 16,
	UNWIND_PAGE_ROWS = 16383, /* rows of one page at most: a search has 14 steps */
	UNWIND_RULES = 65536,     /* rules of all tables together; each has a 16-bit number */
};

enum unwind_register { UNWIND_RBX = 3, UNWIND_RBP = 6, UNWIND_RSP = 7, UNWIND_RIP = 16, UNWIND_REGISTERS = 17 };

/* CFA: the value of rsp in the caller. The return address is at CFA - 8 unless stated otherwise. */
enum unwind_kind {
	UNWIND_GAP = 0,       /* no information here: maybe frame pointers */
	UNWIND_STOP = 1,      /* the outermost frame: its return address is undefined */
	UNWIND_BAD = 2,       /* information that cannot be expressed here */
	UNWIND_CFA_RSP = 3,   /* CFA = rsp + cfa */
	UNWIND_CFA_RBP = 4,   /* CFA = rbp + cfa */
	UNWIND_CFA_RBX = 5,   /* CFA = rbx + cfa, rbx being followed up the stack */
	UNWIND_CFA_REG = 6,   /* CFA = another register + cfa: known in the innermost frame only */
	UNWIND_DEREF_RSP = 7, /* CFA = [rsp + cfa] + (__s16)mask */
	UNWIND_DEREF_RBP = 8, /* CFA = [rbp + cfa] + (__s16)mask: gcc's realigned frames */
	UNWIND_PLT = 9,       /* CFA = rsp + cfa + ((rip & 15) >= reg ? 8 : 0) */
	UNWIND_SIGNAL = 10,   /* rsp points to the ucontext: all registers are in it */
	UNWIND_RA_REG = 11,   /* CFA = rsp + cfa, return address in register reg: innermost frame only (vfork) */
	/*
	 * Runs of pushes or pops: CFA = rsp + cfa ± 8 × the number of bits set in mask among the d lowest, d
	 * bytes (UNWIND_RUN at most) after the row's offset. A slot below rsp is not filled yet, or was
	 * emptied: rbp and rbx with such a slot are still, or again, in their registers.
	 */
	UNWIND_PUSHES = 12,
	UNWIND_POPS = 13,
	UNWIND_SWITCH = 14, /* CFA = rbp + cfa, on another stack: it may be lower than rsp (Go) */
	UNWIND_KINDS,
};

/*
 * A rule that was made from the machine code, for lack of a table. It can be wrong, so a walk continues by it only if
 * a call ends at the return address that it leads to.
 */
enum { UNWIND_FROM_CODE = 1 };

enum { UNWIND_RUN = 16 }; /* bytes of a run of pushes or pops, at most */

/* Where the caller's rbp is. */
enum unwind_save {
	UNWIND_SAME = 0,    /* in the register */
	UNWIND_AT_CFA = 1,  /* [CFA + at] */
	UNWIND_AT_RBP = 2,  /* [rbp + at]; not for rbx */
	UNWIND_IS_CFA = 3,  /* it is CFA + at; not for rbx */
	UNWIND_LOST = 4,    /* nowhere */
	UNWIND_SAVES,
};

/* Equal rules have equal bytes: fields that a kind or a save does not use are 0. */
struct unwind_rule {
	__u8 kind;
	__u8 reg;  /* CFA_REG, RA_REG: which; PLT: the threshold; CFA_RSP, CFA_RBP: UNWIND_FROM_CODE or 0 */
	__u8 bp;   /* unwind_save */
	__u8 bx;   /* SAME, AT_CFA or LOST. LOST in all rules of a file without CFA_RBX: not worth a read */
	__s32 cfa;
	__s32 bp_at;
	__s16 bx_at;
	__u16 mask;
};

static inline int unwind_from_code(const struct unwind_rule *r)
{
	return r->kind <= UNWIND_CFA_RBP && r->reg;
}

/* The rows of one page: n from first on; n = 0: no known code. */
struct unwind_page {
	__u32 first, n;
};

#endif
