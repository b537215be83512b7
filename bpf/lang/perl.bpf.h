/*
 * Walks the contexts of perl, 5.32 to 5.44, from the thread's current context to the outermost
 * one.
 *
 * Contexts are an array of 104 bytes each, and are read in pieces. Calls from C code, as of a tied
 * variable, begin a new array: a stackinfo has it, and the address of the one around it. A sub, a
 * format, a string eval and a file that is being required are frames; blocks, loops and eval {}
 * are not. A frame has the line of the COP that runs: the interpreter's current one in the
 * innermost frame, and the COP that the context has saved in all others.
 *
 * PL_runops runs once for each context that returns to C code: its next operator is NULL. Two calls
 * run code without a frame: the block of a sort, and code in a pattern that belongs to the sub
 * around it. An eval in code that C code has called outside an eval runs in a loop of its own
 * (docatch in pp_ctl.c).
 */
#ifndef CPROF_BPF_LANG_PERL_H
#define CPROF_BPF_LANG_PERL_H

#include "bpf/lang/perl_names.bpf.h"

/*
 * The address of the path. Without threads a COP has a glob, whose name is the path after a
 * prefix.
 */
static __always_inline __u64 perl_file(const struct lang_image *im, __u64 file)
{
	__u64 hek;

	if (!file || im->at[PERL_KEYED])
		return file;
	hek = lang_read64(lang_read64(file) + PERL_BODY);
	return hek ? hek + PERL_HEK_KEY + PERL_FILE_PREFIX : 0;
}

/* A hash of the path. Its address may be that of another path after an eval. */
WALK_FN int perl_hash_path(__u64 file)
{
	struct lang_walk *l = lang_walk_state();
	__u64 hash = 0;
	__u32 n;

	if (!l || !file)
		return 0;
	n = bpf_probe_read_user_str(l->object, LANG_OBJECT, (const void *)file);
	asm volatile(
		""
		: "+r"(n)); /* otherwise the compiler compares the 64-bit result, which may be negative */
	if (n == 0 || n > LANG_OBJECT)
		return 0;
	*(__u64 *)(l->object + n) = 0;
	for (__u32 i = 0; i < LANG_OBJECT / 8 && i * 8 < n; i++)
		hash = (hash ^ *(const __u64 *)(l->object + i * 8)) * PERL_HASH;
	return hash >> 32;
}

/*
 * Identifies a sub by its operators, which closures share, its name, and when it was compiled:
 * after an eval, another sub may have the same addresses. Before 5.38 each COP has a copy of the
 * path, so its address says nothing.
 */
static __always_inline __u64 perl_identify_sub(const struct lang_walk *l, __u64 cv)
{
	__u64 root = perl_body(l, PERL_CV_ROOT), compiled = perl_body(l, PERL_CV_SEQUENCE) << 32;

	return ((root ? root : cv) * PERL_HASH + perl_body(l, PERL_CV_NAME)) * PERL_HASH + compiled;
}

/*
 * Reads the part of the sub's body that has names and operators. Returns false if it is not a sub.
 */
static __always_inline int perl_read_code(struct lang_walk *l, __u64 cv)
{
	__u64 head[2] = { 0, 0 };
	__u32 type;

	if (!cv || bpf_probe_read_user(head, sizeof(head), (const void *)cv))
		return 0;
	type = head[1] >> 32 & PERL_SV_TYPE;
	return (type == PERL_SV_CODE || type == PERL_SV_FORMAT) &&
	       bpf_probe_read_user(l->bytes, PERL_CV_PART, (const void *)(head[0] + PERL_BODY)) == 0;
}

/* Reads the COP of the next frame, unless it is the one that was read last. */
static __always_inline void perl_read_cop(struct perl_walk *p)
{
	__u64 cop[3] = { 0, 0, 0 };

	if (p->cop == p->cop_read)
		return;
	if (p->cop)
		bpf_probe_read_user(cop, sizeof(cop), (const void *)(p->cop + PERL_COP_LINE - 4));
	p->cop_read = p->cop;
	p->line = cop[0] >> 32;
	p->file = cop[2];
}

/* Appends a frame. Returns false if there is no room. */
WALK_FN int perl_push(__u64 subject, __u32 kind)
{
	struct lang_walk *l = lang_walk_state();
	__u64 file, object = 0, sign = 0;
	const struct lang_image *im;
	struct perl_walk *p;
	__u32 id;
	int got;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	p = perl_state(l);
	perl_read_cop(p);
	id = kind == PERL_SUB ? lang_met(l, PERL_KEY_MET, subject) : 0;
	if (id)
		return lang_push(l, id, p->line, 0);
	if (kind <= PERL_CODE) {
		if (!perl_read_code(l, subject))
			return lang_push(l, 0, LANG_STATE_UNREADABLE, 0);
		object = perl_identify_sub(l, subject);
		sign = perl_body(l, PERL_CV_START);
		id = lang_find_id(l, LANG_PERL, object, sign);
	}
	if (!id) {
		file = perl_file(im, p->file);
		if (kind > PERL_CODE) {
			object = (__u64)(__u32)perl_hash_path(file) << 4 | kind;
			id = lang_find_id(l, LANG_PERL, object, sign);
		}
		got = id ? (int)id : perl_name(subject, kind, file, object, sign);
		if (got <= 0)
			return lang_push(l, 0, -got, 0);
		id = got;
	}
	if (kind == PERL_SUB)
		lang_note_met(l, PERL_KEY_MET, subject, id);
	return lang_push(l, id, p->line, 0);
}

/* The frames since the last end are those of one call of the loop. */
static __always_inline void perl_end_run(struct lang_walk *l, struct perl_walk *p)
{
	if (l->n > p->run)
		lang_mark_entry(l);
	else
		lang_push(l, 0, 0, LANG_ENTRY);
	p->caught = p->eval > p->run ? p->eval : 0;
	p->run = l->n;
	p->eval = 0;
	p->ended = 1;
}

/*
 * The call of the loop that has ended was made outside an eval: the outermost eval in it has a
 * loop of its own.
 */
static __always_inline void perl_mark_caught(struct lang_walk *l, struct perl_walk *p)
{
	__u32 at = p->caught - 1;

	if (p->caught && at < LANG_FRAMES)
		l->frames[lang_mask(at, LANG_SLOTS - 1)] |= LANG_ENTRY;
	p->caught = 0;
}

/*
 * The bottom of the main stackinfo. The loop of the file's own code has a block there. Otherwise
 * the file is being compiled or has ended, or C code has called a sub: then one loop runs the sub
 * and is taken for the file's.
 */
static __always_inline void perl_end_main(struct lang_walk *l, struct perl_walk *p)
{
	__u32 n = l->n - 1;

	if (n >= LANG_FRAMES && l->n)
		return;
	if (p->ended)
		l->frames[lang_mask(n, LANG_SLOTS - 1)] &= ~LANG_ENTRY;
	if (!perl_push(0, PERL_MAIN))
		lang_cut(l, LANG_STATE_DEPTH);
	else
		lang_mark_entry(l);
}

/* Goes to the stackinfo at l->at. */
static __always_inline int perl_enter_stack(struct lang_walk *l, struct perl_walk *p)
{
	__u64 si[PERL_SI / 8] = { 0 };
	__u32 type, top;

	if (bpf_probe_read_user(si, sizeof(si), (const void *)l->at))
		return 0;
	type = si[PERL_SI_TYPE / 8] >> 32;
	top = (__u32)si[PERL_SI_TOP / 8] + 1;
	if (type >= PERL_SI_TYPES || top > PERL_SI_LIMIT || top > (si[PERL_SI_MOST / 8] >> 32) + 1)
		return 0;
	p->contexts = si[PERL_SI_CONTEXTS / 8];
	p->outer = type == PERL_SI_MAIN ? 0 : si[PERL_SI_OUTER / 8];
	p->left = top;
	p->have = 0;
	p->entered = (__u32)si[PERL_SI_ENTERED / 8] + 1;
	p->ended = top == 0;
	return 1;
}

/* All contexts of this stackinfo were looked at. */
static __always_inline int perl_leave_stack(struct lang_walk *l, struct perl_walk *p)
{
	if (!p->outer) {
		if (l->n || !p->ended)
			perl_end_main(l, p);
		return LANG_STEP_END;
	}
	if (!p->ended)
		perl_end_run(l, p);
	perl_mark_caught(l, p);
	l->at = p->outer;
	if (perl_enter_stack(l, p))
		return LANG_STEP_ON;
	lang_cut(l, LANG_STATE_UNREADABLE);
	return LANG_STEP_END;
}

/* Reads the innermost contexts of those that are left. */
static __always_inline int perl_fill(struct lang_walk *l, struct perl_walk *p)
{
	__u32 n = p->left < PERL_CX_PIECE ? p->left : PERL_CX_PIECE;
	__u64 from = p->contexts + (__u64)(p->left - n) * PERL_CX;

	p->have = n;
	return lang_copy(perl_buffer(l), from, (__u64)n * PERL_CX, 4096) != 0;
}

/* The innermost context is entered, but runs no statement yet: the current COP is the caller's. */
static __always_inline int perl_has_begun(const struct lang_walk *l, const struct perl_walk *p, __u64 outer)
{
	return l->n == 0 && p->cop == outer;
}

/*
 * A sub that is the last thing in the block of a sort, in a deferred block, or in code of a
 * pattern, has no next operator. The loop runs the block, which is the next context.
 */
static __always_inline int perl_ends_block(struct lang_walk *l, const struct perl_walk *p)
{
	__u32 at = p->have - 1;
	__u8 type, kind;

	if (at >= PERL_CX_PIECE)
		return 0;
	type = perl_buffer(l)[at * PERL_CX];
	kind = type & 15;
	return kind == PERL_CX_NULL || kind == PERL_CX_DEFER ||
	       (kind == PERL_CX_SUB && type & PERL_CX_PATTERN);
}

/*
 * Looks at a sub or a format. Returns false if there is no room. If the sub runs no statement yet,
 * the caller has no frame inside it; unless both are the same, because the COP is then that of
 * both. C code that has called a sub restores the caller's COP, as a sort does between two
 * comparisons.
 */
static __always_inline int perl_take_sub(struct lang_walk *l, struct perl_walk *p, const unsigned char *cx)
{
	__u64 cv = *(const __u64 *)(cx + PERL_CX_CV), outer = *(const __u64 *)(cx + PERL_CX_COP);
	__u64 retop = *(const __u64 *)(cx + PERL_CX_RETOP);
	__u32 kind = (cx[0] & 15) == PERL_CX_SUB && cx[0] & PERL_CX_PATTERN ? PERL_CODE : PERL_SUB;

	if (p->left >= p->entered) {
		if (!cv) /* it has been left */
			p->cop = outer;
		return 1;
	}
	if (p->begun && p->begun == cv && !perl_push(cv, PERL_SUB))
		return 0;
	p->begun = 0;
	if (perl_has_begun(l, p, outer)) {
		p->begun = retop ? cv : 0;
		p->ended = !retop;
		return 1;
	}
	if (!(cx[0] & PERL_CX_SAME)) {
		if (cv && !perl_push(cv, kind))
			return 0;
		p->cop = outer;
	}
	if (!retop && !perl_ends_block(l, p))
		perl_end_run(l, p);
	return 1;
}

/* Looks at an eval, or at a file that is required. */
static __always_inline int perl_take_eval(struct lang_walk *l, struct perl_walk *p, const unsigned char *cx)
{
	__u64 name = *(const __u64 *)(cx + PERL_CX_NAME), outer = *(const __u64 *)(cx + PERL_CX_COP);
	__u64 retop = *(const __u64 *)(cx + PERL_CX_RETOP);
	__u32 kind = cx[0] & PERL_CX_STRING ? PERL_EVAL : PERL_REQUIRE;

	if (!(cx[0] & PERL_CX_BLOCK) && (kind == PERL_EVAL || name) && !perl_has_begun(l, p, outer)) {
		if (p->left >= p->entered)
			return 1;
		p->begun = 0;
		if (!perl_push(name, kind))
			return 0;
		p->cop = outer;
		if (!retop)
			perl_end_run(l, p);
	}
	if (retop)
		p->eval = l->n;
	return 1;
}

/* Looks at the next context, or goes to the next stackinfo. */
WALK_FN int perl_step(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	const unsigned char *cx;
	struct perl_walk *p;
	__u32 at, kind, good = 1;

	if (!l || unused)
		return LANG_STEP_END;
	p = perl_state(l);
	if (!p->left)
		return perl_leave_stack(l, p);
	if (!p->have && !perl_fill(l, p)) {
		lang_cut(l, LANG_STATE_UNREADABLE);
		return LANG_STEP_END;
	}
	at = p->have - 1;
	if (at >= PERL_CX_PIECE)
		return LANG_STEP_END;
	p->have = at;
	p->left--;
	cx = perl_buffer(l) + at * PERL_CX;
	kind = cx[0] & 15;
	if (kind == PERL_CX_EVAL && cx[0] & PERL_CX_BLOCK && !*(const __u64 *)(cx + PERL_CX_RETOP)) {
		p->caught = 0; /* C code called the loop in an eval of its own */
	} else {
		perl_mark_caught(l, p);
		p->ended = 0;
	}
	if (kind == PERL_CX_SUB || kind == PERL_CX_FORMAT)
		good = perl_take_sub(l, p, cx);
	else if (kind == PERL_CX_EVAL)
		good = perl_take_eval(l, p, cx);
	else if (kind == PERL_CX_DEFER)
		perl_end_run(l, p);
	if (good)
		return LANG_STEP_ON;
	lang_cut(l, LANG_STATE_DEPTH);
	return LANG_STEP_END;
}

WALK_FN int perl_rounds(__u32 unused)
{
	int is = LANG_STEP_ON;

	for (int i = 0; i < LANG_ROUNDS && is == LANG_STEP_ON; i++)
		is = perl_step(unused);
	return is;
}

/* Finds the thread's innermost stackinfo. Returns false if the thread runs no perl. */
static __always_inline int perl_begin(struct lang_walk *l, const struct lang_image *im)
{
	struct perl_walk *p = perl_state(l);
	__u64 perl = im->state + l->bias;
	__u32 key = 0;

	*p = (struct perl_walk){ 0 };
	if (im->at[PERL_KEYED])
		perl = bpf_probe_read_user(&key, sizeof(key), (const void *)perl) == 0
			       ? lang_specific(im, key)
			       : 0;
	if (!perl)
		return 0;
	p->cop = lang_read64(perl + im->at[PERL_CURCOP]);
	l->at = lang_read64(perl + im->at[PERL_STACKINFO]);
	return l->at && perl_enter_stack(l, p);
}

static __always_inline void perl_walk(struct lang_walk *l)
{
	const struct lang_image *im = lang_image_of(l);

	if (!im || !perl_begin(l, im))
		return;
	for (int i = 0; i < PERL_OUTER_ROUNDS; i++) {
		if (perl_rounds(0) != LANG_STEP_ON)
			return;
	}
	lang_cut(l, LANG_STATE_DEPTH);
}

#endif
