/*
 * Walks the frames of CPython, 3.7 to 3.15, from the thread's current frame to the outermost one.
 *
 * Each frame is read in one piece, and its members are at offsets of the image. Before a name is read, the
 * object must be of the type code: a pointer may be stale, or the frame half made.
 */
#ifndef CPROF_BPF_LANG_PYTHON_H
#define CPROF_BPF_LANG_PYTHON_H

#include "bpf/lang/python_class.bpf.h"

enum {
	PY_STR_LENGTH = 16,
	PY_STR_STATE = 32,
	PY_BYTES_SIZE = 16,
	PY_BYTES_DATA = 32,
	PY_STR_HEAD = 40,
	PY_OWNER_SHIM = 3,
	PY_INNER = 0, /* indexes in words: the address of the frame before */
	PY_OUTER = 1, /* the thread's state in an outer interpreter, whose frames come after; 0: none */
	PY_STEPS = 8, /* in one call; a divisor of LANG_ROUNDS */
};

/* Reads the text of a str into the given place. 1 << 8 and higher bits of the result: enum lang_text. */
static __always_inline __u32 python_text(const struct lang_image *im, __u64 str, void *to, __u32 most)
{
	__u64 head[PY_STR_HEAD / 8] = { 0 };
	__u32 state, kind, n;

	if (bpf_probe_read_user(head, sizeof(head), (const void *)str))
		return 0;
	state = (__u32)head[PY_STR_STATE / 8];
	kind = state >> 2 & 7;
	if (!(state & 0x20) || (kind != 1 && kind != 2 && kind != 4))
		return 0;
	n = lang_copy(to, str + (state & 0x40 ? im->at[PY_STR_ASCII] : im->at[PY_STR_COMPACT]),
		      head[PY_STR_LENGTH / 8] < LANG_PATH ? head[PY_STR_LENGTH / 8] * kind : most, most);
	return n | (state & 0x40 ? LANG_BYTES
		    : kind == 1	 ? LANG_LATIN1
		    : kind == 2	 ? LANG_UCS2
				 : LANG_UCS4)
			   << 16;
}

/* Reads the line table. */
static __always_inline void python_lines(struct lang_walk *l, __u64 table)
{
	__u64 n = lang_read64(table + PY_BYTES_SIZE);

	l->out.table = lang_copy(l->out.lines, table + PY_BYTES_DATA, n, LANG_TABLE);
}

/*
 * Returns the id of a code object that this CPU has not met lately, or a state, negative. Reads and sends its
 * names if they were not sent before. A global function: verified once, apart from the other frames.
 */
WALK_FN int python_name(__u64 code, __u64 sign, __u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 name;
	__u32 text, id;

	if (!l || unused)
		return 0;
	id = lang_find_id(l, LANG_PYTHON, code, sign);
	if (id)
		return (int)id;
	im = lang_image_of(l);
	if (!im || !lang_begin_function(l, LANG_PYTHON))
		return -LANG_STATE_OVER_BUDGET;
	if (bpf_probe_read_user(l->object, LANG_OBJECT, (const void *)code) ||
	    lang_object(l, PY_OBJECT_TYPE) != im->type + l->bias)
		return -LANG_STATE_UNREADABLE;
	name = lang_object(l, im->at[im->at[PY_CODE_QUALNAME] ? PY_CODE_QUALNAME : PY_CODE_NAME]);
	if (im->at[PY_FRAME_LOCALS])
		name = python_method_name(code, name);
	text = python_text(im, name, l->out.name, LANG_NAME);
	l->out.name_n = text & 0xffff;
	l->out.name_text = text >> 16;
	text = python_text(im, lang_object(l, im->at[PY_CODE_PATH]), l->out.path, LANG_PATH);
	l->out.path_n = text & 0xffff;
	l->out.path_text = text >> 16;
	if (!l->out.name_n)
		return -LANG_STATE_UNREADABLE;
	l->out.line = lang_object32(l, im->at[PY_CODE_LINE]);
	l->out.version = im->version;
	python_lines(l, lang_object(l, im->at[PY_CODE_TABLE]));
	id = lang_send_function(l, LANG_PYTHON, code, sign);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

/* Appends the frame of this code object. Returns false if there is no room. */
static __always_inline int python_push(struct lang_walk *l, const struct lang_image *im, __u64 code)
{
	__u64 names[2] = { 0, 0 }, instr = lang_field(l, im->at[PY_FRAME_INSTR]), entry = 0, sign;
	__u32 position, id = lang_met(l, LANG_PYTHON, code);
	int got;

	if (!id && bpf_probe_read_user(names, sizeof(names), (const void *)(code + im->at[PY_CODE_PATH])))
		return lang_push(l, 0, LANG_STATE_UNREADABLE, 0);
	sign = names[0] * 31 + names[1];
	if (im->at[PY_ENTRY] == PY_ENTRY_EACH ||
	    (im->at[PY_ENTRY] == PY_ENTRY_BYTE && lang_byte(l, im->at[PY_FRAME_OWNER])))
		entry = LANG_ENTRY;
	if (im->at[PY_CODE_BYTES])
		position = instr - (code + im->at[PY_CODE_BYTES]);
	else
		position = lang_field32(l, im->at[PY_FRAME_INSTR]);
	if (position > LANG_POSITION_MOST) /* before the first instruction */
		position = 0;
	if (!id)
		id = lang_find_recent(l, LANG_PYTHON, code, sign);
	if (__builtin_expect(id != 0, 1))
		return lang_push(l, id, position, entry);
	got = python_name(code, sign, 0);
	if (got > 0)
		return lang_push(l, got, position, entry);
	return lang_push(l, 0, -got, entry);
}

/* Appends the current frame and goes to the next. */
static __always_inline int python_step(struct lang_walk *l, const struct lang_image *im)
{
	__u64 code, here = l->at;

	if (!lang_read_frame(l, l->words[PY_INNER], im->at[PY_FRAME_BYTES])) {
		lang_cut(l, LANG_STATE_UNREADABLE);
		return LANG_STEP_END;
	}
	l->words[PY_INNER] = here;
	code = lang_field(l, im->at[PY_FRAME_CODE]);
	if (im->at[PY_TAGGED])
		code &= ~7ull;
	if (im->at[PY_ENTRY] == PY_ENTRY_SHIM && lang_byte(l, im->at[PY_FRAME_OWNER]) >= PY_OWNER_SHIM) {
		lang_mark_entry(l);
	} else if (!python_push(l, im, code)) {
		lang_cut(l, LANG_STATE_DEPTH);
		return LANG_STEP_END;
	}
	l->at = lang_field(l, im->at[PY_FRAME_PREVIOUS]);
	return l->at ? LANG_STEP_ON : LANG_STEP_END;
}

LANG_STEPS(python, PY_STEPS)

/* Goes to the current frame of this thread state. Returns false if there is none. */
WALK_FN int python_enter(__u64 thread)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;

	im = l ? lang_image_of(l) : NULL;
	if (!im)
		return 0;
	l->at = lang_read64(thread + im->at[PY_THREAD_FRAME]);
	if (l->at && im->at[PY_CFRAME])
		l->at = lang_read64(l->at + im->at[PY_CFRAME] - 1);
	return l->at != 0;
}

/*
 * Takes the state that has the interpreter lock if it is another one of this thread: that of a
 * subinterpreter, which the thread's first interpreter has called.
 */
WALK_FN int python_take_current(__u64 runtime)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 thread;

	im = l ? lang_image_of(l) : NULL;
	if (!im || !im->at[PY_CURRENT])
		return 0;
	thread = lang_read64(runtime + im->at[PY_CURRENT]);
	if (!thread || thread == l->thread ||
	    lang_read64(thread + im->at[PY_THREAD_ID]) != lang_thread_pointer())
		return 0;
	l->words[PY_OUTER] = l->thread;
	l->thread = thread;
	return 1;
}

/* Goes on with the frames of the outer interpreter. Returns false if there are none. */
static __always_inline int python_leave(struct lang_walk *l)
{
	__u64 thread = l->words[PY_OUTER];

	l->words[PY_OUTER] = 0;
	return thread && !l->at && python_enter(thread);
}

WALK_FN int python_rounds(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	int is = LANG_STEP_ON;

	for (int i = 0; i < LANG_ROUNDS / PY_STEPS && is == LANG_STEP_ON; i++)
		is = python_steps(unused);
	return is == LANG_STEP_END && l && python_leave(l) ? LANG_STEP_ON : is;
}

/*
 * Finds the thread's current frame. Returns false if the thread runs no Python. A function of its own: the
 * verifier of 6.1 adds the bytes of its stack to those of the functions that the walk calls.
 */
WALK_FN int python_begin(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u32 key = 0;
	__u64 state;

	im = l && !unused ? lang_image_of(l) : NULL;
	if (!im)
		return 0;
	state = im->state + l->bias;
	if (im->at[PY_TLS_WORD]) {
		/*
		 * A library: its module's number, and by it the thread's block
		 * (System V ABI, TLS, general dynamic).
		 */
		__u64 module = lang_read64(im->text + l->bias + im->at[PY_TLS_WORD] - 1),
		      fs = lang_thread_pointer();
		__u64 block = lang_read64(lang_read64(fs + 8) + module * (im->libc == LANG_MUSL ? 8 : 16));

		l->thread = block ? lang_read64(block + im->at[PY_TLS_OFFSET]) : 0;
	} else if (im->at[PY_TLS]) {
		l->thread = lang_read64(lang_thread_pointer() - im->at[PY_TLS]);
	} else if (bpf_probe_read_user(&key, sizeof(key), (const void *)(state + im->at[PY_TSS_KEY])) == 0) {
		l->thread = lang_specific(im, key);
		python_take_current(state);
	}
	return l->thread && (python_enter(l->thread) || python_leave(l));
}

static __always_inline void python_walk(struct lang_walk *l)
{
	l->thread = l->words[PY_INNER] = l->words[PY_OUTER] = 0;
	if (!python_begin(0))
		return;
	for (int i = 0; i < 2 * LANG_FRAMES / LANG_ROUNDS; i++) { /* shims count, too */
		if (python_rounds(0) != LANG_STEP_ON)
			return;
	}
	lang_cut(l, LANG_STATE_DEPTH);
}

#endif
