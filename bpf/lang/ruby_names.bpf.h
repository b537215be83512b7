/*
 * Reads the names of Ruby's functions. A name is that of the instruction sequence (iseq). The class comes
 * from the method entry that the frame's environment, or one around it, points to. The type of an object is
 * checked before its members are used.
 */
#ifndef CPROF_BPF_LANG_RUBY_NAMES_H
#define CPROF_BPF_LANG_RUBY_NAMES_H

#include "bpf/lang/lang.bpf.h"
#include "common/lang/ruby.h"

/*
 * vm_core.h: rb_execution_context_struct, rb_control_frame_struct, rb_iseq_constant_body, flags in
 * ep[0]
 */
enum {
	RB_CFP_PC = 0,
	RB_CFP_ISEQ = 16,
	RB_CFP_EP = 32,
	RB_CFP_MOST = 64,
	RB_BODY_WORDS = 4,
	RB_BODY_CODE = 8,
	RB_BODY_PATH = 64,
	RB_BODY_BASE = 72,
	RB_BODY_LABEL = 80,
	RB_BODY_LINE = 88,
	RB_BODY_HEAD = 96, /* bytes of a body that each frame reads */
	RB_ENV_BYTES = 24,
	RB_ENV_WINDOW = 1024, /* bytes of environments in one read; a power of two */
	RB_STACK_MIN = 256,
	RB_STACK_MAX = 1 << 24, /* words of a VM's stack: 2048 to 131072 by default */
	RB_MAGIC = 0x7fff0000,
	RB_METHOD = 0x11110000,
	RB_CFUNC = 0x55550000,
	RB_IFUNC = 0x66660000,
	RB_DUMMY = 0x79990000,
	RB_ENV_LOCAL = 2,
	RB_FINISH = 0x20,
	RB_OPERATOR = 3,  /* bytes of <=>; longer names in angle brackets, as <main>, are not methods */
	RB_ENV_HOPS = 10, /* from a block to its method: a hop for each block around it */
};

/* include/ruby/internal/value_type.h, fl_type.h; internal/imemo.h; method.h */
enum {
	RB_TYPE = 0x1f,
	RB_T_CLASS = 2,
	RB_T_MODULE = 3,
	RB_T_STRING = 5,
	RB_T_ARRAY = 7,
	RB_T_IMEMO = 0x1a,
	RB_T_ICLASS = 0x1c,
	RB_IMEMO = 0xf01f,
	RB_IMEMO_SVAR = RB_T_IMEMO | 2 << 12,
	RB_IMEMO_MENT = RB_T_IMEMO | 6 << 12,
	RB_IMEMO_ISEQ = RB_T_IMEMO | 7 << 12,
	RB_NOT_EMBEDDED = 1 << 13,
	RB_STATIC = 1 << 30, /* string.c: STR_NOFREE */
	RB_ARRAY_EMBEDDED = 1 << 13,
	RB_METHOD_ISEQ = 0,
	RB_METHOD_TYPE = 0xf,
	RB_ID_SCOPE = 0xe, /* 0: local */
};

/* lang_walk.words */
enum {
	RB_LIMIT, RB_ENV, RB_ENTRY_OF, RB_FOUND, RB_STACK, RB_ENVS, RB_ENVS_HELD,
	/* The frame before, whose body is in object: its iseq, 0: none; its environment's entry; its id. */
	RB_LAST, RB_LAST_ENTRY, RB_LAST_ID,
	/* The frame to be named: its function's key and sign, its body, its position and flags. */
	RB_NEW_KEY, RB_NEW_SIGN, RB_NEW_BODY, RB_NEW_AT
};

enum { RB_STEPS = 2 /* in one call; a divisor of LANG_ROUNDS */ };

/* In object, after the head of a body: on the program's own stack they would be too much for seven calls. */
enum { RB_ISEQ_AT = 128, RB_ENTRY_AT = 160 };

/* Where ruby_text puts a text. */
enum ruby_text { RB_TO_NAME, RB_TO_CLASS, RB_TO_PATH };

enum { RB_VARIABLES = 10, RB_VARIABLE = 24, RB_VARIABLE_ID = 8, RB_VARIABLE_VALUE = 16 };

/* Reads a String. Returns the number of its bytes; 0: it is not one. */
WALK_FN int ruby_text(__u64 string, __u32 to)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 head[4] = { 0 }, from, n;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im || bpf_probe_read_user(head, sizeof(head), (const void *)string) ||
	    (head[0] & RB_TYPE) != RB_T_STRING)
		return 0;
	n = head[2];
	from = head[3];
	if (!(head[0] & RB_NOT_EMBEDDED)) {
		from = string + im->at[RB_STR_EMBEDDED];
		if (im->at[RB_STR_EMBEDDED] == 16)
			n = head[0] >> 14 & 0x1f;
	}
	if (to == RB_TO_NAME)
		return lang_copy(l->out.name, from, n, LANG_NAME);
	if (to == RB_TO_CLASS)
		return lang_copy(l->out.class, from, n, LANG_NAME);
	return lang_copy(l->out.path, from, n, LANG_PATH);
}

/*
 * Names code outside of methods, whose label is a text in the library's file. The text may be in no page of
 * the process: a forked one has only those that it has used. Then the length tells which label it is.
 * Returns the number of bytes; 0: it is another one.
 */
static __always_inline __u32 ruby_static_label(struct lang_walk *l, __u64 string)
{
	__u64 head[3] = { 0 };
	__u32 is = RB_T_STRING | RB_NOT_EMBEDDED | RB_STATIC;

	if (bpf_probe_read_user(head, sizeof(head), (const void *)string) ||
	    (head[0] & (RB_TYPE | RB_NOT_EMBEDDED | RB_STATIC)) != is)
		return 0;
	if (head[2] == sizeof("<main>") - 1)
		__builtin_memcpy(l->out.name, "<main>", sizeof("<main>"));
	else if (head[2] == sizeof("<top (required)>") - 1)
		__builtin_memcpy(l->out.name, "<top (required)>", sizeof("<top (required)>"));
	else
		return 0;
	return head[2];
}

/* Reads a path: a String, or an Array of the path and the path without links. */
static __always_inline void ruby_path(struct lang_walk *l, __u64 path)
{
	__u64 head[5] = { 0 };
	int n;

	if (bpf_probe_read_user(head, sizeof(head), (const void *)path) == 0 &&
	    (head[0] & RB_TYPE) == RB_T_ARRAY)
		path = head[0] & RB_ARRAY_EMBEDDED ? head[2] : lang_read64(head[4]);
	n = ruby_text(path, RB_TO_PATH);
	l->out.path_n = n;
}

/*
 * Finds a variable of a class that is not written in Ruby: its ID is of local scope. Reads the class's
 * path, or, with attached, finds the class whose singleton it is. Returns 0 if there is none.
 */
WALK_FN int ruby_variable(__u64 class, __u32 attached)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 table[7] = { 0 }; /* include/ruby/st.h: struct st_table; 5: entries_bound, 6: entries */
	__u64 n, value, type;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	value = lang_read64(lang_read64(class + im->at[RB_CLASS_EXT]) + im->at[RB_CLASS_PATH]);
	if (bpf_probe_read_user(table, sizeof(table), (const void *)value))
		return 0;
	n = table[5] < RB_VARIABLES ? table[5] : RB_VARIABLES;
	if (!lang_copy(l->object, table[6], n * RB_VARIABLE, RB_VARIABLES * RB_VARIABLE))
		return 0;
	for (int i = 0; i < RB_VARIABLES && (__u32)i < n; i++) {
		value = lang_object(l, i * RB_VARIABLE + RB_VARIABLE_VALUE);
		if (lang_object(l, i * RB_VARIABLE + RB_VARIABLE_ID) & RB_ID_SCOPE || value & 7 || value == 0)
			continue;
		type = lang_read64(value) & RB_TYPE;
		if (attached && (type == RB_T_CLASS || type == RB_T_MODULE)) {
			l->words[RB_FOUND] = value;
			return 1;
		}
		if (!attached && type == RB_T_STRING) {
			int bytes = ruby_text(value, RB_TO_CLASS);

			if (bytes && l->out.class[0] != '#')
				return bytes;
		}
	}
	return 0;
}

/*
 * Reads the class of a method entry. Returns the character between class and method; 0: it has no
 * name.
 */
WALK_FN int ruby_class(__u64 entry)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 me[3] = { 0 }, head[2] = { 0 }, class;
	int joint = '#', n;

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im || bpf_probe_read_user(me, sizeof(me), (const void *)entry) ||
	    (lang_read64(me[2]) & RB_METHOD_TYPE) != RB_METHOD_ISEQ)
		return 0;
	class = me[1];
	if (bpf_probe_read_user(head, sizeof(head), (const void *)class))
		return 0;
	if ((head[0] & RB_TYPE) == RB_T_ICLASS) {
		class = head[1];
		head[0] = lang_read64(class);
	}
	if ((head[0] & RB_TYPE) == RB_T_CLASS && head[0] & im->at[RB_SINGLETON]) {
		joint = '.';
		if (im->at[RB_CLASS] == RB_CLASS_FIELD)
			class = lang_read64(class + im->at[RB_CLASS_EXT] + im->at[RB_CLASS_ATTACHED]);
		else
			class = ruby_variable(class, 1) ? l->words[RB_FOUND] : 0;
		head[0] = lang_read64(class);
	}
	if ((head[0] & RB_TYPE) != RB_T_CLASS && (head[0] & RB_TYPE) != RB_T_MODULE)
		return 0;
	if (im->at[RB_CLASS] == RB_CLASS_FIELD)
		n = ruby_text(lang_read64(class + im->at[RB_CLASS_EXT] + im->at[RB_CLASS_PATH]), RB_TO_CLASS);
	else
		n = ruby_variable(class, 0);
	if (n <= 0 || l->out.class[0] == '#') /* that of a class without a name, as #<Class:0x...> */
		return 0;
	l->out.class_n = n;
	return joint;
}

/*
 * Finds the method entry of an object that an environment refers to: itself, or in a svar. Returns its
 * class, so that a method with several classes has several names; *entry 0: it is something different.
 */
static __always_inline __u64 ruby_entry(struct lang_walk *l, __u64 object, __u64 *entry)
{
	__u64 *head = (__u64 *)(l->object + RB_ENTRY_AT);

	*entry = 0;
	if (bpf_probe_read_user(head, 16, (const void *)object))
		return 0;
	if ((head[0] & RB_IMEMO) == RB_IMEMO_SVAR) {
		object = head[1];
		if (bpf_probe_read_user(head, 16, (const void *)object))
			return 0;
	}
	if ((head[0] & RB_IMEMO) != RB_IMEMO_MENT)
		return 0;
	*entry = object;
	return head[1];
}

/*
 * Finds the method around a block, from its environment on (rb_vm_frame_method_entry). Returns 0 if
 * there is none.
 */
WALK_FN int ruby_method(__u64 ep)
{
	struct lang_walk *l = lang_walk_state();
	__u64 env[3] = { 0 }, entry;

	if (!l)
		return 0;
	for (int i = 0; i < RB_ENV_HOPS; i++) {
		if (bpf_probe_read_user(env, sizeof(env), (const void *)(ep - 16)))
			return 0;
		ruby_entry(l, env[0], &entry);
		if (entry) {
			l->words[RB_ENTRY_OF] = entry;
			return 1;
		}
		if (env[2] & RB_ENV_LOCAL)
			return 0;
		ep = env[1] & ~3ull;
	}
	return 0;
}

/* Reads the tables of lines: see common/ruby/ruby_lines.h. */
static __always_inline void ruby_table(struct lang_walk *l, const struct lang_image *im)
{
	__u32 n = lang_object32(l, im->at[RB_INSNS_SIZE]), words = lang_object32(l, RB_BODY_WORDS), bytes = 0,
	      got;
	__u64 whole = (__u64)n * im->at[RB_INSNS_ENTRY];

	*(__u32 *)l->out.lines = n;
	*(__u32 *)(l->out.lines + 4) = words;
	if (n > 1 && words <= RB_NO_POSITION) {
		bytes = ruby_index_bytes(words);
		if (bytes > RB_INDEX_MOST)
			bytes = RB_INDEX_MOST;
		if (lang_copy(l->out.lines + RB_TABLE_HEAD, lang_object(l, im->at[RB_INSNS_TABLE]), bytes,
			      RB_INDEX_MOST) != bytes)
			return;
	}
	bytes &= 2 * RB_INDEX_MOST - 1;
	if (bytes > RB_INDEX_MOST)
		return;
	got = lang_copy(l->out.lines + RB_TABLE_HEAD + bytes, lang_object(l, im->at[RB_INSNS_BODY]), whole,
			LANG_TABLE - RB_TABLE_HEAD - RB_INDEX_MOST);
	if (!got)
		return;
	l->out.table = RB_TABLE_HEAD + bytes + got;
}

/* Is it the name of a method, not <main> or "<class:Foo>"? */
static __always_inline int ruby_is_method(const unsigned char *name, __u32 n)
{
	return n > 0 && (name[0] != '<' || n <= RB_OPERATOR);
}

/* Puts the class between "block in " and the method's own name, which ends the label. */
static __always_inline void ruby_name_class(struct lang_walk *l, __u64 base)
{
	int n = ruby_text(base, RB_TO_CLASS), joint;

	if (n <= 0 || !ruby_is_method(l->out.class, n))
		return;
	if (!ruby_is_method(l->out.name, l->out.name_n)) /* from 3.4 on, eval in a method is <compiled> */
		l->out.name_n = ruby_text(base, RB_TO_NAME);
	if (n > l->out.name_n || l->out.name_n >= LANG_NAME)
		return;
	if (!l->words[RB_ENTRY_OF] && !ruby_method(l->words[RB_ENV]))
		return;
	joint = ruby_class(l->words[RB_ENTRY_OF]);
	if (!joint)
		return;
	l->out.joint = joint;
	l->out.prefix = l->out.name_n - n;
}

/* Reads and sends the names of the iseq with the new body. Returns its id, or a negative enum lang_state. */
static __always_inline int ruby_name(struct lang_walk *l, const struct lang_image *im)
{
	__u64 body = l->words[RB_NEW_BODY];
	__u32 id;

	if (!lang_begin_function(l, LANG_RUBY))
		return -LANG_STATE_OVER_BUDGET;
	if (bpf_probe_read_user(l->object, LANG_OBJECT, (const void *)body))
		return -LANG_STATE_UNREADABLE;
	l->out.name_n = ruby_text(lang_object(l, RB_BODY_LABEL), RB_TO_NAME);
	if (!l->out.name_n)
		l->out.name_n = ruby_static_label(l, lang_object(l, RB_BODY_LABEL));
	if (!l->out.name_n)
		return -LANG_STATE_UNREADABLE;
	ruby_path(l, lang_object(l, RB_BODY_PATH));
	l->out.line = im->at[RB_LINE_FIXNUM] ? (__u32)(lang_object(l, RB_BODY_LINE) >> 1)
					     : lang_object32(l, RB_BODY_LINE);
	l->out.version = im->version;
	ruby_table(l, im);
	if (im->at[RB_CLASS])
		ruby_name_class(l, lang_object(l, RB_BODY_BASE)); /* may overwrite object */
	id = lang_send_function(l, LANG_RUBY, l->words[RB_NEW_KEY], l->words[RB_NEW_SIGN]);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

#endif
