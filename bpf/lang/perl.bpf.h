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
 *
 * Before a name is read, the object must have the type of a sub: a pointer may be stale, or the
 * context half made.
 */
#ifndef CPROF_BPF_LANG_PERL_H
#define CPROF_BPF_LANG_PERL_H

#include "bpf/lang/lang.bpf.h"
#include "common/lang/perl.h"

/* cop.h */
enum {
	PERL_SI = 48,
	PERL_SI_CONTEXTS = 8,
	PERL_SI_OUTER = 16,
	PERL_SI_TOP = 32,
	PERL_SI_MOST = 36,
	PERL_SI_ENTERED = 40,
	PERL_SI_TYPE = 44,
	PERL_SI_TYPES = 16,
	PERL_SI_MAIN = 1,
	PERL_SI_LIMIT = 1 << 24,
	PERL_CX = 104,
	PERL_CX_COP = 16,
	PERL_CX_RETOP = 48,
	PERL_CX_NAME = 64,
	PERL_CX_CV = 72,
	PERL_CX_PIECE = 39, /* contexts in one piece, less than 4 KiB */
	PERL_COP_LINE = 36,
	PERL_COP_FILE = 48,
	PERL_CX_NULL = 0,
	PERL_CX_SUB = 9,
	PERL_CX_FORMAT = 10,
	PERL_CX_EVAL = 11,
	PERL_CX_DEFER = 13,
	PERL_CX_STRING = 0x20,	/* an eval whose argument is a string */
	PERL_CX_BLOCK = 0x40,	/* an eval of a block, or around a call from C code */
	PERL_CX_PATTERN = 0x40, /* a sub that is code in a pattern */
	PERL_CX_SAME = 0x80,	/* and belongs to the sub around it */
};

/* sv.h, cv.h, gv.h, hv.h, op.h */
enum {
	PERL_SV_TYPE = 0xff,
	PERL_SV_HASH = 12,
	PERL_SV_GLOB = 9,
	PERL_SV_CODE = 13,
	PERL_SV_FORMAT = 14,
	PERL_SV_STRING = 0x400,
	PERL_SV_GP = 0x8000,
	PERL_SV_OOK = 0x2000000,
	PERL_BODY = 32,	   /* start of the part of a body that is read */
	PERL_CV_PART = 64, /* a sub's; in that part: */
	PERL_CV_STASH = 0,
	PERL_CV_START = 8,
	PERL_CV_ROOT = 16,
	PERL_CV_NAME = 24,
	PERL_CV_SEQUENCE = 56,
	PERL_CV_FLAGS = 60,
	PERL_CV_NAMED = 0x8000,
	PERL_CV_LEXICAL = 0x10000,
	PERL_GP_EGV = 56,
	PERL_HASH_MOST = 24, /* xhv_max */
	PERL_AUX_COUNT = 28,
	PERL_AUX = 32,
	PERL_HEK_LENGTH = 4,
	PERL_HEK_KEY = 8,
	PERL_HEK_UTF8 = 1,
	PERL_HEK_LIMIT = 1 << 16,
	PERL_FILE_PREFIX = 2, /* "_<", before the path in a glob's name */
	PERL_OP_TYPE = 32,
	PERL_OP_TYPES = 0x1ff, /* a COP has its line after that */
};

#define PERL_HASH 0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio */

enum { PERL_OUTER_ROUNDS = 96 }; /* × LANG_ROUNDS contexts and stackinfos; a frame has two to five */

enum perl_kind { PERL_SUB, PERL_CODE, PERL_EVAL, PERL_REQUIRE, PERL_MAIN };

/* The state of a walk, in lang_walk.words. Numbers of frames count those appended so far. */
struct perl_walk {
	__u64 cop;	/* COP of the next frame */
	__u64 contexts; /* address of the first context */
	__u64 outer;	/* address of the stackinfo around this one; 0: there is none */
	__u64 begun;	/* the innermost sub, if it runs no statement yet; or if it has called itself */
	__u32 left;	/* contexts that were not looked at yet */
	__u32 entered;	/* contexts up to the innermost one that is entered completely */
	__u16 run;	/* frames inside this call of the loop */
	__u16 eval;	/* frames up to its outermost eval */
	__u16 caught;	/* the same of the call of the loop inside this one, which may mark that eval */
	__u8 have;	/* the last ones of the contexts that are left, which are in the buffer */
	__u8 ended;	/* the outermost call of the loop in this stackinfo has ended, as far as is known */
};

_Static_assert(sizeof(struct perl_walk) <= sizeof(((struct lang_walk *)0)->words), "the state has its room");
_Static_assert(PERL_CX_PIECE *PERL_CX <= LANG_TABLE, "the contexts have their room");

static __always_inline struct perl_walk *perl_state(struct lang_walk *l)
{
	return (struct perl_walk *)l->words;
}

/* A piece of contexts takes the place of the line table, which perl has not. */
static __always_inline unsigned char *perl_buffer(struct lang_walk *l)
{
	return l->out.lines;
}

static __always_inline __u64 perl_body(const struct lang_walk *l, __u32 at)
{
	return *(const __u64 *)(l->bytes + at);
}

/*
 * Appends a key of a hash to the record, to the class or to the name. Returns false if it is not
 * readable.
 */
WALK_FN int perl_key(__u64 hek, __u32 class)
{
	struct lang_walk *l = lang_walk_state();
	__u32 head[2] = { 0, 0 }, n;
	__u8 flags = 0, text;

	if (!l || bpf_probe_read_user(head, sizeof(head), (const void *)hek) || head[1] > PERL_HEK_LIMIT)
		return 0;
	bpf_probe_read_user(&flags, 1, (const void *)(hek + PERL_HEK_KEY + head[1] + 1));
	text = flags & PERL_HEK_UTF8 ? LANG_BYTES : LANG_LATIN1;
	n = lang_copy(class ? l->out.class : l->out.name, hek + PERL_HEK_KEY, head[1], LANG_NAME);
	if (class) {
		l->out.class_n = n;
		l->out.class_text = text;
	} else {
		l->out.name_n = n;
		l->out.name_text = text;
	}
	return n != 0;
}

/* The head of any value: the address of its body, and its flags and union. */
struct perl_head {
	__u64 body, flags, u;
};

/* Returns false unless it is of the type, with these flags. */
static __always_inline int perl_read_head(__u64 sv, __u32 type, __u32 flags, struct perl_head *h)
{
	if (!sv || bpf_probe_read_user(h, sizeof(*h), (const void *)sv))
		return 0;
	h->flags >>= 32;
	return (h->flags & PERL_SV_TYPE) == type && (h->flags & flags) == flags;
}

/* Adds the name of this package. Without one, the name is that of the sub alone. */
WALK_FN int perl_package(__u64 stash, __u32 named_aux)
{
	struct lang_walk *l = lang_walk_state();
	struct perl_head h = { 0, 0, 0 };
	__u64 aux[PERL_AUX / 8] = { 0 }, at, hek;
	int count;

	if (!l || !perl_read_head(stash, PERL_SV_HASH, PERL_SV_OOK, &h))
		return 0;
	at = named_aux ? h.body + PERL_BODY : h.u + 8 * (lang_read64(h.body + PERL_HASH_MOST) + 1);
	if (bpf_probe_read_user(aux, sizeof(aux), (const void *)at))
		return 0;
	count = (int)(aux[PERL_AUX_COUNT / 8] >> 32);
	hek = count == 0 ? aux[0] : lang_read64(aux[0] + (count < 0 ? 8 : 0));
	if (hek && perl_key(hek, 1))
		l->out.joint = ':';
	return 1;
}

/*
 * Adds the name of the sub whose body was read, and leaves its package in l->object, 0: none. Returns false if
 * the name is not readable. The caller adds the package: one level less of calls, whose stacks 5.10 adds up.
 */
WALK_FN int perl_sub_name(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	__u64 stash, hek, egv, names[2] = { 0, 0 };
	struct perl_head h = { 0, 0, 0 }, e = { 0, 0, 0 };

	if (!l || unused)
		return 0;
	stash = perl_body(l, PERL_CV_STASH);
	hek = perl_body(l, PERL_CV_NAME);
	if (!(*(const __u32 *)(l->bytes + PERL_CV_FLAGS) & PERL_CV_NAMED) && hek) {
		if (!perl_read_head(hek, PERL_SV_GLOB, PERL_SV_GP, &h))
			return 0;
		egv = lang_read64(h.u + PERL_GP_EGV);
		if (egv && egv != hek && perl_read_head(egv, PERL_SV_GLOB, PERL_SV_GP, &e))
			h.body = e.body;
		if (bpf_probe_read_user(names, sizeof(names), (const void *)(h.body + PERL_BODY)))
			return 0;
		hek = names[0];
		stash = names[1];
	}
	if (!hek) { /* as caller() has it */
		__builtin_memcpy(l->out.name, "(unknown)", 9);
		l->out.name_n = 9;
	} else if (!perl_key(hek, 0)) {
		return 0;
	}
	*(__u64 *)l->object = *(const __u32 *)(l->bytes + PERL_CV_FLAGS) & PERL_CV_LEXICAL ? 0 : stash;
	return 1;
}

/* The line of the sub's first statement; 0: unknown. */
static __always_inline __u32 perl_first_line(const struct lang_walk *l, const struct lang_image *im)
{
	__u64 op = lang_read64(perl_body(l, PERL_CV_START) + PERL_OP_TYPE);

	return ((op & PERL_OP_TYPES) - im->at[PERL_NEXTSTATE]) <= 1 ? op >> 32 : 0;
}

/* Adds "require FILE" by the file's name. */
static __always_inline int perl_require_name(struct lang_walk *l, __u64 sv)
{
	struct perl_head h = { 0, 0, 0 };
	long n;

	if (!sv || bpf_probe_read_user(&h, sizeof(h), (const void *)sv) || !(h.flags >> 32 & PERL_SV_STRING))
		return 0;
	__builtin_memcpy(l->out.name, "require ", 8);
	n = bpf_probe_read_user_str(l->out.name + 8, LANG_NAME - 8, (const void *)h.u);
	l->out.name_n = n > 0 && n <= LANG_NAME - 8 ? n + 7 : 7;
	return 1;
}

/* Adds the name of a frame. Returns false if it is not readable. */
static __always_inline int perl_add_name(struct lang_walk *l, const struct lang_image *im, __u64 subject,
					 __u32 kind)
{
	if (kind == PERL_SUB) {
		l->out.line = perl_first_line(l, im);
		if (!perl_sub_name(0))
			return 0;
		if (*(const __u64 *)l->object)
			perl_package(*(const __u64 *)l->object, im->at[PERL_NAMED_AUX]);
		return 1;
	}
	if (kind == PERL_REQUIRE) {
		l->out.flags = LANG_FLAG_EVAL;
		return perl_require_name(l, subject);
	}
	if (kind == PERL_CODE) {
		l->out.line = perl_first_line(l, im);
		__builtin_memcpy(l->out.name, "(?{})", 5);
		l->out.name_n = 5;
		return 1;
	}
	__builtin_memcpy(l->out.name, kind == PERL_EVAL ? "(eval)" : "<main>", 6);
	l->out.name_n = 6;
	l->out.flags = kind == PERL_EVAL ? LANG_FLAG_EVAL : LANG_FLAG_TOP_LEVEL;
	return 1;
}

/* Reads and sends the names of a frame. Returns the id of its function, or a negative state. */
WALK_FN int perl_name(__u64 subject, __u32 kind, __u64 file, __u64 object, __u64 sign)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u32 id;
	long n;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im || !lang_begin_function(l, LANG_PERL))
		return -LANG_STATE_OVER_BUDGET;
	if (!perl_add_name(l, im, subject, kind))
		return -LANG_STATE_UNREADABLE;
	n = file ? bpf_probe_read_user_str(l->out.path, LANG_PATH, (const void *)file) : 0;
	l->out.path_n = n > 0 && n <= LANG_PATH ? n - 1 : 0;
	l->out.version = im->version;
	id = lang_send_function(l, LANG_PERL, object, sign);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

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

/* Appends a frame. Returns false if there is no room. */
WALK_FN int perl_push(__u64 subject, __u32 kind)
{
	struct lang_walk *l = lang_walk_state();
	__u64 cop[3] = { 0, 0, 0 }, file, object, sign = 0;
	const struct lang_image *im;
	struct perl_walk *p;
	__u32 line, id;
	int got;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	p = perl_state(l);
	if (p->cop)
		bpf_probe_read_user(cop, sizeof(cop), (const void *)(p->cop + PERL_COP_LINE - 4));
	line = cop[0] >> 32;
	file = perl_file(im, cop[2]);
	if (kind <= PERL_CODE) {
		if (!perl_read_code(l, subject))
			return lang_push(l, 0, LANG_STATE_UNREADABLE, 0);
		object = perl_identify_sub(l, subject);
		sign = perl_body(l, PERL_CV_START);
	} else {
		object = (__u64)(__u32)perl_hash_path(file) << 4 | kind;
	}
	id = lang_find_id(l, LANG_PERL, object, sign);
	if (id)
		return lang_push(l, id, line, 0);
	got = perl_name(subject, kind, file, object, sign);
	return got > 0 ? lang_push(l, got, line, 0) : lang_push(l, 0, -got, 0);
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
