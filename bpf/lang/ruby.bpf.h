/*
 * Walks the control frames of Ruby, 2.7 to 4.0. They are an array at the end of the VM's stack. The
 * walk goes from the running method's frame to the end of the array. Frames of C functions are left
 * out, because the machine's stack already names them. The iseq pointer of some frames points to
 * another object, so its type is checked.
 */
#ifndef CPROF_BPF_LANG_RUBY_H
#define CPROF_BPF_LANG_RUBY_H

#include "bpf/lang/ruby_names.bpf.h"

/* Names and appends the frame that the last step has left. Returns false if there is no room. */
WALK_FN int ruby_push_new(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 at;
	int id;

	if (!l || unused)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	l->words[RB_ENVS] = l->words[RB_LAST] = 0; /* the line table and the body take their places */
	id = ruby_name(l, im);
	at = l->words[RB_NEW_AT];
	if (id > 0 ? lang_push(l, id, (__u32)at, at & LANG_ENTRY) : lang_push(l, 0, -id, at & LANG_ENTRY))
		return 1;
	lang_cut(l, LANG_STATE_DEPTH);
	return 0;
}

/*
 * A counter may be one of an earlier frame, because compiled code does not always keep it. It is after
 * its instruction.
 */
static __always_inline __u32 ruby_position(__u64 pc, __u64 code, __u32 words)
{
	__u64 at = (pc - code) >> 3;

	if (pc < code || at > words)
		return RB_NO_POSITION;
	return at ? at - 1 : 0;
}

/*
 * Reads the three words of an environment to the place of the line table. Environments on the VM's stack
 * are near each other, the outer ones at lower addresses: one read gives several. Returns the first word's
 * offset there; -1: unreadable.
 */
static __always_inline int ruby_read_env(struct lang_walk *l, __u64 ep)
{
	__u64 from = ep - 16, in = from - l->words[RB_ENVS], before = RB_ENV_WINDOW - RB_ENV_BYTES;

	if (l->words[RB_ENVS] && in <= l->words[RB_ENVS_HELD])
		return (int)(in & (RB_ENV_WINDOW - 8));
	l->words[RB_ENVS] = 0;
	if (from <= l->words[RB_STACK] || from >= l->words[RB_LIMIT])
		before = 0;
	else if (from - l->words[RB_STACK] < before)
		before = from - l->words[RB_STACK];
	if (!lang_copy(l->out.lines, from - before, before + RB_ENV_BYTES, RB_ENV_WINDOW))
		return -1;
	l->words[RB_ENVS] = from - before;
	l->words[RB_ENVS_HELD] = before;
	return (int)(before & (RB_ENV_WINDOW - 8));
}

static __always_inline __u64 ruby_env(const struct lang_walk *l, int at, __u32 word)
{
	return *(const __u64 *)(l->out.lines + (((__u32)at + 8 * word) & (RB_ENV_WINDOW - 8)));
}

/* Reads the iseq, and the head of its body to object. Returns the body's address; 0: it is no iseq. */
static __always_inline __u64 ruby_read_iseq(struct lang_walk *l, __u64 iseq)
{
	l->words[RB_LAST] = 0;
	if (bpf_probe_read_user(l->object + RB_ISEQ_AT, 24, (const void *)iseq) ||
	    (lang_object(l, RB_ISEQ_AT) & RB_IMEMO) != RB_IMEMO_ISEQ ||
	    bpf_probe_read_user(l->object, RB_BODY_HEAD, (const void *)lang_object(l, RB_ISEQ_AT + 16)))
		return 0;
	return lang_object(l, RB_ISEQ_AT + 16);
}

/* Appends a frame. at: its position, and LANG_ENTRY. Returns an enum lang_step. */
static __always_inline int ruby_push_id(struct lang_walk *l, __u32 id, __u64 at)
{
	return lang_push(l, id, (__u32)at, at & LANG_ENTRY) ? LANG_STEP_ON : LANG_STEP_FULL;
}

/* Appends a frame whose iseq's body is in object. Returns an enum lang_step. */
static __always_inline int ruby_push_function(struct lang_walk *l, __u64 iseq, __u64 body, __u64 class,
					      __u64 at)
{
	__u64 key = iseq + class * 0x9e3779b97f4a7c15ull, sign;
	__u32 id;

	sign = ((lang_object(l, RB_BODY_CODE) * 31 + lang_object(l, RB_BODY_PATH)) * 31 +
		lang_object(l, RB_BODY_LABEL)) *
		       31 +
	       lang_object(l, RB_BODY_LINE);
	id = lang_find_id(l, LANG_RUBY, key, sign);
	if (id) {
		l->words[RB_LAST] = iseq;
		l->words[RB_LAST_ID] = id;
		return ruby_push_id(l, id, at);
	}
	l->words[RB_NEW_KEY] = key;
	l->words[RB_NEW_SIGN] = sign;
	l->words[RB_NEW_BODY] = body;
	l->words[RB_NEW_AT] = at;
	return LANG_STEP_NAME;
}

/* The position of the frame in bytes, whose iseq's body is in object. */
static __always_inline __u32 ruby_position_here(const struct lang_walk *l)
{
	return ruby_position(lang_field(l, RB_CFP_PC), lang_object(l, RB_BODY_CODE),
			     lang_object32(l, RB_BODY_WORDS));
}

static __always_inline int ruby_push_state(struct lang_walk *l, __u32 state, __u64 finish)
{
	return lang_push(l, 0, state, finish) ? LANG_STEP_ON : LANG_STEP_FULL;
}

/* Appends the frame in bytes. Returns an enum lang_step. */
static __always_inline int ruby_push(struct lang_walk *l)
{
	__u64 iseq = lang_field(l, RB_CFP_ISEQ), ep = lang_field(l, RB_CFP_EP), class = 0;
	__u64 body, entry, finish;
	__u32 magic;
	int env;

	if (iseq == 0)
		return LANG_STEP_ON;
	env = ruby_read_env(l, ep);
	if (env < 0)
		return ruby_push_state(l, LANG_STATE_UNREADABLE, 0);
	finish = ruby_env(l, env, 2);
	magic = finish & RB_MAGIC;
	if (magic == RB_CFUNC || magic == RB_IFUNC || magic == RB_DUMMY)
		return LANG_STEP_ON;
	entry = magic == RB_METHOD ? ruby_env(l, env, 0) : 0;
	finish = finish & RB_FINISH ? LANG_ENTRY : 0;
	if (iseq == l->words[RB_LAST] && entry == l->words[RB_LAST_ENTRY])
		return ruby_push_id(l, l->words[RB_LAST_ID], ruby_position_here(l) | finish);
	body = ruby_read_iseq(l, iseq);
	if (!body)
		return ruby_push_state(l, LANG_STATE_UNREADABLE, finish);
	l->words[RB_ENTRY_OF] = 0;
	l->words[RB_ENV] = ep;
	l->words[RB_LAST_ENTRY] = entry;
	if (entry)
		class = ruby_entry(l, entry, &l->words[RB_ENTRY_OF]);
	return ruby_push_function(l, iseq, body, class, ruby_position_here(l) | finish);
}

/* Reads the frame at l->at for lang_field, and those around it, which follow. Returns false if unreadable. */
static __always_inline int ruby_read_frame(struct lang_walk *l, __u32 bytes)
{
	__u64 in = l->at - l->window, n = l->words[RB_LIMIT] + bytes - l->at;

	if (l->window && in <= l->held) {
		l->base = in;
		return 1;
	}
	l->window = l->base = 0;
	n = n < LANG_WINDOW ? n : LANG_WINDOW;
	if (!lang_copy(l->bytes, l->at, n, LANG_WINDOW))
		return lang_copy(l->bytes, l->at, bytes, RB_CFP_MOST) == bytes;
	l->window = l->at;
	l->held = n - bytes;
	return 1;
}

/* Appends the current frame and goes to the next. */
static __always_inline int ruby_step(struct lang_walk *l, const struct lang_image *im)
{
	__u32 bytes = im->at[RB_CFP_BYTES];
	int is;

	if (bytes > RB_CFP_MOST || !ruby_read_frame(l, bytes)) {
		lang_cut(l, LANG_STATE_UNREADABLE);
		return LANG_STEP_END;
	}
	is = ruby_push(l);
	if (is == LANG_STEP_FULL) {
		lang_cut(l, LANG_STATE_DEPTH);
		return LANG_STEP_END;
	}
	l->at += bytes;
	return is | (l->at < l->words[RB_LIMIT] ? LANG_STEP_ON : LANG_STEP_END);
}

LANG_STEPS(ruby, RB_STEPS)

WALK_FN int ruby_rounds(__u32 unused)
{
	int is = LANG_STEP_ON;

	for (int i = 0; i < LANG_ROUNDS / RB_STEPS && is == LANG_STEP_ON; i++) {
		is = ruby_steps(unused);
		if ((is & LANG_STEP_NAME) && !ruby_push_new(unused))
			return LANG_STEP_END;
		is &= ~LANG_STEP_NAME;
	}
	return is;
}

/*
 * Goes to the frame of the execution context that this word has. Returns false if the word has
 * something different.
 */
WALK_FN int ruby_context(__u64 word)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 ec, head[8] = { 0 },
		  end; /* vm_stack, vm_stack_size, cfp; thread_ptr: 6, or 7 with protect_tag (2.7) */

	if (!l)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	ec = lang_read64(word);
	if (!ec || bpf_probe_read_user(head, sizeof(head), (const void *)ec))
		return 0;
	end = head[0] + head[1] * 8;
	if (head[1] < RB_STACK_MIN || head[1] > RB_STACK_MAX || head[2] <= head[0] || head[2] >= end ||
	    head[2] & 7)
		return 0;
	if (lang_read64(head[6] + im->at[RB_THREAD_EC]) != ec &&
	    lang_read64(head[7] + im->at[RB_THREAD_EC]) != ec)
		return 0;
	l->at = head[2];
	l->words[RB_STACK] = head[0];
	l->words[RB_LIMIT] = end - im->at[RB_CFP_BYTES]; /* the last frame is of no method */
	l->words[RB_ENVS] = l->words[RB_LAST] = 0;
	return l->at < l->words[RB_LIMIT];
}

/* Finds the first word that may have the execution context; 0: the thread has none. */
static __always_inline __u64 ruby_words(const struct lang_walk *l, const struct lang_image *im)
{
	__u64 state = im->state + l->bias, thread, table, block;

	if (im->at[RB_EC] == RB_EC_GLOBAL)
		return state;
	thread = lang_thread_pointer();
	if (!thread)
		return 0;
	if (im->at[RB_EC] == RB_EC_BELOW)
		return thread - im->at[RB_TLS_FIRST];
	if (im->at[RB_EC] == RB_EC_OFFSET)
		return thread + lang_read64(state) + im->at[RB_TLS_FIRST];
	/*
	 * glibc: an array of {block, memory to free}; musl: one of blocks.
	 * The second word has its address.
	 */
	table = lang_read64(thread + 8);
	block = lang_read64(table + lang_read64(state) * (im->libc == LANG_MUSL ? 8 : 16));
	return block ? block + im->at[RB_TLS_FIRST] : 0;
}

static __always_inline int ruby_begin(const struct lang_walk *l, const struct lang_image *im)
{
	__u64 words = ruby_words(l, im);
	__u32 n = im->at[RB_EC] == RB_EC_GLOBAL ? 1 : im->at[RB_TLS_WORDS];

	if (!words)
		return 0;
	for (int i = 0; i < RB_TLS_WORDS_MOST && (__u32)i < n; i++) {
		if (ruby_context(words + i * 8))
			return 1;
	}
	return 0;
}

static __always_inline void ruby_walk(struct lang_walk *l)
{
	const struct lang_image *im = lang_image_of(l);

	if (!im || !ruby_begin(l, im))
		return;
	for (int i = 0; i < 4 * LANG_FRAMES / LANG_ROUNDS; i++) { /* C functions count, too */
		if (ruby_rounds(0) != LANG_STEP_ON)
			return;
	}
	lang_cut(l, LANG_STATE_DEPTH);
}

#endif
