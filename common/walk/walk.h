/*
 * One step up the stack, from a frame's registers to its caller's. The same source is compiled into the BPF
 * program and for the host, which walks recorded states (registers, stack, mappings): in unit tests, and to
 * finish walks that the program could not for lack of a table.
 *
 * Before the #include, define
 *
 *	WALK_ENV	the type of every function's first argument. In BPF the program's context or a number.
 *	WALK_FN		how functions are declared. In BPF they are global, so that each is verified once
 *			and not once for each path that leads to it; so they take numbers only.
 *	WALK_INLINE	the other functions: inline, in BPF always
 *
 * and then define the functions that are declared below without a body: in BPF they are map lookups.
 *
 * A language's own walk goes through code that has no table. It defines one or both of
 *
 *	WALK_LANG_STEP(env, pc)	goes up one frame whose code may be the language's. WALK_FOUND: it is not.
 *	WALK_LANG_FRAME(env)	is called before each step by frame pointer, also by a rule that was found in code
 *
 * Without them, such a walk ends with WALK_LANG at the first frame of a process whose space has a language.
 *
 * With WALK_LIVE(env, pc), mappings of a process whose space is UNWIND_LIVE come from the kernel: it does what
 * walk_search_mapping does.
 *
 * Sources: System V ABI AMD64 3.4.1 and 3.7; arch/x86/include/uapi/asm/sigcontext.h for signal frames.
 */
#ifndef CPROF_WALK_WALK_H
#define CPROF_WALK_WALK_H

#include <stddef.h>

#include "common/walk/walk_memory.h"
#include "common/walk/state.h"

/* NULL: there is none. Arrays of UNWIND_SHARD_ROWS, _SHARD_MAPPINGS, _RULES, _PAGES, _FILES. */
static WALK_INLINE struct walk *walk_state(WALK_ENV env);
static WALK_INLINE const __u32 *walk_rows(WALK_ENV env, __u32 shard);
static WALK_INLINE const struct unwind_mapping *walk_mappings(WALK_ENV env, __u32 shard);
static WALK_INLINE const struct unwind_rule *walk_rules(WALK_ENV env);
static WALK_INLINE const struct unwind_page *walk_pages(WALK_ENV env);
static WALK_INLINE const struct unwind_file *walk_files(WALK_ENV env);
/* Not shared during a walk; NULL: there is no cache. */
static WALK_INLINE struct unwind_memory *walk_memory(WALK_ENV env);
/* Reads memory of the thread that is walked. Returns 0 on success. */
static WALK_INLINE int walk_read(WALK_ENV env, void *to, __u32 n, __u64 from);
/* Reads eight bytes of its code. Returns 0 on success. */
static WALK_INLINE int walk_read_code(WALK_ENV env, __u64 *to, __u64 from);

enum { WALK_NOWHERE = 0xffffffff, WALK_FP_SPAN = 8 << 20, WALK_LEAST = 4096, WALK_BITS = 56,
       WALK_FOUND = 66 /* not a walk_end */ };

/* The compiler forgets the value's origin here: it keeps checks for the verifier, and makes no branch. */
#define walk_opaque(value) __asm__ volatile("" : "+r"(value))

/*
 * The steps of both searches have no branches: none can be mispredicted, and the verifier need not follow
 * every path. Both are functions of their own, because the verifier follows the code after a loop once for
 * each iteration at which the loop can end.
 */

/* Returns the index in the shard of the last of n mappings, from first on, that starts at pc or before. */
WALK_FN __u32 walk_find_mapping(WALK_ENV env, __u32 shard, __u32 first, __u32 n, __u64 pc)
{
	const struct unwind_mapping *maps = walk_mappings(env, shard);

	if (!maps || n == 0)
		return WALK_NOWHERE;
	for (int i = 0; i < 15 && n > 1; i++) {
		__u32 half = n / 2;
		__u64 ahead = pc - maps[(first + half) & (UNWIND_SHARD_MAPPINGS - 1)].start;

		walk_opaque(ahead); /* otherwise the compiler makes the sign or the bit a branch again */
		ahead >>= 63;
		walk_opaque(ahead);
		first += half & ((__u32)ahead - 1);
		n -= half;
	}
	return first & (UNWIND_SHARD_MAPPINGS - 1);
}

/* Returns the index in the shard of the last of n rows, from first on, whose offset is not after key's. */
WALK_FN __u32 walk_find_row(WALK_ENV env, __u32 shard, __u32 first, __u32 n, __u32 key)
{
	const __u32 *rows = walk_rows(env, shard);

	if (!rows)
		return WALK_NOWHERE;
	for (int i = 0; i < 14 && n > 1; i++) {
		__u32 half = n / 2;
		__u64 ahead = (__u64)key - rows[(first + half) & (UNWIND_SHARD_ROWS - 1)];

		walk_opaque(ahead); /* otherwise the compiler makes the sign or the bit a branch again */
		ahead >>= 63;
		walk_opaque(ahead);
		first += half & ((__u32)ahead - 1);
		n -= half;
	}
	return first & (UNWIND_SHARD_ROWS - 1);
}

static WALK_INLINE int walk_search_mapping(WALK_ENV env, struct walk *w, __u64 pc)
{
	__u32 shard = w->space.first / UNWIND_SHARD_MAPPINGS;
	__u32 at = walk_find_mapping(env, shard, w->space.first & (UNWIND_SHARD_MAPPINGS - 1), w->space.n, pc);
	const struct unwind_mapping *m = walk_mappings(env, shard);
	const struct unwind_file *files = walk_files(env);

	if (at == WALK_NOWHERE || !m || !files)
		return WALK_NO_MAPPING;
	m += at & (UNWIND_SHARD_MAPPINGS - 1);
	if (pc < m->start || pc >= m->end)
		return WALK_NO_MAPPING;
	w->start = m->start;
	w->end = m->end;
	w->offset = m->offset;
	w->file_at = m->file & (UNWIND_FILES - 1);
	w->file = files[w->file_at];
	if (!w->file_at)
		w->file.load = 0; /* it counts changes: no row is of that load */
	return WALK_ON;
}

static WALK_INLINE int walk_look_for_mapping(WALK_ENV env, struct walk *w, __u64 pc)
{
#ifdef WALK_LIVE
	if (w->space.generation & UNWIND_LIVE)
		return WALK_LIVE(env, pc);
#endif
	return walk_search_mapping(env, w, pc);
}

/* Returns the number of changes on the way to the rows; 0: unknown. Data read later is at least that new. */
static WALK_INLINE __u32 walk_changes(WALK_ENV env)
{
	const struct unwind_file *files = walk_files(env);

	return files ? *(const volatile __u32 *)&files->load : 0;
}

/* Returns the cache slot of a mapping, by 64 KiB of addresses; a mapping may fill many. */
static WALK_INLINE struct unwind_place *walk_place(WALK_ENV env, const struct walk *w, __u64 pc)
{
	__u32 hash = ((__u32)(pc >> 16) ^ w->space.generation * 0x85ebca6bu) * 0x9e3779b1u;
	struct unwind_memory *m = walk_memory(env);

	return m && w->space.generation ? &m->places[hash >> (32 - UNWIND_PLACES_BITS)] : NULL;
}

/* Sets the current mapping to the one that contains pc. */
WALK_FN int walk_enter(WALK_ENV env, __u64 pc)
{
	__u32 changes = walk_changes(env);
	struct walk *w = walk_state(env);
	struct unwind_place *p;
	int end;

	if (!w)
		return WALK_NO_MAPPING;
	p = walk_place(env, w, pc);
	if (p && changes && p->changes == changes && p->generation == w->space.generation && pc >= p->start && pc < p->end) {
		w->start = p->start;
		w->end = p->end;
		w->offset = p->offset;
		w->file_at = p->file_at;
		w->file = p->file;
		return WALK_ON;
	}
	end = walk_look_for_mapping(env, w, pc);
	if (p && changes && end == WALK_ON) {
		p->start = w->start;
		p->end = w->end;
		p->offset = w->offset;
		p->generation = w->space.generation;
		p->changes = changes;
		p->file_at = w->file_at;
		p->file = w->file;
	}
	return end;
}

/* Is there a mapping with code at pc? If so, it is the current one. */
static WALK_INLINE int walk_is_mapped(WALK_ENV env, const struct walk *w, __u64 pc)
{
	return (pc >= w->start && pc < w->end) || walk_enter(env, pc) == WALK_ON;
}

/*
 * Returns the number of the rule at an offset in the file, and sets w->distance to the distance from its row.
 * *left: bytes up to the next row, 0: nothing is known here.
 */
static WALK_INLINE __u32 walk_row(WALK_ENV env, struct walk *w, __u64 offset, __u32 *left)
{
	__u64 page = (offset >> UNWIND_PAGE_SHIFT) - w->file.first_page;
	__u32 low = offset & ((1 << UNWIND_PAGE_SHIFT) - 1), shard, first, at, n, row;
	const struct unwind_page *pages = walk_pages(env);
	const __u32 *rows;

	w->distance = *left = 0;
	if (page >= w->file.n_pages || !pages)
		return UNWIND_GAP;
	pages += (w->file.pages + (__u32)page) & (UNWIND_PAGES - 1);
	n = pages->n;
	first = pages->first & (UNWIND_SHARD_ROWS - 1);
	shard = pages->first / UNWIND_SHARD_ROWS;
	rows = walk_rows(env, shard);
	if (n == 0 || n > UNWIND_PAGE_ROWS || !rows)
		return UNWIND_GAP;
	at = walk_find_row(env, shard, first, n, low << 16 | 0xffff) & (UNWIND_SHARD_ROWS - 1);
	row = rows[at];
	n -= at - first; /* rows from this one on */
	*left = (n > 1 ? rows[(at + 1) & (UNWIND_SHARD_ROWS - 1)] >> 16 : 1 << UNWIND_PAGE_SHIFT) - low;
	w->distance = low - (row >> 16);
	return row & 0xffff;
}

/* Returns the number of bits set among the d lowest. A popcount's multiplications are more expensive here. */
static WALK_INLINE __u32 walk_bits(__u32 mask, __u32 d)
{
	mask &= (1u << (d < UNWIND_RUN ? d : UNWIND_RUN)) - 1;
	mask = mask - ((mask >> 1) & 0x5555);
	mask = (mask & 0x3333) + ((mask >> 2) & 0x3333);
	mask = (mask + (mask >> 4)) & 0x0f0f;
	return (mask + (mask >> 8)) & 0x1f;
}

static WALK_INLINE int walk_is_code(__u64 address)
{
	return address >= WALK_LEAST && address >> WALK_BITS == 0;
}

/* Returns true for opcode FF /2 with a register operand, or a memory one of this many bytes after ModRM. */
static WALK_INLINE int walk_is_indirect(__u64 bytes, __u32 behind)
{
	__u32 opcode = (bytes >> (48 - 8 * behind)) & 0xff, modrm = (bytes >> (56 - 8 * behind)) & 0xff, rm = modrm & 7;

	if (opcode != 0xff)
		return 0;
	switch (behind) {
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
 * each of their frames: memory without a table, with a copy of eleven bytes for each function. All eleven are
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

	if (r->kind == UNWIND_GAP)
		goto by_fp;
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

static WALK_INLINE __u32 walk_hash(__u32 load, __u64 offset)
{
	return ((__u32)(offset >> 4) ^ load * 0x85ebca6bu) * 0x9e3779b1u;
}

static WALK_INLINE int walk_holds(const struct unwind_known *k, __u32 load, __u64 offset)
{
	return k->load == load && offset - k->from < k->bytes;
}

/*
 * Returns the cached row at an offset of a file, or NULL. *at: for callers, the index in the trail. The next
 * row is usually the one after the last that was met.
 */
static WALK_INLINE const struct unwind_known *walk_known(const struct unwind_memory *m, __u32 load, __u64 offset,
							 int exact, __u32 *at)
{
	const struct unwind_known *k;

	if (exact) {
		k = &m->leaves[walk_hash(load, offset) >> (32 - UNWIND_LEAVES_BITS)];
		return walk_holds(k, load, offset) ? k : NULL;
	}
	*at = (*at + 1) & (UNWIND_TRAIL - 1);
	k = &m->trail[*at];
	if (walk_holds(k, load, offset))
		return k;
	*at = m->where[walk_hash(load, offset) >> (32 - UNWIND_TRAIL_BITS)] & (UNWIND_TRAIL - 1);
	k = &m->trail[*at];
	return walk_holds(k, load, offset) ? k : NULL;
}

/* Sets the current row to the one that contains pc, if it is cached. Returns 0 if it is. */
WALK_FN int walk_recall(WALK_ENV env, __u64 pc)
{
	struct unwind_memory *m = walk_memory(env);
	struct walk *w = walk_state(env);
	const struct unwind_known *k;
	__u64 offset;

	if (!w || !m || !walk_is_mapped(env, w, pc))
		return -1;
	offset = pc - w->start + w->offset;
	k = walk_known(m, w->file.load, offset, w->exact, &w->at);
	if (!k)
		return -1;
	w->rule = k->rule;
	w->distance = (__u32)(offset - k->from);
	return 0;
}

/* Is a register's slot in a run above rsp once all of the run's instructions were executed? */
static WALK_INLINE int walk_is_above(__u8 saved, __s32 at, __s32 cfa)
{
	return saved != UNWIND_AT_CFA || at + cfa >= 0;
}

/*
 * Beyond the last instruction of a run of pushes or pops, its row is a plain one: most calls are made there,
 * and quick steps know plain rows only.
 */
static WALK_INLINE void walk_simplify(struct unwind_known *k, __u32 distance)
{
	__s32 bytes = 8 * (__s32)walk_bits(k->rule.mask, UNWIND_RUN), cfa = k->rule.cfa;

	if (distance < UNWIND_RUN || (k->rule.kind != UNWIND_PUSHES && k->rule.kind != UNWIND_POPS))
		return;
	cfa += k->rule.kind == UNWIND_PUSHES ? bytes : -bytes;
	if (!walk_is_above(k->rule.bp, k->rule.bp_at, cfa) || !walk_is_above(k->rule.bx, k->rule.bx_at, cfa))
		return;
	k->rule.kind = UNWIND_CFA_RSP;
	k->rule.reg = k->rule.mask = 0;
	k->rule.cfa = cfa;
	k->from += UNWIND_RUN;
	k->bytes -= UNWIND_RUN;
}

/* Caches the current row, which was searched for at this offset and holds for `left` more bytes. */
static WALK_INLINE void walk_remember(WALK_ENV env, struct walk *w, __u64 offset, __u32 left)
{
	struct unwind_memory *m = walk_memory(env);
	__u32 load = w->file.load;
	struct unwind_known *k;

	if (!m || !left || !load)
		return;
	if (w->exact) {
		k = &m->leaves[walk_hash(load, offset) >> (32 - UNWIND_LEAVES_BITS)];
	} else {
		w->at = m->next++ & (UNWIND_TRAIL - 1);
		m->where[walk_hash(load, offset) >> (32 - UNWIND_TRAIL_BITS)] = (__u16)w->at;
		k = &m->trail[w->at & (UNWIND_TRAIL - 1)];
	}
	k->from = offset - w->distance;
	k->load = load;
	k->bytes = w->distance + left;
	k->rule = w->rule;
	walk_simplify(k, w->distance);
}

/* Sets the current row to the one of the current mapping that contains pc. Returns 0 on success. */
WALK_FN int walk_look_up(WALK_ENV env, __u64 pc)
{
	const struct unwind_rule *rules = walk_rules(env);
	struct walk *w = walk_state(env);
	__u32 rule, left;
	__u64 offset;

	if (!w || !rules)
		return -1;
	offset = pc - w->start + w->offset;
	rule = walk_row(env, w, offset, &left);
	w->rule = rules[rule & (UNWIND_RULES - 1)];
	walk_remember(env, w, offset, left);
	return 0;
}

/*
 * Finds the row for pc and stores it in the walk (WALK_FOUND). Without a row, takes the step itself or
 * returns the reason the walk ends.
 */
static WALK_INLINE int walk_find(WALK_ENV env, struct walk *w, __u64 pc)
{
	int end;

#ifdef WALK_LANG_STEP
	end = WALK_LANG_STEP(env, pc);
	if (end != WALK_FOUND)
		return end;
#endif
	if (pc < w->start || pc >= w->end) {
		end = walk_enter(env, pc);
#ifndef WALK_LANG_STEP
		if (end != WALK_ON && w->space.lang)
			return WALK_LANG;
#endif
		if (end != WALK_ON)
			return end;
	}
	if (w->file.state == UNWIND_FILE_ASK) {
		w->start = w->end = 0;
		return WALK_ASK;
	}
	if (!w->file_at && walk_trampoline(env, WALK_NO_TABLE) == WALK_ON)
		return WALK_ON;
	if (w->file.state != UNWIND_FILE_READY)
		return walk_by_fp(env, w->file.state == UNWIND_FILE_REFUSED ? WALK_BUDGET : WALK_NO_TABLE);
	return walk_look_up(env, pc) ? WALK_NO_TABLE : WALK_FOUND;
}

/* Goes up one frame: WALK_ON, WALK_ASK (nothing has changed: repeat once there is a table) or an end. */
static WALK_INLINE int walk_step(WALK_ENV env)
{
	struct walk *w = walk_state(env);
	int is = WALK_FOUND;
	__u64 pc;

	if (!w)
		return WALK_NO_TABLE;
	pc = w->regs[UNWIND_RIP] - !w->exact;
	if (walk_recall(env, pc))
		is = walk_find(env, w, pc);
	return is == WALK_FOUND ? walk_by_rule(env, w, &w->rule, w->distance) : is;
}

#endif
