/*
 * Walks the frames of PHP, 7.4 to 8.6, from EG(current_execute_data) to the script's outermost code.
 *
 * The address of its code identifies a function, because closures and traits copy everything else. In a later
 * request, the allocator may give the same address to another function. An address is therefore stored with a
 * signature (lang_known.sign): the hash of the path (PHP keeps this hash), the first and the last line, the
 * number of oplines, and the address of the name. For code from eval(), which has no line of its own, the
 * hash of the name replaces the name's address.
 *
 * PHP's own functions (array_map) get frames unless the symbols of the file name their machine code.
 */
#ifndef CPROF_BPF_LANG_PHP_H
#define CPROF_BPF_LANG_PHP_H

#include "bpf/lang/lang.bpf.h"
#include "common/lang/php.h"

/* The offsets that are the same from 7.4 to 8.6. */
enum {
	PHP_FRAME = 56, /* struct _zend_execute_data: the part that is read */
	PHP_FRAME_OPLINE = 0,
	PHP_FRAME_FUNCTION = 24,
	PHP_FRAME_THIS = 32,
	PHP_FRAME_INFO = 40,
	PHP_FRAME_PREVIOUS = 48,
	PHP_FUNCTION_TYPE = 0,
	PHP_FUNCTION_FLAGS = 0,
	PHP_FUNCTION_NAME = 8,
	PHP_FUNCTION_SCOPE = 16,
	PHP_FUNCTION_HEAD = 24,
	PHP_OPLINE = 32,
	PHP_OPLINE_LINE = 24, /* struct _zend_op */
	PHP_STRING_HASH = 8,
	PHP_STRING_LENGTH = 16,
	PHP_STRING_BYTES = 24,
	PHP_CLASS_NAME = 8,
};

enum {
	PHP_TYPE_INTERNAL = 1,
	PHP_TYPE_USER = 2,
	PHP_TYPE_EVAL = 4,	/* ZEND_INTERNAL_FUNCTION and so on */
	PHP_INFO_TOP = 0x20000, /* ZEND_CALL_TOP */
	PHP_IS_OBJECT = 8,
	PHP_WINDOW = 1024,   /* bytes of PHP's stack that are read at once, in lang_function.lines */
	PHP_DELEGATORS = 8,  /* generators that wait in "yield from", one for the other */
	PHP_FAKES_MOST = 32, /* chains of them in one sample, at most */
	PHP_STEPS = 2,	     /* in one call; a divisor of LANG_ROUNDS */
};

/* Members of a generator: the fake frame, by whose place the layout is known; the node; the true frame. */
enum {
	PHP_FAKE_OLD = 200,
	PHP_NODE_OLD = 160,
	PHP_STATE_OLD = 64, /* 7.4 */
	PHP_FAKE = 184,
	PHP_NODE = 152,
	PHP_STATE = 56, /* 8.2 to 8.4 */
};

/* Members of lang_walk.words. */
enum {
	PHP_OPLINE_REGISTER, PHP_LEAF, PHP_PATH_AT, PHP_PATH_SIGN, PHP_PATH_EVAL, PHP_WINDOW_AT, PHP_FAKES,
	PHP_LINE_OF, PHP_LINE, /* an opline, and its line */
	/* The frame to be named: key and sign of its function, and position and flags of the frame. */
	PHP_NEW_KEY, PHP_NEW_SIGN, PHP_NEW_AT, PHP_NEW_FLAGS,
	PHP_FAKE_AT, PHP_FAKE_OF /* the fake frame of a generator, and the generator: see php_delegators */
};

/* In lang_key.kind: a named function of a script, by the address of its structure; only for lang_met. */
enum { PHP_KEY_MET = LANG_PHP | 1 << 8 };

#define PHP_EVAL_END 0x65646f6320642729ull /* )'d code */

/* php_frame's uses of a frame. */
enum { PHP_RUNS, PHP_DELEGATES };

/* Copies a text up to a NUL: the serial number of an anonymous class follows one. Returns its length. */
static __always_inline __u16 php_text(void *to, __u64 string)
{
	const void *from = (const void *)(string + PHP_STRING_BYTES);
	long n = string ? bpf_probe_read_user_str(to, LANG_NAME, from) : 0;

	return n > 1 && n <= LANG_NAME ? n - 1 : 0;
}

/* Code outside of functions has no name. A file may be run by include and by require: both are one name. */
static __always_inline void php_code_name(struct lang_walk *l, int outermost, int eval)
{
	if (outermost) {
		__builtin_memcpy(l->out.name, "<main>", 6);
		l->out.name_n = 6;
	} else if (eval) {
		__builtin_memcpy(l->out.name, "<eval>", 6);
		l->out.name_n = 6;
	} else {
		__builtin_memcpy(l->out.name, "<include>", 9);
		l->out.name_n = 9;
	}
}

static __always_inline void php_path(struct lang_walk *l, __u64 string)
{
	__u64 n = lang_read64(string + PHP_STRING_LENGTH);

	l->out.path_n = lang_copy(l->out.path, string + PHP_STRING_BYTES, n, LANG_PATH);
}

/* Sends the names of the function whose head is in l->object. Returns its id; or a state, negative. */
WALK_FN int php_name(__u64 object, __u64 sign, __u32 outermost)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 name, scope;
	__u8 type;
	__u32 id;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im || !lang_begin_function(l, LANG_PHP))
		return -LANG_STATE_OVER_BUDGET;
	type = l->object[PHP_FUNCTION_TYPE];
	name = lang_object(l, PHP_FUNCTION_NAME);
	scope = lang_object(l, PHP_FUNCTION_SCOPE);
	if (name) {
		l->out.name_n = php_text(l->out.name, name);
		l->out.class_n = scope ? php_text(l->out.class, lang_read64(scope + PHP_CLASS_NAME)) : 0;
		l->out.joint = l->out.class_n ? ':' : 0;
	} else {
		php_code_name(l, outermost, type == PHP_TYPE_EVAL);
		l->out.flags = outermost ? LANG_FLAG_TOP_LEVEL : type == PHP_TYPE_EVAL ? LANG_FLAG_EVAL : 0;
	}
	if (!l->out.name_n)
		return -LANG_STATE_UNREADABLE;
	l->out.version = im->version;
	if (type == PHP_TYPE_INTERNAL) {
		l->out.flags = LANG_FLAG_BUILTIN;
	} else {
		php_path(l, lang_object(l, im->at[PHP_PATH]));
		l->out.line = lang_object32(l, im->at[PHP_FIRST_LINE]);
	}
	id = lang_send_function(l, LANG_PHP, object, sign);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

/* Returns the opline that runs. The loop keeps its opline in a register, and often only there. */
static __always_inline __u64 php_opline(struct lang_walk *l, const struct lang_image *im)
{
	__u64 opline = lang_field(l, PHP_FRAME_OPLINE), in;

	if (l->words[PHP_LEAF]) {
		in = l->words[PHP_OPLINE_REGISTER] - lang_object(l, im->at[PHP_OPCODES]);
		if (in % PHP_OPLINE == 0 && in / PHP_OPLINE < lang_object32(l, im->at[PHP_LAST]))
			opline = l->words[PHP_OPLINE_REGISTER];
	}
	return opline;
}

static __always_inline __u32 php_line(struct lang_walk *l, __u64 opline)
{
	__u32 line = 0;

	if (!opline)
		return 0;
	if (opline == l->words[PHP_LINE_OF])
		return (__u32)l->words[PHP_LINE];
	bpf_probe_read_user(&line, sizeof(line), (const void *)(opline + PHP_OPLINE_LINE));
	if (line > LANG_POSITION_MOST)
		line = 0;
	l->words[PHP_LINE_OF] = opline;
	l->words[PHP_LINE] = line;
	return line;
}

/* php_take_frame's flags of a frame whose function is new. */
enum { PHP_NEW_OUTERMOST = 1, PHP_NEW_NAMED = 2 };

/* Names and appends the frame that was read last. Returns false if there is no room. */
static __always_inline int php_push_new(struct lang_walk *l)
{
	__u64 at = l->words[PHP_NEW_AT];
	__u32 flags = l->words[PHP_NEW_FLAGS];
	int id = php_name(l->words[PHP_NEW_KEY], l->words[PHP_NEW_SIGN], flags & PHP_NEW_OUTERMOST);

	if (id > 0 && flags & PHP_NEW_NAMED)
		lang_note_met(l, PHP_KEY_MET, lang_field(l, PHP_FRAME_FUNCTION), id);
	return id > 0 ? lang_push(l, id, (__u32)at, at & LANG_ENTRY) : lang_push(l, 0, -id, at & LANG_ENTRY);
}

/* Appends a frame. at: its line, and LANG_ENTRY. Returns an enum lang_step. */
static __always_inline int php_push(struct lang_walk *l, __u64 object, __u64 sign, __u64 at, __u32 flags)
{
	__u32 id = lang_find_id(l, LANG_PHP, object, sign);

	if (id) {
		if (flags & PHP_NEW_NAMED)
			lang_note_met(l, PHP_KEY_MET, lang_field(l, PHP_FRAME_FUNCTION), id);
		return lang_push(l, id, (__u32)at, at & LANG_ENTRY) ? LANG_STEP_ON : LANG_STEP_FULL;
	}
	l->words[PHP_NEW_KEY] = object;
	l->words[PHP_NEW_SIGN] = sign;
	l->words[PHP_NEW_AT] = at;
	l->words[PHP_NEW_FLAGS] = flags;
	return LANG_STEP_NAME;
}

/*
 * Reads a frame to l->bytes. Frames are adjacent, the outer ones at lower addresses: one read gives several.
 * Only the page of the frame is read: the page before may be unused, and a fault costs more than ten reads.
 */
static __always_inline int php_read_frame(struct lang_walk *l, __u64 at)
{
	__u64 in = at - l->words[PHP_WINDOW_AT], page = at & -4096ull, window = at + PHP_FRAME - PHP_WINDOW;

	if (in > PHP_WINDOW - PHP_FRAME) {
		if (window < page)
			window = page;
		l->words[PHP_WINDOW_AT] = window;
		in = at - window;
		if (bpf_probe_read_user(l->out.lines, PHP_WINDOW, (const void *)window))
			return 0;
	}
	in &= PHP_WINDOW - 8;
	for (int i = 0; i < PHP_FRAME; i += 8)
		*(__u64 *)(l->bytes + i) = *(const __u64 *)(l->out.lines + in + i);
	return 1;
}

/* Returns the path's part of a sign. Adjacent frames often have the same. */
static __always_inline __u64 php_path_sign(struct lang_walk *l, __u64 path)
{
	__u64 head[2] = { 0, 0 }; /* hash, length */

	if (path == l->words[PHP_PATH_AT])
		return l->words[PHP_PATH_SIGN];
	bpf_probe_read_user(head, sizeof(head), (const void *)(path + PHP_STRING_HASH));
	l->words[PHP_PATH_AT] = path;
	l->words[PHP_PATH_SIGN] = head[0];
	l->words[PHP_PATH_EVAL] = lang_read64(path + PHP_STRING_BYTES + head[1] - 8) == PHP_EVAL_END;
	return head[0];
}

/* Returns the sign of the function in l->object. */
static __always_inline __u64 php_sign(struct lang_walk *l, const struct lang_image *im, __u64 name)
{
	__u64 sign = php_path_sign(l, lang_object(l, im->at[PHP_PATH]));

	sign = sign * 31 + (name && l->words[PHP_PATH_EVAL] ? lang_read64(name + PHP_STRING_HASH) : name);
	sign = sign * 31 + lang_object(l, im->at[PHP_FIRST_LINE]); /* and the last one */
	return sign * 31 + lang_object32(l, im->at[PHP_LAST]) + lang_object(l, PHP_FUNCTION_FLAGS);
}

/* Reads the frame there to l->bytes, and appends it. */
static __always_inline int php_take_frame(struct lang_walk *l, const struct lang_image *im, __u64 at,
					  __u32 use)
{
	__u64 function, name, scope, object, outermost, entry;
	__u32 info, line, id;
	__u8 type;

	if (!php_read_frame(l, at))
		return LANG_STEP_CUT;
	function = lang_field(l, PHP_FRAME_FUNCTION);
	info = lang_field(l, PHP_FRAME_INFO);
	if (!function)
		return LANG_STEP_ON;
	entry = use == PHP_RUNS && info & PHP_INFO_TOP ? LANG_ENTRY : 0;
	id = l->words[PHP_LEAF] ? 0 : lang_met(l, PHP_KEY_MET, function);
	if (id) {
		line = php_line(l, lang_field(l, PHP_FRAME_OPLINE));
		return lang_push(l, id, line, entry) ? LANG_STEP_ON : LANG_STEP_FULL;
	}
	if (lang_copy(l->object, function, im->at[PHP_FIRST_LINE] + 8, LANG_OBJECT) == 0 &&
	    bpf_probe_read_user(l->object, PHP_FUNCTION_HEAD, (const void *)function))
		return LANG_STEP_CUT;
	type = l->object[PHP_FUNCTION_TYPE];
	name = lang_object(l, PHP_FUNCTION_NAME);
	scope = lang_object(l, PHP_FUNCTION_SCOPE);
	if (type == PHP_TYPE_INTERNAL) {
		l->words[PHP_LEAF] = 0;
		if (!name && !info) /* the outermost frame of a fiber */
			lang_mark(l, LANG_STACK);
		if (!name || im->at[PHP_HANDLERS])
			return LANG_STEP_ON;
		return php_push(l, function, lang_read64(name + PHP_STRING_HASH) + scope, 0, 0);
	}
	if (type != PHP_TYPE_USER && type != PHP_TYPE_EVAL)
		return LANG_STEP_CUT;
	line = php_line(l, php_opline(l, im));
	l->words[PHP_LEAF] = 0;
	outermost = !name && !lang_field(l, PHP_FRAME_PREVIOUS);
	object = lang_object(l, im->at[PHP_OPCODES]) + scope * 3 + outermost;
	return php_push(l, object, php_sign(l, im, name), line | entry,
			(outermost ? PHP_NEW_OUTERMOST : 0) | (name ? PHP_NEW_NAMED : 0));
}

/* The same for frames that are not in the chain. */
WALK_FN int php_frame(__u64 at, __u32 use)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	int is;

	if (!l)
		return LANG_STEP_END;
	im = lang_image_of(l);
	is = im ? php_take_frame(l, im, at, use) : LANG_STEP_CUT;
	if (is == LANG_STEP_NAME)
		is = php_push_new(l) ? LANG_STEP_ON : LANG_STEP_FULL;
	return is;
}

/* Turns the frames from `from` on around. */
static __always_inline void php_reverse(struct lang_walk *l, __u32 from)
{
	for (__u32 i = 0; i < PHP_DELEGATORS / 2; i++) {
		__u32 a = from + i, b = l->n - 1 - i;
		__u64 frame;

		if (a >= b || b >= LANG_FRAMES)
			break;
		frame = l->frames[lang_mask(a, LANG_SLOTS - 1)];
		l->frames[lang_mask(a, LANG_SLOTS - 1)] = l->frames[lang_mask(b, LANG_SLOTS - 1)];
		l->frames[lang_mask(b, LANG_SLOTS - 1)] = frame;
	}
}

/*
 * Appends generators that wait in "yield from". The frame at this address is a fake one in the outermost; the
 * innermost waits for the generator that was appended before. They are found from the root on.
 */
WALK_FN int php_delegators(__u64 at, __u64 generator)
{
	struct lang_walk *l = lang_walk_state();
	__u32 old = at - generator == PHP_FAKE_OLD, from;

	if (!l || (!old && at - generator != PHP_FAKE) || ++l->words[PHP_FAKES] > PHP_FAKES_MOST)
		return 0;
	from = l->n;
	for (int i = 0; i < PHP_DELEGATORS; i++) {
		__u64 inner = lang_read64(generator + (old ? PHP_NODE_OLD : PHP_NODE));

		__u64 frame = lang_read64(generator + (old ? PHP_STATE_OLD : PHP_STATE));

		if (!inner || php_frame(frame, PHP_DELEGATES) != LANG_STEP_ON)
			break;
		generator = inner;
	}
	php_reverse(l, from);
	return 0;
}

/* Appends the current frame and goes to the next. */
static __always_inline int php_step(struct lang_walk *l, const struct lang_image *im)
{
	__u64 at = l->at, previous;
	int is = php_take_frame(l, im, at, PHP_RUNS), more = 0;

	if (is != LANG_STEP_ON && is != LANG_STEP_NAME) {
		lang_cut(l, is == LANG_STEP_FULL ? LANG_STATE_DEPTH : LANG_STATE_UNREADABLE);
		return LANG_STEP_END;
	}
	previous = lang_field(l, PHP_FRAME_PREVIOUS);
	if (!lang_field(l, PHP_FRAME_FUNCTION) && (lang_field(l, PHP_FRAME_INFO) & 0xff) == PHP_IS_OBJECT) {
		l->words[PHP_FAKE_AT] = at;
		l->words[PHP_FAKE_OF] = lang_field(l, PHP_FRAME_THIS);
		more = LANG_STEP_MORE;
	}
	l->at = previous;
	return is | more | (previous ? LANG_STEP_ON : LANG_STEP_END);
}

LANG_STEPS(php, PHP_STEPS)

/* Appends what the last step has left. Returns false if there is no room. */
WALK_FN int php_finish_step(__u32 is)
{
	struct lang_walk *l = lang_walk_state();

	if (!l)
		return 0;
	if (is & LANG_STEP_MORE)
		php_delegators(l->words[PHP_FAKE_AT], l->words[PHP_FAKE_OF]);
	if (!(is & LANG_STEP_NAME) || php_push_new(l))
		return 1;
	lang_cut(l, LANG_STATE_DEPTH);
	return 0;
}

WALK_FN int php_rounds(__u32 unused)
{
	int is = LANG_STEP_ON;

	for (int i = 0; i < LANG_ROUNDS / PHP_STEPS && is == LANG_STEP_ON; i++) {
		is = php_steps(unused);
		if ((is & (LANG_STEP_NAME | LANG_STEP_MORE)) && !php_finish_step(is))
			return LANG_STEP_END;
		is &= ~(LANG_STEP_NAME | LANG_STEP_MORE);
	}
	return is;
}

/* Returns where the thread's globals are, or 0. */
static __always_inline __u64 php_globals(const struct lang_walk *l, const struct lang_image *im)
{
	__u64 state = im->state + l->bias, data;
	__u32 key = 0;

	if (!im->at[PHP_KEYED])
		return state;
	if (bpf_probe_read_user(&key, sizeof(key), (const void *)(im->type + l->bias)))
		return 0;
	data = lang_specific(im, key);
	return data ? data + lang_read64(state) : 0;
}

/*
 * opline: the value of the register in which the loop keeps it (Zend/zend_execute.c, ZEND_VM_IP_GLOBAL_REG);
 * 0: the kernel was interrupted.
 */
static __always_inline void php_walk(struct lang_walk *l, __u64 opline)
{
	const struct lang_image *im = lang_image_of(l);

	l->words[PHP_OPLINE_REGISTER] = opline;
	l->words[PHP_LEAF] = 1;
	l->words[PHP_FAKES] = l->words[PHP_PATH_AT] = l->words[PHP_PATH_SIGN] = l->words[PHP_PATH_EVAL] = 0;
	l->words[PHP_WINDOW_AT] = 1ull << 63; /* none */
	l->words[PHP_LINE_OF] = 0;
	l->at = im ? php_globals(l, im) : 0;
	if (l->at)
		l->at = lang_read64(l->at + im->at[PHP_CURRENT]);
	if (!l->at)
		return;
	for (int i = 0; i < 2 * LANG_FRAMES / LANG_ROUNDS; i++) { /* frames that are not shown count, too */
		if (php_rounds(0) != LANG_STEP_ON)
			return;
	}
	lang_cut(l, LANG_STATE_DEPTH);
}

#endif
