/*
 * Code of V8: from an instruction to the code that has it, and from code to a record of its positions.
 *
 * The code is found by the instruction, not by the function object, so code that was replaced, and code that
 * was entered in a loop, is found, too. Instructions begin at a multiple of 32 or 64 bytes, right after an
 * object that points to the Code object; and Code points to the instructions. The search goes backwards from
 * the instruction, and this circle proves its result.
 */
#ifndef CPROF_BPF_LANG_JAVASCRIPT_CODE_H
#define CPROF_BPF_LANG_JAVASCRIPT_CODE_H

#include "bpf/lang/javascript_function.bpf.h"

enum {
	JS_NEW_CODES = 8,   /* new records of code in one sample, at most */
	JS_CHUNKS = 80,	    /* chunks that one sample searches, at most ... */
	JS_SEARCH = 64,	    /* ... and for one instruction: 64 KiB */
	JS_TRIES = 6,	    /* candidates of a chunk that are checked */
	JS_STEP = 32,	    /* bytes between candidates */
	JS_BLOCK = 5,	    /* an instruction is known by its 32 bytes: bits */
	JS_ABOVE_BASELINE = 2, /* kinds of code above Sparkplug's: Maglev, TurboFan */
	JS_INLINED = 32,    /* functions that one code inlines, at most */
	JS_EXIT = 4,	    /* bytes of an exit of optimized code */
	JS_CODE_BYTES = 8 << 10, JS_INLINING_BYTES = 2 << 10, /* limits of a record's parts */
};

#define JS_MISS_NS 1000000000ull /* until an instruction without code is searched again */

/* In lang_key.kind, beside functions */
enum { JS_KEY_CODE = LANG_JAVASCRIPT | 1 << 8, JS_KEY_BYTECODE = LANG_JAVASCRIPT | 2 << 8 };

/* A record, and room for what the verifier cannot exclude. */
struct js_record {
	struct lang_code code;
	unsigned char slack[JS_CODE_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct js_record);
} js_records SEC(".maps");

static __always_inline struct js_record *js_record(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&js_records, &zero);
}

/*
 * Reads the Code whose instructions would begin at start, and checks that they do. Returns the bytes of the
 * instructions; 0: there are none.
 */
WALK_FN __u32 js_check_code(__u64 start)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u64 code;

	if (!l || !js)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	code = start - im->at[JS_CODE_HEADER] + 1;
	if (im->at[JS_CODE_POINTER])
		code = lang_read64(code - 1 + im->at[JS_CODE_POINTER]);
	js->code = js_read(js->code_bytes, JS_CODE_READ, code);
	if (!js->code)
		return 0;
	js->start = start;
	if (im->at[JS_CODE_START] ? js_word(js->code_bytes, im->at[JS_CODE_START]) != start
				  : js_type(im, js_word(js->code_bytes, 0)) != im->at[JS_TYPE_CODE])
		return 0;
	return js_word32(js->code_bytes, im->at[JS_CODE_SIZE]);
}

/*
 * Fills js->chunk so that its candidate i is at base + 32 i. Returns false if all before base is
 * unreadable.
 */
static __always_inline int js_read_chunk(struct js_state *js, __u64 from)
{
	__u32 rest = -(__u32)from & (STACK_PAGE - 1);

	if (bpf_probe_read_user(js->chunk, JS_CHUNK, (const void *)from) == 0)
		return 1;
	__builtin_memset(js->chunk, 0, JS_CHUNK);
	if (rest < JS_CHUNK)
		bpf_probe_read_user(js->chunk + rest, JS_CHUNK - rest, (const void *)(from + rest));
	return 0;
}

/* Returns 1 for a number below 2^63 if it is 0. No branches. */
static __always_inline __u64 js_is_zero(__u64 n)
{
	walk_opaque(n);
	n = (n - 1) >> 63;
	walk_opaque(n);
	return n;
}

/* Returns 1 for two pointers, which can be the begin of the object before the instructions. */
static __always_inline __u64 js_looks_right(__u64 a, __u64 b)
{
	__u64 bad = (a ^ 1) | (b ^ 1);

	return js_is_zero(bad >> 47 | (bad & 3));
}

/* Returns a bit for each candidate of the chunk that looks right. */
WALK_FN __u32 js_candidates(__u32 unused)
{
	struct js_state *js = js_state();
	__u32 mask = 0;

	if (!js || unused)
		return 0;
	for (__u32 i = 0; i < JS_CHUNK / JS_STEP; i++)
		mask |= js_looks_right(*(__u64 *)(js->chunk + i * JS_STEP), *(__u64 *)(js->chunk + i * JS_STEP + 8))
			<< i;
	return mask;
}

/* Returns the number of the highest bit that is set. */
static __always_inline __u32 js_top_bit(__u32 mask)
{
	__u32 bit = 0, half;

	for (int shift = 4; shift >= 0; shift--) {
		half = (js_is_zero(mask >> (1 << shift)) ^ 1) << shift;
		bit += half;
		mask >>= half;
	}
	return bit & 31;
}

/*
 * Searches the last chunk whose candidates begin at or before `last`. Returns 1: found; 0: not; -1: give
 * up.
 */
WALK_FN int js_search_chunk(__u64 last, __u64 pc)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u64 first = last - (JS_CHUNK - JS_STEP);
	__u32 mask, bit;
	int more;

	if (!l || !js)
		return -1;
	im = lang_image_of(l);
	if (!im)
		return -1;
	more = js_read_chunk(js, first - im->at[JS_CODE_HEADER]);
	mask = js_candidates(0);
	for (int i = 0; i < JS_TRIES && mask; i++) {
		bit = js_top_bit(mask);
		mask &= ~(1u << bit);
		if (pc - (first + bit * JS_STEP) < js_check_code(first + bit * JS_STEP))
			return 1;
	}
	return more ? 0 : -1;
}

/* Searches for the code of an instruction. Returns true, and its start and words are in js. */
WALK_FN int js_search(__u64 pc)
{
	struct js_state *js = js_state();
	__u64 last = pc & -(__u64)JS_STEP;
	int is = 0;

	if (!js)
		return 0;
	for (int i = 0; i < JS_SEARCH && is == 0 && js->chunks < JS_CHUNKS; i++) {
		js->chunks++;
		is = js_search_chunk(last, pc);
		last -= JS_CHUNK;
	}
	return is > 0;
}

/*
 * Differs if other code has taken the place: by the function, and by the object before the instructions,
 * which is the Code or points to it. 0: unreadable.
 */
static __always_inline __u64 js_code_sign(const struct js_state *js, const struct lang_image *im, __u64 start)
{
	__u32 header = im->at[JS_CODE_HEADER];
	__u64 words[4] = { 0 };

	if (bpf_probe_read_user(words, header < sizeof(words) ? 16 : sizeof(words), (const void *)(start - header)))
		return 0;
	return ((words[1] * 31 + words[2]) * 31 + words[3]) * 31 + js->function;
}

/* Appends the bytes of a ByteArray to the record. Returns their number. */
WALK_FN __u32 js_append_bytes(__u64 pointer, __u32 at, __u32 most)
{
	struct lang_walk *l = lang_walk_state();
	struct js_record *r = js_record();
	const struct lang_image *im;
	__u64 head[2] = { 0 }, from;
	__u32 type, n;

	if (!l || !r)
		return 0;
	im = lang_image_of(l);
	from = js_read(head, sizeof(head), pointer);
	if (!im || !from)
		return 0;
	type = js_type(im, head[0]);
	n = js_small(head[1]);
	if ((type != im->at[JS_TYPE_BYTES] && type != im->at[JS_TYPE_TRUSTED_BYTES]) || n > most)
		return 0;
	return lang_copy(r->code.bytes + (at & (LANG_TABLE - 1)), from + JS_ARRAY_DATA, n, JS_CODE_BYTES - 1);
}

/* Begins a record. Returns false if this sample has met too many. */
static __always_inline int js_begin_code(const struct lang_walk *l, struct js_state *js, struct js_record *r, __u32 tier)
{
	if (js->codes >= JS_NEW_CODES)
		return 0;
	js->codes++;
	r->code.language = LANG_JAVASCRIPT | LANG_RECORD_CODE;
	r->code.pid = l->pid;
	r->code.tier = tier;
	for (int i = 0; i < JS_PART_IMAGE; i++)
		r->code.parts[i] = 0;
	r->code.parts[JS_PART_IMAGE] = l->image;
	r->code.parts[JS_PART_FUNCTION] = js->function;
	return 1;
}

/* Sends the record with n bytes, and remembers its id. Returns the id; 0: the ring is full. */
static __always_inline __u32 js_send_code(struct lang_walk *l, struct js_record *r, __u32 n, __u32 kind,
					  __u64 object, __u64 sign, __u32 distance)
{
	struct lang_key key = lang_key_of(l, kind, object);
	struct lang_known known = { sign, 0, distance };
	__u32 id = id_first + bpf_get_smp_processor_id() + (l->ids + 1) * id_step;

	if (id >> 31 || n > LANG_TABLE)
		return 0;
	r->code.id = known.id = id;
	r->code.n = n;
	if (bpf_ringbuf_output(&lang_ring, &r->code, __builtin_offsetof(struct lang_code, bytes) + n,
			       BPF_RB_NO_WAKEUP))
		return 0;
	l->ids++;
	bpf_map_update_elem(&lang_functions, &key, &known, BPF_ANY);
	return id;
}

static __always_inline int js_is_array(const struct lang_image *im, __u32 type)
{
	return type == im->at[JS_TYPE_ARRAY] || type == im->at[JS_TYPE_TRUSTED_ARRAY] ||
	       type == im->at[JS_TYPE_PROTECTED_ARRAY] || type == im->at[JS_TYPE_WEAK_ARRAY] ||
	       type == im->at[JS_TYPE_TRUSTED_WEAK_ARRAY] || type == im->at[JS_TYPE_PROTECTED_WEAK_ARRAY];
}

/* Returns the address of an array, with its bytes in *end, at most 1 MiB; 0: it is none. */
static __always_inline __u64 js_array(const struct lang_image *im, __u64 pointer, __u32 *end)
{
	__u64 head[2] = { 0 }, at = js_read(head, sizeof(head), pointer);
	__u32 n = js_small(head[1]);

	*end = JS_ARRAY_DATA + 8 * (n < 1 << 17 ? n : 1 << 17);
	return at && js_is_array(im, js_type(im, head[0])) ? at : 0;
}

/* Returns the SharedFunctionInfo of the optimized code whose words are in js; 0: the code does not say. */
WALK_FN __u64 js_own_shared(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u64 data, own;
	__u32 end;

	if (!l || !js || unused)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	data = js_array(im, js_word(js->code_bytes, im->at[JS_CODE_DEOPT]), &end);
	if (!data || end <= im->at[JS_DEOPT_SHARED])
		return 0;
	own = lang_read64(data + im->at[JS_DEOPT_SHARED]);
	if (im->at[JS_WRAPPER_SHARED] && js_type_of(im, own) == im->at[JS_TYPE_WRAPPER])
		own = lang_read64(own - 1 + im->at[JS_WRAPPER_SHARED]);
	return own;
}

/*
 * Puts the id of inlined function i into the record. literals: address of the elements. Returns false: not
 * now.
 */
WALK_FN int js_inlined(__u64 literals, __u32 i, __u32 at)
{
	struct js_record *r = js_record();
	int id = js_shared(lang_read64(literals + i * 8ull) & ~2ull, 0);

	if (!r || id < 0)
		return 0;
	*(__u32 *)(r->code.bytes + (at & (LANG_TABLE - 1))) = id; /* not aligned */
	return 1;
}

/* Appends inlining positions and functions of optimized code. Returns the record's bytes; ~0: incomplete. */
static __always_inline __u32 js_append_inlined(const struct lang_image *im, struct js_record *r, __u64 deopt,
					       __u32 bytes)
{
	__u64 data, literals;
	__u32 end, count, n;

	data = js_array(im, deopt, &end);
	if (!data || end <= im->at[JS_DEOPT_INLINING] || end <= im->at[JS_DEOPT_LITERALS])
		return bytes;
	count = js_small(lang_read64(data + im->at[JS_DEOPT_COUNT]));
	literals = js_array(im, lang_read64(data + im->at[JS_DEOPT_LITERALS]), &end);
	if (!literals || count == 0 || JS_ARRAY_DATA + 8ull * count > end)
		return bytes;
	if (count > JS_INLINED)
		count = JS_INLINED;
	literals += JS_ARRAY_DATA;
	n = js_append_bytes(lang_read64(data + im->at[JS_DEOPT_INLINING]), bytes, JS_INLINING_BYTES);
	r->code.parts[JS_PART_INLININGS] = n;
	r->code.parts[JS_PART_FUNCTIONS] = 4 * count;
	bytes += n;
	for (__u32 i = 0; i < JS_INLINED && i < count; i++) {
		if (!js_inlined(literals, i, bytes))
			return ~0u;
		bytes += 4;
	}
	return bytes;
}

/*
 * Appends the way from Sparkplug's code to its bytecode: the bytecode's positions, and the bytecodes. The
 * code itself has no position table, but one of bytecodes. Returns the record's bytes.
 */
WALK_FN __u32 js_append_baseline(__u64 pointer, __u64 offsets)
{
	struct lang_walk *l = lang_walk_state();
	struct js_record *r = js_record();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u32 positions, table, n;
	__u64 array;

	if (!l || !js || !r)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	array = js_read(js->array, JS_CODE_READ, pointer);
	if (!array || js_type(im, js_word(js->array, 0)) != im->at[JS_TYPE_BYTECODE])
		return 0;
	positions = js_append_bytes(js_word(js->array, im->at[JS_BYTECODE_TABLE]), 0, JS_CODE_BYTES - 1);
	r->code.parts[JS_PART_POSITIONS] = positions;
	n = js_small(js_word(js->array, im->at[JS_BYTECODE_LENGTH]));
	table = js_append_bytes(offsets, positions, JS_CODE_BYTES / 2 - 1);
	if (!table || positions + table > JS_CODE_BYTES || n > JS_CODE_BYTES - 1 ||
	    lang_copy(r->code.bytes + ((positions + table) & (LANG_TABLE - 1)), array + im->at[JS_BYTECODE_DATA], n,
		      JS_CODE_BYTES - 1) != n)
		return positions;
	r->code.parts[JS_PART_OFFSETS] = table;
	r->code.parts[JS_PART_BYTECODES] = n;
	return positions + table + n;
}

/* Sends the code whose words are in js. Returns its id; 0: not now. */
WALK_FN __u32 js_describe_code(__u64 pc, __u64 sign)
{
	struct lang_walk *l = lang_walk_state();
	struct js_record *r = js_record();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u32 kind, n, distance;
	__u64 deopt, table;

	if (!l || !js || !r)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	kind = (js_word32(js->code_bytes, im->at[JS_CODE_FLAGS]) & JS_CODE_KIND_MASK) - im->at[JS_CODE_BASELINE];
	if (kind > JS_ABOVE_BASELINE ||
	    !js_begin_code(l, js, r, kind ? JS_TIER_OPTIMIZED : JS_TIER_BASELINE))
		return 0;
	distance = (pc & -(1ull << JS_BLOCK)) - js->start;
	deopt = js_word(js->code_bytes, im->at[JS_CODE_DEOPT]);
	table = js_word(js->code_bytes, im->at[JS_CODE_TABLE]);
	if (kind == 0) {
		n = js_append_baseline(deopt, table);
	} else {
		n = js_append_bytes(table, 0, JS_CODE_BYTES - 1);
		r->code.parts[JS_PART_POSITIONS] = n;
		n = js_append_inlined(im, r, deopt, n);
	}
	return js_send_code(l, r, n, JS_KEY_CODE, pc >> JS_BLOCK, sign, distance);
}

/* Remembers that no code is found at this instruction. */
static __always_inline void js_remember_miss(struct lang_walk *l, __u64 pc)
{
	struct lang_key key = lang_key_of(l, JS_KEY_CODE, pc >> JS_BLOCK);
	struct lang_known known = { bpf_ktime_get_ns(), 0, 0 };

	bpf_map_update_elem(&lang_functions, &key, &known, BPF_ANY);
}

/*
 * Finds the code of an instruction. Returns the id of its record; 0: it is not found, or js->sign is set and
 * its record must be sent. Sets the offset from its start in js->position. The caller sends the record: one
 * level less of calls, whose stacks 5.10 adds up.
 */
WALK_FN __u32 js_find_code(__u64 pc)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_known *known;
	const struct lang_image *im;
	struct lang_key key;

	if (!l || !js)
		return 0;
	js->sign = 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	key = lang_key_of(l, JS_KEY_CODE, pc >> JS_BLOCK);
	known = bpf_map_lookup_elem(&lang_functions, &key);
	if ((known && !known->id && bpf_ktime_get_ns() - known->sign < JS_MISS_NS))
		return 0;
	if (known && known->id) {
		js->start = (pc & -(1ull << JS_BLOCK)) - known->more;
		js->position = pc - js->start;
		if (known->sign == js_code_sign(js, im, js->start))
			return known->id;
	}
	if (!js_search(pc)) {
		if (js->chunks < JS_CHUNKS)
			js_remember_miss(l, pc);
		return 0;
	}
	js->position = pc - js->start;
	js->sign = js_code_sign(js, im, js->start);
	return 0;
}

/*
 * Is this instruction one of the exits at the end of optimized code? A frame whose code was thrown away
 * returns to one. Exits are calls by the root register, call *d(%r13), one after another, and have no
 * positions; code that has just called makes no such call at once.
 */
WALK_FN int js_is_exit(__u64 pc, __u32 exact)
{
	__u64 bytes[2] = { 0, 0 };

	if (bpf_probe_read_user(bytes, sizeof(bytes), (const void *)(pc - 7)))
		return 0;
	/* d of 8 bits or of 32 */
	return ((bytes[0] >> 56 | bytes[1] << 8) & 0x3fffff) == 0x15ff41 &&
	       (!exact || (bytes[0] & 0xffffff) == 0x95ff41 || (bytes[0] >> 24 & 0xffffff) == 0x55ff41);
}

/*
 * Returns the end of the call that is to return to this exit, in the code that js_find_code has
 * found; 0: not known. In the deoptimization data, three numbers follow the inlining positions: where
 * exits begin, and how many there are of two kinds. Then each exit has three numbers, the last of
 * which is the call's end.
 */
WALK_FN __u64 js_exit_call(__u64 exit)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u64 words[4] = { 0 }, data;
	__u32 end, first, n, at, call;

	if (!l || !js)
		return 0;
	im = lang_image_of(l);
	if (!im || !js_check_code(js->start))
		return 0;
	data = js_array(im, js_word(js->code_bytes, im->at[JS_CODE_DEOPT]), &end);
	first = im->at[JS_DEOPT_INLINING];
	if (!data || bpf_probe_read_user(words, sizeof(words), (const void *)(data + first)))
		return 0;
	first += sizeof(words);
	n = js_small(words[2]) + js_small(words[3]);
	at = (__u32)(exit - js->start) - js_small(words[1]);
	/* All of it must fit: other versions may have other numbers. */
	if (n > 1 << 17 || end != first + 24 * n || at % JS_EXIT || at / JS_EXIT >= n)
		return 0;
	call = js_small(lang_read64(data + first + at / JS_EXIT * 24ull + 16));
	return call && call <= js_small(words[1]) ? js->start + call : 0;
}

static __always_inline __u32 js_code(struct js_state *js, __u64 pc)
{
	__u32 id = js_find_code(pc);

	return id || !js->sign ? id : js_describe_code(pc, js->sign);
}

/* Sends the bytecode. Returns its id; 0: it is no bytecode, or its record cannot be sent now. */
WALK_FN __u32 js_describe_bytecode(__u64 pointer)
{
	struct lang_walk *l = lang_walk_state();
	struct js_record *r = js_record();
	struct js_state *js = js_state();
	const struct lang_image *im;
	__u32 n;

	if (!l || !js || !r)
		return 0;
	im = lang_image_of(l);
	if (!im || !js_read(js->array, JS_CODE_READ, pointer))
		return 0;
	if (js_type(im, js_word(js->array, 0)) != im->at[JS_TYPE_BYTECODE] ||
	    js->position >= js_small(js_word(js->array, im->at[JS_BYTECODE_LENGTH])) ||
	    !js_begin_code(l, js, r, JS_TIER_INTERPRETED))
		return 0;
	n = js_append_bytes(js_word(js->array, im->at[JS_BYTECODE_TABLE]), 0, JS_CODE_BYTES - 1);
	r->code.parts[JS_PART_POSITIONS] = n;
	return js_send_code(l, r, n, JS_KEY_BYTECODE, pointer, js->function, 0);
}

/*
 * Finds the record of an interpreter frame's bytecode. offset: from the tagged array on. Returns the id, and
 * the offset from the first bytecode in js->position. A function that is compiled again has the same
 * bytecode, so the array is known by its address and its function.
 */
static __always_inline __u32 js_bytecode(struct lang_walk *l, struct js_state *js,
					 const struct lang_image *im, __u64 pointer, __u32 offset)
{
	__u32 id = lang_find_id(l, JS_KEY_BYTECODE, pointer, js->function);

	js->position = offset - (im->at[JS_BYTECODE_DATA] - 1);
	return id ? id : js_describe_bytecode(pointer);
}

#endif
