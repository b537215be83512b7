/*
 * Names the frames of V8 (Node.js), whose frames are machine frames with a frame pointer.
 *
 * The walk calls javascript_frame at each step by frame pointer, which notes the slots of the frame. After
 * the walk, each noted frame gets its function, and the position in it: javascript_function.bpf.h and
 * javascript_code.bpf.h. So the walk's chain of calls stays short, and user space can finish a stack: its
 * marks are by frame pointer.
 *
 * Define WALK_LANG_FRAME and WALK_LANG_STEP as below before percpu.bpf.h or event_ring.bpf.h.
 */
#ifndef CPROF_BPF_LANG_JAVASCRIPT_H
#define CPROF_BPF_LANG_JAVASCRIPT_H

#include "bpf/lang/javascript_code.bpf.h"
#include "bpf/lang/resume.bpf.h"

enum {
	JS_FRAME_BELOW = 40, /* bytes of a frame that are read below its frame pointer ... */
	JS_FRAME_READ = 56,  /* ... and in all */
	JS_CHAIN_SPAN = 8 << 20,
	JS_PROLOGUE = 56, /* the frame is set up within so many bytes of code */
	JS_REG_FUNCTION = 5, /* rdi, by DWARF number */
};

/* Returns the slot of a frame that `below` bytes below its frame pointer has. */
static __always_inline __u64 js_slot(const struct window *w, __u32 at, __u32 below)
{
	return *(const __u64 *)(w->bytes + ((at + JS_FRAME_BELOW - below) & (WINDOW - 1)));
}

/* Returns flags of code without a function: its frame has a type in place of a context. */
static __always_inline __u32 js_special(const struct lang_image *im, __u64 context)
{
	if (context == 2 * (__u64)im->at[JS_MARKER_WASM])
		return JS_WASM;
	return context == 2 * (__u64)im->at[JS_MARKER_REGEXP] ? JS_REGEXP : 0;
}

/* Notes the frame at fp if it can be one of a function. key: as in struct lang_mark, with flags. */
static __always_inline void js_note_frame(WALK_ENV env, struct scratch *s, const struct lang_image *im, __u64 fp,
					  __u64 pc, __u32 key, __u32 flags)
{
	struct js_state *js = js_state();
	int at = walk_at(env, fp - JS_FRAME_BELOW, JS_FRAME_READ);
	struct js_note *note;
	__u64 context;

	if (!js || at < 0 || at > WINDOW - JS_FRAME_READ || js->n >= JS_NOTES)
		return;
	note = &js->notes[lang_mask(js->n, JS_NOTES - 1)];
	note->function = js_slot(&s->window, at, im->at[JS_FRAME_FUNCTION]);
	context = js_slot(&s->window, at, im->at[JS_FRAME_CONTEXT]);
	if (context && (flags & JS_IN_MEMORY))
		flags |= js_special(im, context);
	if (!(flags & (JS_WASM | JS_REGEXP)) && (!js_is_pointer(context) || !js_is_pointer(note->function)))
		return;
	note->array = js_slot(&s->window, at, im->at[JS_FRAME_BYTECODE]);
	note->offset = js_slot(&s->window, at, im->at[JS_FRAME_OFFSET]);
	note->pc = pc;
	note->key = key;
	note->flags = flags;
	js->n++;
}

/* Is the pc in memory that no file has? The walk has entered its mapping. */
static __always_inline int js_is_memory(const struct walk *w, __u64 pc)
{
	return w->file_at == 0 && pc >= w->start && pc < w->end;
}

/*
 * Returns the bytes of stack below the return address, before the frame is made or after it is gone; -1:
 * there is a frame.
 */
WALK_FN int js_without_frame(__u64 start, __u64 pc)
{
	struct js_state *js = js_state();
	__u64 offset = pc - start, first = 0;
	__u8 byte = 0;

	if (!js)
		return -1;
	if (offset < JS_PROLOGUE &&
	    bpf_probe_read_user(js->chunk, JS_PROLOGUE + 4, (const void *)start) == 0) {
		for (__u32 i = 0; i < JS_PROLOGUE; i++) /* push %rbp; mov %rsp,%rbp */
			first |= js_is_zero(*(__u32 *)(js->chunk + i) ^ 0xe5894855u) << i;
		first &= -first;
		if (first << 4 > 1ull << offset)
			return first << 1 == 1ull << offset ? 8 : 0;
	}
	bpf_probe_read_user(&byte, sizeof(byte), (const void *)pc);
	return byte == 0xc3 || byte == 0xc2 ? 0 : -1; /* ret */
}

/* The step of a leaf in memory that no file has. */
static __always_inline int js_step_leaf(WALK_ENV env, struct scratch *s, struct js_state *js, __u64 pc)
{
	struct js_note *note;
	__u64 caller, sp;
	int below;

	if (js->n >= JS_NOTES || !js_search(pc))
		return WALK_FOUND;
	below = js_without_frame(js->start, pc);
	sp = s->walk.regs[UNWIND_RSP] + below;
	if (below < 0 || walk_read(env, &caller, sizeof(caller), sp) || walk_is_call(env, caller) != 1)
		return WALK_FOUND;
	note = &js->notes[lang_mask(js->n++, JS_NOTES - 1)];
	note->function = s->walk.regs[JS_REG_FUNCTION];
	note->array = js_own_shared(0);
	note->offset = 0;
	note->pc = pc;
	note->key = resumed_frame(s);
	note->flags = JS_IN_MEMORY | JS_NO_FRAME;
	s->walk.regs[UNWIND_RIP] = caller;
	s->walk.regs[UNWIND_RSP] = sp + 8;
	s->walk.exact = s->walk.inner = s->walk.bx_known = 0;
	return WALK_ON;
}

/*
 * Goes up from a function whose frame is not made yet, or is gone. WALK_FOUND: there is a frame, or the code
 * is not compiled JavaScript. Until the frame is made, rdi is the function.
 */
WALK_FN int javascript_step(WALK_ENV env, __u64 pc)
{
	struct js_state *js = js_state();
	struct scratch *s = my_scratch();

	if (!s || !js || !s->walk.exact)
		return WALK_FOUND;
	if ((pc < s->walk.start || pc >= s->walk.end) && walk_enter(env, pc) != WALK_ON)
		return WALK_FOUND;
	return s->walk.file_at ? WALK_FOUND : js_step_leaf(env, s, js, pc);
}

/* A step by a rule that was found in the code may turn out to be one by frame pointer. */
static __always_inline int js_is_noted(__u32 key)
{
	struct js_state *js = js_state();

	return js && js->n && js->notes[lang_mask(js->n - 1, JS_NOTES - 1)].key == key;
}

/* Before a step by frame pointer. A function, because walk.h calls it in functions that are small. */
WALK_FN int javascript_frame(WALK_ENV env)
{
	struct lang_walk *l = lang_walk_state();
	struct scratch *s = my_scratch();
	const struct lang_image *im;
	__u64 fp, pc;

	use_env(env);
	if (!l || !s)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	if (js_is_noted(resumed_frame(s)))
		return 0;
	fp = s->walk.regs[UNWIND_RBP];
	pc = s->walk.regs[UNWIND_RIP] - !s->walk.exact;
	if (s->walk.exact && fp - im->at[JS_FRAME_FUNCTION] < s->walk.regs[UNWIND_RSP])
		return 0; /* the frame is half made */
	js_note_frame(env, s, im, fp, pc, resumed_frame(s),
		      (js_is_memory(&s->walk, pc) ? JS_IN_MEMORY : 0) | (s->walk.exact ? JS_EXACT : 0));
	return 0;
}

/* Is the pc in memory that no file has, or in a mapping that is not known yet? */
static __always_inline int js_may_be_code(WALK_ENV env, const struct walk *w, __u64 pc)
{
	return walk_enter(env, pc) != WALK_ON || w->file_at == 0;
}

/*
 * Follows frame pointers from the state on, where user space finishes the walk. Code without frame pointers
 * keeps rbp, so the chain passes it; then the first frame's pc is not in that frame's code.
 */
WALK_FN int javascript_chain(WALK_ENV env)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	struct scratch *s = my_scratch();
	const struct lang_image *im;
	__u64 pair[2], fp;

	use_env(env);
	if (!l || !s || !js)
		return 0;
	im = lang_image_of(l);
	fp = js->fp;
	if (!im || (fp & 7) || walk_read(env, pair, sizeof(pair), fp))
		return 0;
	js_note_frame(env, s, im, fp, js->pc, (__u32)fp,
		      JS_BY_FP | (js_may_be_code(env, &s->walk, js->pc) ? JS_IN_MEMORY : 0));
	js->pc = pair[1] - 1;
	js->fp = pair[0];
	return pair[0] > fp && pair[0] - fp < JS_CHAIN_SPAN;
}

WALK_FN int javascript_chains(WALK_ENV env)
{
	int more = 1;

	for (int i = 0; i < LANG_ROUNDS && more; i++)
		more = javascript_chain(env);
	return more;
}

static __always_inline void js_chain(WALK_ENV env, struct js_state *js, const struct scratch *s)
{
	js->fp = s->walk.regs[UNWIND_RBP];
	js->pc = s->walk.regs[UNWIND_RIP] - !s->walk.exact;
	if (js->fp < s->walk.regs[UNWIND_RSP] || js->fp - s->walk.regs[UNWIND_RSP] >= JS_CHAIN_SPAN)
		return;
	for (int i = 0; i < JS_NOTES / LANG_ROUNDS && javascript_chains(env); i++)
		;
}

/* Returns the end of the call that is to return to this exit of optimized code; 0: not known. */
static __always_inline __u64 js_exit_from(struct js_state *js, __u64 exit)
{
	return js_find_code(exit) || js->sign ? js_exit_call(exit) : 0;
}

/* Finds the position of a frame's instruction: in js->code_id and js->position. */
static __always_inline void js_find_position(struct lang_walk *l, struct js_state *js, const struct lang_image *im,
					     const struct js_note *note)
{
	__u32 exact = note->flags & (JS_EXACT | JS_NO_FRAME);
	__u64 pc = note->pc;

	js->code_id = 0;
	js->position = LANG_MARK_AT;
	if ((note->flags & JS_IN_MEMORY) && js_is_exit(pc + !exact, exact)) {
		pc = js_exit_from(js, pc + !exact);
		if (!pc)
			return;
		pc--;
	}
	if (note->flags & JS_IN_MEMORY)
		js->code_id = js_code(js, pc);
	if (!js->code_id && !(note->flags & JS_NO_FRAME) && js_is_pointer(note->array) && !(__u32)note->offset)
		js->code_id = js_bytecode(l, js, im, note->array, js_small(note->offset));
	if (!js->code_id)
		js->position = LANG_MARK_AT;
}

/* Appends the mark of the next noted frame. Returns false after the last, or if there is no room. */
WALK_FN int javascript_mark(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	struct js_state *js = js_state();
	const struct lang_image *im;
	const struct js_note *note;
	__u32 by_fp, key;
	int id;

	if (!l || !js || unused || js->marked >= js->n)
		return 0;
	im = lang_image_of(l);
	if (!im)
		return 0;
	note = &js->notes[lang_mask(js->marked++, JS_NOTES - 1)];
	by_fp = note->flags & JS_BY_FP ? LANG_MARK_FP : 0;
	key = note->key;
	if (note->flags & (JS_WASM | JS_REGEXP)) {
		id = js_describe_special(note->flags & JS_WASM);
		return id <= 0 || lang_mark_frame(l, key, id, 0, LANG_MARK_AT | LANG_MARK_STAYS | by_fp);
	}
	id = note->flags & JS_NO_FRAME && note->array ? js_shared(note->array, 0) : js_function_of(l, im, note->function);
	if (id == 0 || (id == -LANG_STATE_UNREADABLE && by_fp))
		return 1;
	if (id < 0)
		return lang_mark_frame(l, key, 0, -id, by_fp);
	js->function = id;
	js_find_position(l, js, im, note);
	return lang_mark_frame(l, key, id, js->code_id, (js->position & LANG_MARK_AT) | by_fp);
}

static __always_inline void javascript_walk(struct lang_walk *l, WALK_ENV env, struct scratch *s)
{
	struct js_state *js = js_state();

	(void)l;
	if (!js)
		return;
	js->n = js->marked = js->codes = js->chunks = 0;
	resume_walk(env, s);
	if (s->head.deferred)
		js_chain(env, js, s);
	for (__u32 i = 0; i < JS_NOTES && javascript_mark(0); i++)
		;
}

LANG_PROGRAM(javascript, 0, s)

char LICENSE[] SEC("license") = "GPL";

#endif
