/*
 * Functions of V8: from a JSFunction or a SharedFunctionInfo to an id. At first sight the name, the script
 * and the positions are read and sent. Objects that are being moved are followed to their new address.
 *
 * A SharedFunctionInfo is known again by its address and by some of its words, so known functions need no
 * checks of types. If a read fails, nothing is sent or remembered: the next sight tries again.
 */
#ifndef CPROF_BPF_LANG_JAVASCRIPT_FUNCTION_H
#define CPROF_BPF_LANG_JAVASCRIPT_FUNCTION_H

#include "bpf/lang/lang.bpf.h"
#include "common/lang/javascript.h"

enum {
	JS_NOTES = 256,
	JS_PENDING = 16, /* parts of a string that are still to be read */
	JS_PIECES = 32,	 /* steps of reading one string */
	JS_WORDS = 128,	 /* bytes of an object whose members are read, at most */
	JS_CHUNK = 1024, /* bytes that are searched for the start of code at once */
	JS_SCOPE_HEAD = 64, JS_SCOPE_REST = 48, JS_SCRIPT_READ = 72, JS_FUNCTION_READ = 40,
	JS_CODE_READ = 64, /* also of a BytecodeArray */
};

/* Bits of js_note.flags. */
enum {
	JS_IN_MEMORY = 1, /* the pc may be in compiled code */
	JS_EXACT = 2,
	JS_BY_FP = 4, /* key is a frame pointer; the pc may be wrong */
	JS_NO_FRAME = 8, /* function is a register, and array a SharedFunctionInfo or 0 */
	JS_WASM = 16,	 /* code of WebAssembly, which has no function of JavaScript */
	JS_REGEXP = 32,	 /* code of a regular expression */
};

/* Numbers of common/stream/record_values.h: FUNCTION_INFERRED; enum lang_tier. */
enum { LANG_FLAG_INFERRED = 8 };
enum { JS_TIER_INTERPRETED = 1, JS_TIER_BASELINE = 2, JS_TIER_OPTIMIZED = 3 };

/* A frame that the walk has met. */
struct js_note {
	__u64 pc; /* less 1 for a return address */
	__u64 function, array, offset; /* slots */
	__u32 key, flags;
};

/* The state of one sample, by CPU. */
struct js_state {
	__u32 n, marked; /* notes, and those that have a mark */
	__u32 codes;	/* new code that this sample has met */
	__u32 chunks;	/* that were searched for the start of code */
	__u32 function;	/* id of the frame's function */
	__u32 code_id, position; /* the id of its code, and the position in it */
	__u32 into;	/* where a string goes: JS_INTO_... */
	__u32 n_pending, got, skip, most;
	__u64 fp, pc;	/* the chain's next frame */
	__u64 pending[JS_PENDING];
	__u64 name, inferred, path; /* strings of the function that is read */
	__u64 address;	/* the SharedFunctionInfo's, untagged */
	__u64 start, code; /* address of the instructions, and of Code, untagged */
	__u64 sign;	/* code's whose record is to be sent, see js_find_code */
	unsigned char shared[JS_WORDS], script[JS_WORDS], code_bytes[JS_WORDS], array[JS_WORDS]; /* BytecodeArray */
	unsigned char chunk[JS_CHUNK];
	struct js_note notes[JS_NOTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct js_state);
} js_states SEC(".maps");

static __always_inline struct js_state *js_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&js_states, &zero);
}

/* A tagged pointer to an object, to a user address. */
static __always_inline int js_is_pointer(__u64 word)
{
	return (word & 3) == 1 && word >> 47 == 0 && word > 4096;
}

/* A number of JS_WORDS bytes that were read. The mask is for the verifier. */
static __always_inline __u64 js_word(const unsigned char *bytes, __u32 at)
{
	return *(const __u64 *)(bytes + (at & (JS_WORDS - 8)));
}

static __always_inline __u32 js_word32(const unsigned char *bytes, __u32 at)
{
	return *(const __u32 *)(bytes + (at & (JS_WORDS - 4)));
}

static __always_inline __u32 js_small(__u64 word)
{
	return word >> JS_SMALL_SHIFT;
}

/*
 * Reads the first n bytes of an object, also if it is being moved. Returns its address, untagged; 0:
 * unreadable. An object that stays in place during a collection may have a first word that is neither a map
 * nor an address. Then the other words are valid, and its map is not known.
 */
static __always_inline __u64 js_read(void *to, __u32 n, __u64 pointer)
{
	__u64 from = pointer - 1, moved;

	if (!js_is_pointer(pointer) || bpf_probe_read_user(to, n, (const void *)from))
		return 0;
	moved = *(const __u64 *)to;
	if ((moved & 1) || moved == from)
		return from;
	if (bpf_probe_read_user(to, n, (const void *)moved) == 0)
		return moved;
	return bpf_probe_read_user(to, n, (const void *)from) == 0 ? from : 0;
}

/* Returns the instance type of an object by its map; JS_NO_TYPE: unreadable. */
static __always_inline __u32 js_type(const struct lang_image *im, __u64 map)
{
	__u16 type = JS_NO_TYPE;

	if (js_is_pointer(map))
		bpf_probe_read_user(&type, sizeof(type), (const void *)(map - 1 + im->at[JS_MAP_TYPE]));
	return type;
}

static __always_inline __u32 js_type_of(const struct lang_image *im, __u64 pointer)
{
	__u64 map = 0;

	return js_read(&map, sizeof(map), pointer) ? js_type(im, map) : JS_NO_TYPE;
}

/* Where the pieces of a string go. */
enum { JS_INTO_NAME, JS_INTO_PATH };

/* Appends a piece of n units. A header of 16 bits is in front of each: its bytes and its width. */
static __always_inline int js_put_piece(struct lang_walk *l, struct js_state *js, __u64 from, __u32 n, __u32 wide)
{
	__u32 got, room, bytes;
	unsigned char *to;

	room = js->into == JS_INTO_PATH ? LANG_PATH : LANG_NAME;
	got = js->got;
	if (got + 2 >= room || n == 0)
		return 0;
	room -= got + 2;
	bytes = n < LANG_PATH ? n << wide : LANG_PATH;
	if (bytes > room)
		bytes = room & ~wide;
	to = (js->into == JS_INTO_PATH ? l->out.path : l->out.name) + (got & (LANG_PATH - 1));
	walk_opaque(bytes);
	if (bytes == 0 || bytes > LANG_PATH || bpf_probe_read_user(to + 2, bytes, (const void *)from))
		return 0;
	to[0] = bytes;
	to[1] = (bytes >> 8) | (wide ? LANG_PIECE_WIDE >> 8 : 0);
	js->got = got + 2 + bytes;
	return 1;
}

static __always_inline int js_push_string(struct js_state *js, __u64 pointer)
{
	__u32 n = js->n_pending;

	if (n >= JS_PENDING)
		return 0;
	js->pending[lang_mask(n, JS_PENDING - 1)] = pointer;
	js->n_pending = n + 1;
	return 1;
}

/* Takes the next part of a string. Returns true while there may be more. */
WALK_FN int js_string_step(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u64 words[4] = { 0 }, at;
	__u32 type, n, skip, wide;

	if (!l || !js || unused || !js->n_pending)
		return 0;
	im = lang_image_of(l);
	js->n_pending--;
	at = js_read(words, sizeof(words), js->pending[lang_mask(js->n_pending, JS_PENDING - 1)]);
	if (!im || !at)
		return 0;
	type = js_type(im, words[0]);
	if (type >= im->at[JS_TYPE_NOT_STRING])
		return 0;
	n = words[1] >> 32; /* JS_STRING_LENGTH */
	switch (type & JS_STRING_FORM) {
	case JS_STRING_CONS:
		return js_push_string(js, words[JS_STRING_CONS_SECOND / 8]) &&
		       js_push_string(js, words[JS_STRING_CONS_FIRST / 8]);
	case JS_STRING_THIN:
		return js_push_string(js, words[JS_STRING_ACTUAL / 8]);
	case JS_STRING_SLICED:
		js->skip = js_small(words[JS_STRING_OFFSET / 8]);
		js->most = n;
		return js_push_string(js, words[JS_STRING_PARENT / 8]);
	case JS_STRING_SEQUENTIAL:
		at += JS_STRING_CHARS;
		break;
	case JS_STRING_EXTERNAL:
		at = words[JS_STRING_EXTERNAL_DATA / 8];
		break;
	default:
		return 0;
	}
	skip = js->skip;
	wide = !(type & JS_STRING_ONE_BYTE);
	if (skip > n)
		return 0;
	n -= skip;
	if (n > js->most)
		n = js->most;
	js->skip = 0;
	js->most = ~0u;
	js_put_piece(l, js, at + ((__u64)skip << wide), n, wide);
	return js->n_pending != 0;
}

/* Reads a string into the record, in pieces. Returns the bytes; 0 for other objects. */
WALK_FN __u32 js_string(__u64 pointer, __u32 into)
{
	struct js_state *js = js_state();

	if (!js || !js_is_pointer(pointer))
		return 0;
	js->into = into;
	js->got = js->skip = 0;
	js->most = ~0u;
	js->pending[0] = pointer;
	js->n_pending = 1;
	for (int i = 0; i < JS_PIECES && js_string_step(0); i++)
		;
	return js->got;
}

/*
 * Bits of ScopeInfo's flags, common to all versions. After names and infos of the locals come: the index of a
 * class's variable; the name and a small integer; the inferred name; the positions.
 */
enum { JS_SCOPE_NAMED = 3 << 12, JS_SCOPE_INFERRED = 1 << 14 };
enum { JS_SCOPE_INLINE = 75, JS_SCOPE_TABLES = 0x0a0000 }; /* from 10 on, so many names are in a hash table */

/* Reads positions and the pointers to names from a ScopeInfo. Returns false if unreadable. */
WALK_FN int js_scope(__u64 pointer, __u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u32 n, at = 0, flags, small;
	__u64 scope, first;

	if (!l || !js || unused)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	scope = js_read(l->object, JS_SCOPE_HEAD, pointer);
	if (!scope)
		return 0;
	js->name = 0;
	first = lang_object(l, 8);
	flags = (__u32)first ? (__u32)first : js_small(first); /* a small integer in older versions */
	n = js_small(lang_object(l, im->at[JS_SCOPE_LOCALS]));
	small = im->at[JS_SCOPE_START];
	if (small) {
		l->out.start = js_small(lang_object(l, small));
		l->out.end = js_small(lang_object(l, small + 8));
	}
	if (n > 1 << 20)
		return 0;
	n = n < JS_SCOPE_INLINE || im->version < JS_SCOPE_TABLES ? 2 * n : n + 1;
	if (bpf_probe_read_user(l->object, JS_SCOPE_REST,
				(const void *)(scope + im->at[JS_SCOPE_VARS] + 8 * (__u64)n)))
		return 0;
	first = lang_object(l, 0);
	if (first && !(first & 1))
		at += 8; /* index of a class's variable; its flag is not the same in all versions */
	if (flags & JS_SCOPE_NAMED) {
		js->name = lang_object(l, at);
		at += 16;
	}
	if (flags & JS_SCOPE_INFERRED) {
		js->inferred = lang_object(l, at);
		at += 8;
	}
	if (!small) {
		l->out.start = js_small(lang_object(l, at));
		l->out.end = js_small(lang_object(l, at + 8));
	}
	return 1;
}

/* Reads the script's id, the pointer to its path, and where its text is. Returns false if unreadable. */
WALK_FN int js_script(__u64 pointer, __u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u64 words[4] = { 0 };
	__u32 type;

	if (!l || !js || unused)
		return 0;
	im = lang_image_of(l);
	if (!im || !js_read(js->script, JS_SCRIPT_READ, pointer))
		return 0;
	if (js_type(im, js_word(js->script, 0)) != im->at[JS_TYPE_SCRIPT]) {
		l->out.flags |= LANG_FLAG_BUILTIN; /* undefined */
		return 1;
	}
	l->out.script = js_small(js_word(js->script, im->at[JS_SCRIPT_ID]));
	js->path = js_word(js->script, im->at[JS_SCRIPT_NAME]);
	if (!js_read(words, sizeof(words), js_word(js->script, im->at[JS_SCRIPT_SOURCE])))
		return 1;
	type = js_type(im, words[0]);
	if (type >= im->at[JS_TYPE_NOT_STRING])
		return 1;
	l->out.units = words[1] >> 32;
	if ((type & JS_STRING_FORM) == JS_STRING_EXTERNAL) {
		l->out.text = words[JS_STRING_EXTERNAL_DATA / 8];
		l->out.width = type & JS_STRING_ONE_BYTE ? 1 : 2;
	}
	if (l->out.start == 0 && l->out.end == l->out.units && l->out.units)
		l->out.flags |= LANG_FLAG_TOP_LEVEL;
	return 1;
}

static __always_inline void js_put_texts(struct lang_walk *l, struct js_state *js)
{
	l->out.name_text = l->out.path_text = LANG_PIECES;
	l->out.name_n = js_string(js->name, JS_INTO_NAME);
	if (!l->out.name_n && js->inferred) {
		l->out.name_n = js_string(js->inferred, JS_INTO_NAME);
		l->out.flags |= l->out.name_n ? LANG_FLAG_INFERRED : 0;
	}
	l->out.path_n = js_string(js->path, JS_INTO_PATH);
	if (!l->out.path_n && l->out.script)
		l->out.flags |= LANG_FLAG_EVAL;
}

/* Builtins without a name keep their machine frame, whose symbol says more. */
static __always_inline int js_remember_nameless(const struct lang_walk *l, __u64 object, __u64 sign)
{
	struct lang_key key = lang_key_of(l, LANG_JAVASCRIPT, object);
	struct lang_known known = { sign, 0, 0 };

	bpf_map_update_elem(&lang_functions, &key, &known, BPF_ANY);
	return 0;
}

/*
 * Sends a function whose words are in js->shared. Returns its id, 0: it is no function, or the negative
 * state.
 */
WALK_FN int js_describe(__u64 sign, __u64 map)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u32 type;

	if (!l || !js)
		return 0;
	im = lang_image_of(l);
	if (!im || js_type(im, js_word(js->shared, 0)) != im->at[JS_TYPE_SHARED])
		return 0;
	type = map & 1 ? js_type(im, map) : im->at[JS_TYPE_FUNCTION_FIRST]; /* without: not known, or not asked */
	if (type < im->at[JS_TYPE_FUNCTION_FIRST] || type > im->at[JS_TYPE_FUNCTION_LAST])
		return 0;
	if (!lang_begin_function(l, LANG_JAVASCRIPT))
		return -LANG_STATE_OVER_BUDGET;
	l->out.version = im->version;
	l->out.start = l->out.end = l->out.script = l->out.units = 0;
	l->out.text = 0;
	l->out.width = 0;
	js->name = js_word(js->shared, im->at[JS_SHARED_NAME]);
	js->inferred = js->path = 0;
	type = js_type_of(im, js->name);
	if (js_is_pointer(js->name) && type == JS_NO_TYPE)
		return -LANG_STATE_UNREADABLE;
	if (type == im->at[JS_TYPE_SCOPE] && !js_scope(js->name, 0))
		return -LANG_STATE_UNREADABLE;
	if (!js_script(js_word(js->shared, im->at[JS_SHARED_SCRIPT]), 0))
		return -LANG_STATE_UNREADABLE;
	js_put_texts(l, js);
	if ((l->out.flags & LANG_FLAG_BUILTIN) && !l->out.name_n)
		return js_remember_nameless(l, js->address, sign);
	type = lang_send_function(l, LANG_JAVASCRIPT, js->address, sign);
	return type ? (int)type : -LANG_STATE_OVER_BUDGET;
}

/* Returns the id of the name of code without a function: of WebAssembly, or of a regular expression. */
WALK_FN int js_describe_special(__u32 wasm)
{
	struct lang_walk *l = lang_walk_state();
	__u64 object = 1 + !!wasm; /* no address */
	__u32 id;

	if (!l)
		return 0;
	id = lang_find_id(l, LANG_JAVASCRIPT, object, 1);
	if (id)
		return id;
	if (!lang_begin_function(l, LANG_JAVASCRIPT))
		return -LANG_STATE_OVER_BUDGET;
	l->out.start = l->out.end = l->out.script = l->out.units = 0;
	l->out.text = 0;
	l->out.width = 0;
	l->out.flags = LANG_FLAG_BUILTIN;
	if (wasm)
		__builtin_memcpy(l->out.name, "(wasm)\0", 8);
	else
		__builtin_memcpy(l->out.name, "(regexp)", 8);
	l->out.name_n = wasm ? 6 : 8;
	id = lang_send_function(l, LANG_JAVASCRIPT, object, 1);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

/*
 * Returns the id of the function with this SharedFunctionInfo, or as js_describe. map: of its JSFunction,
 * or 0.
 */
WALK_FN int js_shared(__u64 pointer, __u64 map)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	const struct lang_known *known;
	struct lang_key key;
	__u64 sign;
	__u32 n;

	if (!l || !js)
		return 0;
	im = lang_image_of(l);
	if (!im || !js_is_pointer(pointer))
		return 0;
	n = im->at[JS_SHARED_BYTES];
	js->address = n <= JS_SHARED_MOST ? js_read(js->shared, n, pointer) : 0;
	if (!js->address)
		return -LANG_STATE_UNREADABLE;
	/* The words before the flags and after: lengths and position of the token; the literal's id. */
	sign = js_word(js->shared, im->at[JS_SHARED_NAME]);
	sign = sign * 31 + js_word(js->shared, im->at[JS_SHARED_SCRIPT]);
	sign = sign * 31 + (js_word(js->shared, im->at[JS_SHARED_FLAGS] - 8) << 16);
	sign = sign * 31 + js_small(js_word(js->shared, im->at[JS_SHARED_FLAGS]));
	key = lang_key_of(l, LANG_JAVASCRIPT, js->address);
	known = bpf_map_lookup_elem(&lang_functions, &key);
	return known && known->sign == sign ? (int)known->id : js_describe(sign, map);
}

/* The same by a JSFunction. An unreadable one is none: other code has its frame pointer for other purposes. */
static __always_inline int js_function_of(struct lang_walk *l, const struct lang_image *im, __u64 pointer)
{
	if (!js_read(l->bytes, JS_FUNCTION_READ, pointer))
		return 0;
	return js_shared(lang_field(l, im->at[JS_FUNCTION_SHARED]), lang_field(l, 0));
}

#endif
