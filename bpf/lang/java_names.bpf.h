/*
 * Reads which methods run at a place in code, and their names: Method, ConstMethod, ConstantPool, Symbol.
 * Compiled code has a table of places, and for each a chain of scopes, from the innermost inlined method to
 * the outermost.
 */
#ifndef CPROF_BPF_LANG_JAVA_NAMES_H
#define CPROF_BPF_LANG_JAVA_NAMES_H

#include "bpf/lang/java_maps.bpf.h"

/* A number that mixes the JVM into the sign of something that it owns. */
static __always_inline __u64 java_sign(const struct java_walk *j, __u64 value)
{
	return value ^ (__u64)j->p.generation << 40;
}

/* Copies the text of a Symbol, whose pointer is an entry of the pool. Returns its bytes; 0: unreadable. */
static __always_inline __u32 java_symbol(const struct java_layout *y, __u64 symbol, void *to, __u32 most)
{
	__u16 n = 0;

	symbol &= ~1ull;
	if (bpf_probe_read_user(&n, sizeof(n), (const void *)(symbol + y->at[JAVA_SYMBOL_LENGTH])))
		return 0;
	return lang_copy(to, symbol + y->at[JAVA_SYMBOL_BODY], n, most);
}

/* Returns the last bytes of a Symbol's text. They differ if another name has taken the address. */
static __always_inline __u64 java_symbol_end(const struct java_layout *y, __u64 symbol)
{
	__u64 bytes;
	__u16 n = 0;

	bpf_probe_read_user(&n, sizeof(n), (const void *)(symbol + y->at[JAVA_SYMBOL_LENGTH]));
	bytes = lang_read64(symbol + y->at[JAVA_SYMBOL_BODY] + (n > 8 ? n - 8 : 0));
	return n < 8 ? bytes & ((1ull << 8 * n) - 1) : bytes;
}

static __always_inline __u64 java_pool_entry(const struct java_layout *y, __u64 pool, __u32 index)
{
	return lang_read64(pool + y->at[JAVA_POOL_BYTES] + 8 * (__u64)(index & 0xffff));
}

/* The index of the source file's name in the pool; 0: none. */
static __always_inline __u32 java_source(const struct java_layout *y, __u64 pool, __u64 holder)
{
	__u64 at =
		y->at[JAVA_POOL_SOURCE] ? pool + y->at[JAVA_POOL_SOURCE] : holder + y->at[JAVA_KLASS_SOURCE];
	__u16 index = 0;

	bpf_probe_read_user(&index, sizeof(index), (const void *)at);
	return index;
}

/* Reads the line table: it follows the bytecodes, and something may follow it. */
static __always_inline void java_lines(struct lang_walk *l, const struct java_walk *j,
				       const struct java_layout *y)
{
	__u64 whole = 8 * (java_const64(j, y->at[JAVA_CONST_WORDS]) & 0xffffffff);
	__u64 before = (__u64)y->at[JAVA_CONST_BYTES] + j->code_bytes;

	if (!(java_const64(j, y->at[JAVA_CONST_FLAGS]) & 1) || whole <= before)
		return;
	l->out.table = lang_copy(l->out.lines, j->method_const + before, whole - before, JAVA_TABLE);
	if (l->out.table == 0 && whole - before >= 64) /* the end may be on a page that is not there */
		l->out.table = lang_copy(l->out.lines, j->method_const + before, 64, JAVA_TABLE);
}

/*
 * Reads and sends the names of the method that java_method has read. Returns its id; otherwise a state,
 * below 0.
 */
WALK_FN int java_name(WALK_ENV env, __u64 method, __u64 sign, __u64 holder, __u64 symbol)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	struct lang_walk *l = lang_walk_state();
	__u64 pool;
	__u32 id;

	if (!l || !j || !y)
		return 0;
	if (!lang_begin_function(l, LANG_JAVA))
		return -LANG_STATE_OVER_BUDGET;
	pool = java_const64(j, y->at[JAVA_CONST_POOL]);
	l->out.name_n = java_symbol(y, java_pool_entry(y, pool, java_const64(j, y->at[JAVA_CONST_NAME])),
				    l->out.name, LANG_NAME);
	l->out.class_n = java_symbol(y, symbol, l->out.class, LANG_NAME);
	if (!l->out.name_n || !l->out.class_n)
		return -LANG_STATE_UNREADABLE;
	id = java_source(y, pool, holder);
	if (id)
		l->out.path_n = java_symbol(y, java_pool_entry(y, pool, id), l->out.path, LANG_PATH);
	l->out.joint = '.';
	l->out.version = y->version;
	java_lines(l, j, y);
	id = lang_send_function(l, JAVA_KEY_METHOD, method, sign);
	return id ? (int)id : -LANG_STATE_OVER_BUDGET;
}

/* Returns the id of a method that java_method has read, or a state, below 0. */
static __always_inline int java_function(WALK_ENV env, const struct java_walk *j, const struct lang_walk *l,
					 const struct java_layout *y, __u64 method)
{
	__u64 holder, symbol, sign;
	__u32 id;

	holder = lang_read64(java_const64(j, y->at[JAVA_CONST_POOL]) + y->at[JAVA_POOL_HOLDER]);
	symbol = lang_read64(holder + y->at[JAVA_KLASS_NAME]);
	if (!symbol)
		return -LANG_STATE_UNREADABLE;
	/* A class of the same shape may use the addresses again. The indexes of its texts: three of 16 bits */
	sign = (j->method_const * 31 + symbol) * 31 + (java_const64(j, y->at[JAVA_CONST_NAME]) << 16);
	sign = java_sign(j, sign * 31 + java_symbol_end(y, symbol));
	id = lang_find_sent(l, JAVA_KEY_METHOD, method, sign);
	return id ? (int)id : java_name(env, method, sign, holder, symbol);
}

/* Decodes a number in UNSIGNED5, at an index of c->numbers. Returns it, and its bytes from bit 32 on. */
WALK_FN __u64 java_number(WALK_ENV env, __u32 at)
{
	const struct java_layout *y = java_layout(env);
	struct java_cpu *c = java_cpu();
	__u32 value = 0, n = 0, more;

	if (!c || !y)
		return 0;
	more = y->at[JAVA_U5_MORE] & 1;
	for (int i = 0; i < 5; i++) {
		__u32 byte = c->numbers[lang_mask(at + (__u32)i, JAVA_NUMBERS - 1)] - more;

		value += byte << 6 * i;
		n++;
		if (byte < 192)
			break;
	}
	return value | (__u64)n << 32;
}

/*
 * Reads the scope at c->scope: its bytecode, and the scope of its caller. Returns its method; 0:
 * unreadable.
 */
static __always_inline __u64 java_scope(WALK_ENV env, struct java_cpu *c)
{
	__u64 sender, method, bci;
	__u32 at;

	if (bpf_probe_read_user(c->numbers, JAVA_NUMBERS, (const void *)(c->scopes + c->scope)))
		return 0;
	sender = java_number(env, 0);
	at = sender >> 32;
	method = java_number(env, at);
	at += method >> 32;
	bci = java_number(env, at);
	if ((__u32)sender >= c->scope || (__u32)method == 0) /* callers are at lower offsets */
		return 0;
	c->scope = (__u32)sender;
	c->j.bci = (__u32)bci - 1 < JAVA_NO_BCI ? (__u32)bci - 1 : JAVA_NO_BCI;
	return lang_read64(c->metadata + 8 * ((method & 0xffffffff) - 1));
}

/*
 * Adds a method to the levels of the current frame: of the next scope if there is one, otherwise this method.
 * has_read: java_method has just read it. Returns true if there may be more scopes.
 */
WALK_FN int java_level(WALK_ENV env, __u64 method, __u32 has_read)
{
	const struct java_layout *y = java_layout(env);
	struct lang_walk *l = lang_walk_state();
	struct java_cpu *c = java_cpu();
	int id = -LANG_STATE_UNREADABLE;
	__u32 n;

	if (!c || !l || !y)
		return 0;
	n = c->levels;
	if (n >= JAVA_LEVELS)
		return 0;
	if (c->scope) {
		method = java_scope(env, c);
		c->broken = !method;
		if (!method)
			c->scope = 0;
	}
	if (method && (has_read || java_method(env, method)))
		id = java_function(env, &c->j, l, y, method);
	if (id < 0)
		c->state = -id;
	c->function = id > 0 ? id : 0;
	c->record.places[n].function = c->function;
	c->record.places[n].position = id > 0 ? c->j.bci : c->state;
	c->levels = n + 1;
	return c->scope != 0;
}

/* Returns the index of the first of n descriptions of places whose pc is at `offset` or above it. */
WALK_FN __u32 java_find_pc(WALK_ENV env, __u64 from, __u32 n, __s64 offset)
{
	__u32 first = 0;

	use_env(env);
	for (int i = 0; i < JAVA_HALVINGS && n; i++) {
		__u32 half = n / 2;
		__s32 pc = 0x7fffffff;
		__u64 below;

		bpf_probe_read_user(&pc, sizeof(pc),
				    (const void *)(from + JAVA_PC_DESC * (__u64)(first + half)));
		below = (__u64)(pc - offset) >> 63;
		walk_opaque(below);
		below = -below;
		first += (half + 1) & (__u32)below;
		n = half + (((n - half - 1) - half) & (__u32)below);
	}
	return first;
}

/*
 * Finds the innermost scope of the place j->pc in the code that was found last: sets c->scope, 0 if none.
 * Calls of methods have a description exactly at their return address. If there is none, the walk or a
 * read has failed: sets c->broken. near: takes the next description above, as HotSpot's own samples do.
 * Interrupted code needs this, as do calls of the runtime's leaf functions, which have no description.
 */
WALK_FN int java_debug(WALK_ENV env, __u32 near)
{
	const struct java_layout *y = java_layout(env);
	struct java_cpu *c = java_cpu();
	__u32 desc[2] = { 0, 0 }, n, at;
	__u64 base, pcs, end;
	__s64 offset;

	if (!c || !y)
		return 0;
	c->scope = 0;
	c->broken = !near;
	base = y->at[JAVA_DEBUG] == JAVA_DEBUG_IMMUTABLE ? java_blob64(&c->j, y, JAVA_NM_IMMUTABLE)
							 : c->j.blob;
	pcs = base + java_blob32(&c->j, y, JAVA_NM_PCS);
	c->scopes = y->at[JAVA_DEBUG] == JAVA_DEBUG_POINTER ? java_blob64(&c->j, y, JAVA_NM_SCOPES)
							    : base + java_blob32(&c->j, y, JAVA_NM_SCOPES);
	end = y->at[JAVA_DEBUG] == JAVA_DEBUG_IMMUTABLE ? c->scopes
							: base + java_blob32(&c->j, y, JAVA_NM_PCS_END);
	if (y->at[JAVA_METADATA] == JAVA_METADATA_MUTABLE)
		c->metadata = java_blob64(&c->j, y, JAVA_NM_METADATA_BASE) +
			      java_blob32(&c->j, y, JAVA_NM_METADATA);
	else if (y->at[JAVA_METADATA] == JAVA_METADATA_DATA)
		c->metadata = c->j.blob + java_blob32(&c->j, y, JAVA_NM_METADATA_BASE) +
			      (java_blob32(&c->j, y, JAVA_NM_METADATA) & 0xffff);
	else
		c->metadata = c->j.blob + java_blob32(&c->j, y, JAVA_NM_METADATA);
	if (end <= pcs || end - pcs >= JAVA_PC_DESC << JAVA_HALVINGS)
		return 0;
	n = (__u32)(end - pcs) / JAVA_PC_DESC;
	offset = (__s64)(c->j.pc - c->j.begin);
	at = java_find_pc(env, pcs, n, offset);
	if (at >= n ||
	    bpf_probe_read_user(desc, sizeof(desc), (const void *)(pcs + JAVA_PC_DESC * (__u64)at)))
		return 0;
	if (near || desc[0] == (__u32)offset) {
		c->scope = desc[1];
		c->broken = 0;
	}
	return 0;
}

#endif
