/*
 * The layout of perl's structures, and the names of its subs and files. Before a name is read, the object
 * must have the type of a sub: a pointer may be stale, or the context half made.
 */
#ifndef CPROF_BPF_LANG_PERL_NAMES_H
#define CPROF_BPF_LANG_PERL_NAMES_H

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

/* In lang_key.kind: a sub by its CV; only for lang_met. */
enum { PERL_KEY_MET = LANG_PERL | 1 << 8 };

enum perl_kind { PERL_SUB, PERL_CODE, PERL_EVAL, PERL_REQUIRE, PERL_MAIN };

/* The state of a walk, in lang_walk.words. Numbers of frames count those appended so far. */
struct perl_walk {
	__u64 cop;	/* COP of the next frame */
	__u64 contexts; /* address of the first context */
	__u64 outer;	/* address of the stackinfo around this one; 0: there is none */
	__u64 begun;	/* the innermost sub, if it runs no statement yet; or if it has called itself */
	__u64 cop_read, file; /* the COP that was read last; file: as perl_file takes it */
	__u32 line;	/* its line */
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
 * Adds the name of the sub whose body was read, and leaves its package in l->object, 0: none. Returns false
 * if the name is not readable. The caller adds the package: one level less of calls, whose stacks 5.10 adds
 * up.
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

#endif
