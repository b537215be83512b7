/*
 * The functions that walk_env.h declares, by BPF maps: those of sample.bpf.c, which shares them with user space
 * and with the other programs.
 *
 * WALK_ENV is the type of the argument that is passed from function to function: the context of a perf_event
 * program, unless the includer has defined another. Global functions do not accept the context of each kind
 * of program, nor, before Linux 5.12, any other pointer.
 *
 * Rows and mappings are arrays of one value of 1 MiB in an array of maps: one look-up, then plain
 * loads, four bytes a row (a BPF array rounds its values up to eight), filled by mmap.
 */
#ifndef CPROF_BPF_WALK_MAPS_H
#define CPROF_BPF_WALK_MAPS_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#ifndef WALK_ENV
#define WALK_ENV struct bpf_perf_event_data *
#endif
/* weak: the compiler assumes nothing about the callers and the result. */
#define WALK_FN __attribute__((noinline, weak))
#define WALK_INLINE __always_inline

#ifdef WALK_BY_VMA /* see bpf/mm/vma.bpf.h */
WALK_FN int vma_enter(WALK_ENV env, __u64 pc);
#define WALK_LIVE vma_enter
#endif

#include "bpf/spaces.h"
#include "common/walk/walk.h"

struct rows {
	__u32 items[UNWIND_SHARD_ROWS];
};

struct mappings {
	struct unwind_mapping items[UNWIND_SHARD_MAPPINGS];
};

struct rules {
	struct unwind_rule items[UNWIND_RULES];
};

struct pages {
	struct unwind_page items[UNWIND_PAGES];
};

struct files {
	struct unwind_file items[UNWIND_FILES];
};

#define ONE_VALUE(name, shape)                          \
	struct {                                        \
		__uint(type, BPF_MAP_TYPE_ARRAY);       \
		__uint(map_flags, BPF_F_MMAPABLE);      \
		__uint(max_entries, 1);                 \
		__type(key, __u32);                     \
		__type(value, struct shape);            \
	} name SEC(".maps")

#define SHARDS(name, shape)                                     \
	struct {                                                \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);       \
		__uint(max_entries, 1);                         \
		__uint(key_size, sizeof(__u32));                \
		__uint(value_size, sizeof(__u32));              \
		__array(values, struct {                        \
			__uint(type, BPF_MAP_TYPE_ARRAY);       \
			__uint(map_flags, BPF_F_MMAPABLE);      \
			__uint(max_entries, 1);                 \
			__uint(key_size, sizeof(__u32));        \
			__uint(value_size, sizeof(struct shape)); \
		});                                             \
	} name SEC(".maps")

ONE_VALUE(rules, rules);
ONE_VALUE(pages, pages);
ONE_VALUE(files, files);
SHARDS(row_shards, rows);
SHARDS(mapping_shards, mappings);

static __always_inline void *only_value(void *map)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(map, &zero);
}

static __always_inline void *shard_value(void *map, __u32 shard)
{
	void *inner = bpf_map_lookup_elem(map, &shard);

	return inner ? only_value(inner) : NULL;
}

/* Uses env, which global functions are called with: the compiler would not pass an unused argument. */
static __always_inline void use_env(WALK_ENV env)
{
	asm volatile("" : : "r"(env));
}

static __always_inline const __u32 *walk_rows(WALK_ENV env, __u32 shard)
{
	struct rows *r = shard_value(&row_shards, shard);

	use_env(env);
	return r ? r->items : NULL;
}

static __always_inline const struct unwind_mapping *walk_mappings(WALK_ENV env, __u32 shard)
{
	struct mappings *m = shard_value(&mapping_shards, shard);

	use_env(env);
	return m ? m->items : NULL;
}

static __always_inline const struct unwind_rule *walk_rules(WALK_ENV env)
{
	struct rules *r = only_value(&rules);

	use_env(env);
	return r ? r->items : NULL;
}

static __always_inline const struct unwind_page *walk_pages(WALK_ENV env)
{
	struct pages *p = only_value(&pages);

	use_env(env);
	return p ? p->items : NULL;
}

static __always_inline const struct unwind_file *walk_files(WALK_ENV env)
{
	struct files *f = only_value(&files);

	use_env(env);
	return f ? f->items : NULL;
}

/*
 * Counts a change of something that leads to rows, as store_changed does in user space. By an instruction
 * that all kernels have: since clang 21 the builtin always fetches the old value as well, which needs 5.12.
 */
static __always_inline void count_change(void)
{
	struct files *f = only_value(&files);
	__u32 one = 1;

	if (f)
		asm volatile("lock *(u32 *)(%0 + 0) += %1" : : "r"(&f->items[0].load), "r"(one) : "memory");
}

/*
 * A piece of the stack. It mostly holds several frames, and a call of the reading helper costs more than the
 * rest of a step: 190 ns a frame of 32 bytes became 75. There may be nothing after the end of a stack: then
 * the piece goes up to the end of the last page.
 */
enum { WINDOW = 1024, WINDOW_READ = 16, WALK_SLOWLY = -1, STACK_PAGE = 4096 };

struct window {
	__u64 at;
	__u64 n; /* 0: nothing was read */
	unsigned char bytes[WINDOW + WINDOW_READ]; /* the last WINDOW_READ are for the verifier */
};

static __always_inline struct window *walk_window(void);

static __always_inline int window_has(const struct window *w, __u64 from, __u64 n)
{
	return w->n >= n && from - w->at <= w->n - n;
}

/*
 * Returns the index in the window of the n bytes at `from`; -1: they cannot be read. One function, not code
 * at each read: at 99 Hz the code is not in the caches, and costs by its size.
 */
WALK_FN int walk_at(WALK_ENV env, __u64 from, __u64 n)
{
	__u32 rest = -(__u32)from & (STACK_PAGE - 1);
	struct window *w = walk_window();

	use_env(env);
	if (!w)
		return -1;
	if (!window_has(w, from, n)) {
		w->at = from;
		w->n = 0;
		if (bpf_probe_read_user(w->bytes, WINDOW, (const void *)from) == 0)
			w->n = WINDOW;
		else if (rest < WINDOW && bpf_probe_read_user(w->bytes, rest, (const void *)from) == 0)
			w->n = rest;
		if (w->n < n)
			return -1;
	}
	return (int)(from - w->at);
}

/* The part of a walk that most steps need, for the compiler to keep in registers. */
struct quick {
	__u64 ip, sp, bp;
	__u64 start, span, offset; /* the current mapping */
	__u32 load, at;
	__u8 exact, inner, bx_known;
};

static __always_inline struct quick quick_begin(const struct walk *w)
{
	return (struct quick){ w->regs[UNWIND_RIP], w->regs[UNWIND_RSP], w->regs[UNWIND_RBP], w->start,
			       w->end - w->start, w->offset, w->file.load, w->at, w->exact, w->inner, w->bx_known };
}

static __always_inline void quick_end(const struct quick *q, struct walk *w)
{
	w->regs[UNWIND_RIP] = q->ip;
	w->regs[UNWIND_RSP] = q->sp;
	w->regs[UNWIND_RBP] = q->bp;
	w->at = q->at;
	w->exact = q->exact;
	w->inner = q->inner;
	w->bx_known = q->bx_known;
}

/* Returns all bits for 1, and 0 for 0. By arithmetic: each branch doubles the verifier's work. */
static __always_inline __u64 mask_of(__u64 one)
{
	walk_opaque(one);
	return -one;
}

/*
 * Makes the most frequent steps without a call: the mapping is that of the last frame, the row is remembered,
 * and its rule needs rsp or rbp and a value saved beside the return address. Returns as walk_step;
 * WALK_SLOWLY: a different step, and only the window has changed.
 */
static __always_inline int quick_step(WALK_ENV env, struct quick *q, const struct unwind_memory *m, struct window *window)
{
	__u64 inside = q->ip - 1 + q->exact - q->start, cfa, low, ra_at, bp_at, bp_saved;
	const struct unwind_known *k;
	const struct unwind_rule *r;
	__u32 at = q->at;

	if (inside >= q->span)
		return WALK_SLOWLY;
	k = walk_known(m, q->load, q->offset + inside, q->exact, &at);
	if (!k)
		return WALK_SLOWLY;
	r = &k->rule;
	if (r->kind == UNWIND_STOP)
		return WALK_COMPLETE;
	if ((r->kind != UNWIND_CFA_RSP && r->kind != UNWIND_CFA_RBP) || r->reg || r->bp > UNWIND_AT_CFA || r->bx == UNWIND_AT_CFA)
		return WALK_SLOWLY;
	bp_saved = mask_of(r->bp);
	cfa = q->sp + ((q->bp - q->sp) & mask_of(r->kind - UNWIND_CFA_RSP)) + (__s64)r->cfa;
	low = cfa - 8 + (((__s64)r->bp_at + 8) & bp_saved);
	if (low < q->sp || low > cfa - 8 || (!window_has(window, low, cfa - low) && walk_at(env, low, cfa - low) < 0))
		return WALK_SLOWLY;
	ra_at = cfa - 8 - window->at;
	bp_at = low - window->at;
	if (ra_at >= WINDOW)
		return WALK_SLOWLY;
	walk_opaque(bp_at); /* otherwise clang 17 compares both by an OR, which the verifier cannot follow */
	if (bp_at >= WINDOW || !walk_is_code(*(__u64 *)(window->bytes + ra_at)))
		return WALK_SLOWLY;
	q->bp ^= (q->bp ^ *(__u64 *)(window->bytes + bp_at)) & bp_saved;
	q->ip = *(__u64 *)(window->bytes + ra_at);
	q->sp = cfa;
	q->at = at;
	q->exact = q->inner = 0;
	q->bx_known &= ~(r->bx / UNWIND_LOST); /* only SAME and LOST are left */
	return WALK_ON;
}

static __always_inline int walk_read(WALK_ENV env, void *to, __u32 n, __u64 from)
{
	struct window *w = walk_window();
	long at;

	if (!w || n > WINDOW_READ)
		return (int)bpf_probe_read_user(to, n, (const void *)from);
	at = walk_at(env, from, n);
	if (at < 0 || at >= WINDOW)
		return -1;
	*(__u64 *)to = *(__u64 *)(w->bytes + at);
	if (n == 16)
		*((__u64 *)to + 1) = *(__u64 *)(w->bytes + at + 8);
	return 0;
}

static __always_inline int walk_read_code(WALK_ENV env, __u64 *to, __u64 from)
{
	use_env(env);
	return (int)bpf_probe_read_user(to, sizeof(*to), (const void *)from);
}

#endif
