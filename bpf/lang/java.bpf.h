/*
 * Walks the frames of HotSpot, and marks each with its methods. The steps are in common/walk/java_walk.h.
 *
 * Names are read when a method is first met. So are the methods that the compiler has put into one another:
 * the chain of scopes is decoded once for each place in code, and sent as a record that the marks refer to.
 * Addresses are used again: a method is known by its ConstMethod, and by the address and the end of its
 * class's name, too; and code by its compile id, which a JVM uses once.
 */
#ifndef CPROF_BPF_LANG_JAVA_H
#define CPROF_BPF_LANG_JAVA_H

#include "bpf/lang/java_names.bpf.h"

static __always_inline struct java_known *java_slot(struct java_cpu *c, __u64 pc)
{
	return &c->known[((__u32)pc ^ (__u32)(pc >> 20)) * 0x9e3779b1u >> (32 - JAVA_KNOWN_BITS)];
}

static __always_inline int java_holds(const struct java_known *k, __u32 generation, __u64 pc)
{
	return k->pc == pc && k->generation == generation;
}

static __always_inline int java_is_known(WALK_ENV env, __u64 address)
{
	struct java_cpu *c = java_cpu();

	use_env(env);
	return c && java_holds(java_slot(c, address), c->j.p.generation, address);
}

/* Notes that the current frame runs a method, for the frame that comes next. */
static __always_inline void java_note_inner(struct java_cpu *c, const struct scratch *s)
{
	c->inner = s ? resumed_frame(s) + 1 : 0;
}

/* Marks the current frame. */
static __always_inline void java_mark(__u32 function, __u32 code, __u32 at)
{
	struct lang_walk *l = lang_walk_state();
	struct scratch *s = my_scratch();

	if (l && s)
		lang_mark_frame(l, resumed_frame(s), function, code, at & LANG_MARK_AT);
}

/*
 * Steps over a frame whose return address was met before, if its code has not been replaced. The address that
 * follows must be known too.
 */
WALK_FN int java_quick(WALK_ENV env)
{
	const struct java_layout *y = java_layout(env);
	struct walk *w = walk_state(env);
	struct java_cpu *c = java_cpu();
	const struct java_known *k;
	__u64 pair[2], cfa;
	__u32 id = 0;

	if (!w || !c || !y || w->exact)
		return JAVA_NEXT;
	k = java_slot(c, w->regs[UNWIND_RIP]);
	if (!java_holds(k, c->j.p.generation, w->regs[UNWIND_RIP]) ||
	    bpf_probe_read_user(&id, sizeof(id), (const void *)(k->blob + y->at[JAVA_NM_COMPILE_ID])) ||
	    id != k->compile_id)
		return JAVA_NEXT;
	cfa = w->regs[UNWIND_RSP] + k->size;
	if (walk_read(env, pair, sizeof(pair), cfa - 16))
		return JAVA_NEXT;
	if (!java_is_known(env, pair[1]) &&
	    !java_is_within(pair[1], c->j.p.interpreter, c->j.p.interpreter_end))
		return JAVA_NEXT;
	java_mark(k->function, k->code, 0);
	java_note_inner(c, my_scratch());
	w->regs[UNWIND_RIP] = pair[1];
	w->regs[UNWIND_RSP] = cfa;
	w->regs[UNWIND_RBP] = pair[0];
	w->inner = w->bx_known = 0;
	return WALK_ON;
}

static __always_inline struct java_known_method *java_method_slot(struct java_cpu *c, __u64 method)
{
	return &c->methods[(__u32)(method >> 3) * 0x9e3779b1u >> (32 - JAVA_METHODS_BITS)];
}

static __always_inline int java_recall_method(WALK_ENV env, __u64 method)
{
	const struct java_layout *y = java_layout(env);
	const struct java_known_method *k;
	struct java_cpu *c = java_cpu();
	struct scratch *s = my_scratch();

	if (!c || !y || !s)
		return 0;
	c->method = 0;
	k = java_method_slot(c, method);
	if (k->method != method || k->generation != c->j.p.generation || k->read != s->head.time ||
	    lang_read64(method + y->at[JAVA_METHOD_CONST]) != k->method_const)
		return 0;
	c->method = k->function;
	c->j.method_const = k->method_const;
	c->j.bytecodes = k->method_const + y->at[JAVA_CONST_BYTES];
	c->j.code_bytes = k->code_bytes;
	return 1;
}

static __always_inline int java_recall(WALK_ENV env)
{
	return java_quick(env);
}

static __always_inline __u32 java_tier(const struct java_walk *j, const struct java_layout *y)
{
	if (j->kind == JAVA_WRAPPER)
		return JAVA_TIER_NATIVE;
	if (j->kind != JAVA_COMPILED)
		return JAVA_TIER_STUB;
	return (java_blob64(j, y, JAVA_NM_LEVEL) & 0xff) == JAVA_C2 ? JAVA_TIER_OPTIMIZED
								    : JAVA_TIER_BASELINE;
}

/* Sends the record of the current frame, and remembers its ids. Returns its id; 0: the ring is full. */
WALK_FN int java_send(WALK_ENV env, __u32 kind, __u64 object, __u64 sign)
{
	const struct java_layout *y = java_layout(env);
	struct lang_walk *l = lang_walk_state();
	struct java_cpu *c = java_cpu();
	struct lang_key key;
	struct lang_known known = { sign, 0, 0 };
	__u32 n;

	if (!l || !c || !y)
		return 0;
	n = c->levels;
	if (n == 0 || n > JAVA_LEVELS)
		return 0;
	key = lang_key_of(l, kind, object);
	known.id = id_first + bpf_get_smp_processor_id() + (l->ids + 1) * id_step;
	known.more = c->function;
	if (known.id >> 31)
		return 0;
	c->record.language = LANG_JAVA | LANG_RECORD_CODE;
	c->record.pid = l->pid;
	c->record.id = known.id;
	c->record.tier = java_tier(&c->j, y);
	c->record.n = n * sizeof(struct lang_place);
	if (bpf_ringbuf_output(&lang_ring, &c->record,
			       __builtin_offsetof(struct java_record, places) + n * sizeof(struct lang_place),
			       BPF_RB_NO_WAKEUP))
		return 0;
	l->ids++;
	if (!c->state) /* otherwise it is read again next time */
		bpf_map_update_elem(&lang_functions, &key, &known, BPF_ANY);
	return (int)known.id;
}

/* Has this record been sent? Then c->code and c->function are its ids. */
static __always_inline int java_has_sent(struct java_cpu *c, const struct lang_walk *l, __u32 kind,
					 __u64 object, __u64 sign)
{
	struct lang_key key = lang_key_of(l, kind, object);
	const struct lang_known *known = bpf_map_lookup_elem(&lang_functions, &key);

	if (!known || known->sign != sign)
		return 0;
	c->code = known->id;
	c->function = known->more;
	return 1;
}

/* Notes a return address in compiled code for java_quick. */
static __always_inline void java_remember(struct java_cpu *c, __u64 pc)
{
	struct java_known *k = java_slot(c, pc);

	k->pc = pc;
	k->blob = c->j.blob;
	k->generation = c->j.p.generation;
	k->compile_id = c->j.compile_id;
	k->function = c->function;
	k->code = c->code;
	k->size = c->j.frame_size;
}

/* Reads and sends the name of a stub as a function without a class. Returns its id, or a state, below 0. */
WALK_FN int java_stub_name(WALK_ENV env, __u64 object, __u64 sign)
{
	struct java_walk *j = java_state(env);
	struct lang_walk *l = lang_walk_state();
	long n = 0;
	__u32 id;

	if (!l || !j)
		return 0;
	if (!lang_begin_function(l, LANG_JAVA))
		return -LANG_STATE_OVER_BUDGET;
	if (j->kind == JAVA_FROZEN) {
		__builtin_memcpy(l->out.name, JAVA_FROZEN_NAME, sizeof(JAVA_FROZEN_NAME));
		n = sizeof(JAVA_FROZEN_NAME);
	} else {
		n = bpf_probe_read_user_str(l->out.name, LANG_NAME, (const void *)j->name);
	}
	if (n <= 1)
		return -LANG_STATE_UNREADABLE;
	l->out.name_n = n - 1;
	l->out.flags = LANG_FLAG_BUILTIN;
	id = lang_send_function(l, JAVA_KEY_STUB_NAME, object, sign);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

/* A level of its own stands for the methods that have no room. Only the outermost one is still known. */
static __always_inline void java_note_cut(struct java_cpu *c)
{
	c->record.places[JAVA_LEVELS - 2].function = 0;
	c->record.places[JAVA_LEVELS - 2].position = LANG_STATE_DEPTH;
	c->levels = JAVA_LEVELS - 1;
	c->scope = 0;
	c->broken = 1;
}

/* Reads the methods at a place in compiled code, and sends them. near: see java_debug. */
static __always_inline void java_note_code(WALK_ENV env, struct java_cpu *c, const struct java_layout *y,
					   __u32 near)
{
	c->broken = !c->j.pc; /* unknown in a deoptimized frame */
	if (c->j.pc && c->j.kind == JAVA_COMPILED)
		java_debug(env, near);
	if (c->broken) /* which methods are inlined is unknown: a level of its own */
		java_level(env, 0, 0);
	for (int i = 0; i < JAVA_LEVELS && c->scope; i++)
		java_level(env, 0, 0);
	if (c->scope)
		java_note_cut(c);
	c->j.bci = JAVA_NO_BCI; /* that of the last scope */
	if (c->broken || !c->levels)
		java_level(env, java_blob64(&c->j, y, JAVA_NM_METHOD), 0);
	c->code = java_send(env, JAVA_KEY_CODE, c->j.pc, java_sign(&c->j, c->j.compile_id));
}

/* Finds or sends what a stub is called. */
static __always_inline void java_note_stub(WALK_ENV env, struct java_cpu *c, const struct lang_walk *l)
{
	__u64 object = c->j.kind == JAVA_FROZEN ? c->j.p.barrier : c->j.blob;
	__u64 sign = java_sign(&c->j, c->j.kind == JAVA_FROZEN ? 0 : c->j.name);
	int id;

	if (java_has_sent(c, l, JAVA_KEY_STUB, object, sign))
		return;
	id = java_stub_name(env, object, sign);
	if (id <= 0) {
		c->state = -id;
		return;
	}
	c->function = id;
	c->record.places[0].function = id;
	c->record.places[0].position = JAVA_NO_BCI;
	c->levels = 1;
	c->code = java_send(env, JAVA_KEY_STUB, object, sign);
}

static __always_inline void java_note_method(WALK_ENV env, struct java_cpu *c)
{
	struct java_known_method *k = java_method_slot(c, c->j.method);
	struct scratch *s = my_scratch();

	c->function = c->method;
	if (!c->function) {
		java_level(env, c->j.method, 1);
		k->method = c->j.method;
		k->method_const = c->j.method_const;
		k->read = s ? s->head.time : 0;
		k->generation = c->function ? c->j.p.generation : 0;
		k->function = c->function;
		k->code_bytes = c->j.code_bytes;
	}
	java_mark(c->function, c->function ? 0 : c->state, c->j.bci);
}

/* Marks the current frame with the methods that run in it. */
WALK_FN int java_note(WALK_ENV env, __u64 pc)
{
	const struct java_layout *y = java_layout(env);
	struct lang_walk *l = lang_walk_state();
	struct walk *w = walk_state(env);
	struct java_cpu *c = java_cpu();
	struct scratch *s = my_scratch();
	__u32 near;

	if (!l || !c || !y || !w || !s)
		return 0;
	c->levels = c->state = c->scope = c->function = c->code = c->broken = 0;
	c->settled = 0;
	near = w->exact || c->inner != resumed_frame(s);
	c->inner = 0;
	if (c->j.kind == JAVA_INTERPRETED && c->j.method) {
		java_note_inner(c, s);
		java_note_method(env, c);
		return 0;
	}
	if (c->j.kind == JAVA_INTERPRETED && java_find(env, pc) == JAVA_NOTHING)
		return 0;
	if (c->j.kind == JAVA_COMPILED || c->j.kind == JAVA_WRAPPER) {
		if (!java_has_sent(c, l, JAVA_KEY_CODE, c->j.pc, java_sign(&c->j, c->j.compile_id)))
			java_note_code(env, c, y, near);
		java_note_inner(c, s);
		if (!w->exact && !c->state && c->code && c->j.pc == w->regs[UNWIND_RIP])
			c->settled = c->j.pc;
	} else {
		java_note_stub(env, c, l);
	}
	java_mark(c->function, c->function ? c->code : c->state, c->code ? 0 : JAVA_NO_BCI);
	return 0;
}

static __always_inline void java_seen(WALK_ENV env, __u64 pc)
{
	java_note(env, pc);
}

/* The blob is another one if the next address had to be looked up. */
static __always_inline void java_settled(WALK_ENV env)
{
	struct java_cpu *c = java_cpu();

	use_env(env);
	if (c && java_is_within(c->settled - 1, c->j.begin, c->j.end))
		java_remember(c, c->settled);
}

static __always_inline void java_walk(struct lang_walk *l, struct scratch *s)
{
	struct java_process *p = bpf_map_lookup_elem(&java_procs, &l->pid);
	struct java_cpu *c = java_cpu();

	if (!c)
		return;
	c->j.span = c->inner = 0;
	if (p) {
		c->j.p = *p;
		java_begin(&c->j);
	}
	resume_walk(0, s);
}

#endif
