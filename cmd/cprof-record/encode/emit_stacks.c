#include "cmd/cprof-record/encode/emit_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"

enum { CALLERS = 1024, CALLERS_MOST = 125 }; /* an entry has 1 KiB */

/* Caches the callers of a leaf and their node in the tree. */
struct callers {
	uint64_t process;
	uint32_t node, n; /* node 0: the entry is empty */
	enum root root;
	uint64_t addresses[CALLERS_MOST];
};

bool stacks_init(struct stacks *st)
{
	st->callers = calloc(CALLERS, sizeof(*st->callers));
	return calltree_init(&st->tree) && st->callers;
}

void stacks_release(struct stacks *st)
{
	calltree_release(&st->tree);
	free(st->callers);
}

static void forget_callers(struct stacks *st)
{
	for (size_t i = 0; i < CALLERS; i++)
		st->callers[i].node = 0;
}

void stacks_restart(struct stacks *st)
{
	calltree_clear(&st->tree);
	forget_callers(st);
}

bool stacks_forget_kernel(struct stacks *st, uint64_t start, uint64_t length)
{
	if (!calltree_forget_kernel(&st->tree, start, length))
		return false;
	forget_callers(st);
	return true;
}

/* Returns frame number i; 0 is the leaf. */
static struct calltree_frame frame_at(const struct stacks *st, const uint64_t *address, int i,
				      uint64_t process)
{
	bool exact = i == 0 || (process && (address[i] & SAMPLE_EXACT));

	if (process && (address[i] & STACK_LANG))
		return (struct calltree_frame){
			script_functions_at(&st->runtimes->functions, address[i] & ~STACK_LANG),
			process, STACK_FRAME_LANG };
	return (struct calltree_frame){ process ? address[i] & ~SAMPLE_EXACT : address[i], process,
					exact ? FRAME_EXACT : FRAME_RETURN };
}

/* Returns the cache entry for the callers of a leaf. */
static struct callers *callers_of(const struct stacks *st, const uint64_t *callers, size_t n,
				  uint64_t process)
{
	return &st->callers[(hash_bytes(callers, n * sizeof(*callers)) + process) % CALLERS];
}

static bool is_recent(const struct callers *r, const uint64_t *callers, size_t n, uint64_t process,
		      enum root root)
{
	return r->node && r->n == n && r->process == process && r->root == root &&
	       memcmp(r->addresses, callers, n * sizeof(*callers)) == 0;
}

/* Returns the node of all frames but the leaf; 0: out of memory. */
static uint32_t walk_callers(struct stacks *st, const uint64_t *address, int n, uint64_t process,
			     enum root root)
{
	uint32_t node = root;

	for (int i = n; i-- > 1;) {
		struct calltree_frame f = frame_at(st, address, i, process);

		node = calltree_child(&st->tree, node, &f);
		if (node == 0)
			return 0;
	}
	return node;
}

/* The same, by a cache. Most callers came recently: comparing all costs less than finding one in the tree. */
static uint32_t find_callers(struct stacks *st, const uint64_t *address, int n, uint64_t process,
			     enum root root)
{
	size_t others = (size_t)n - 1;
	struct callers *r;

	if (others == 0 || others > CALLERS_MOST)
		return n == 1 ? root : walk_callers(st, address, n, process, root);
	r = callers_of(st, address + 1, others, process);
	if (is_recent(r, address + 1, others, process, root))
		return r->node;
	r->node = walk_callers(st, address, n, process, root);
	r->n = (uint32_t)others;
	r->process = process;
	r->root = root;
	memcpy(r->addresses, address + 1, others * sizeof(*address));
	return r->node;
}

/* Returns the node of the leaf; 0: out of memory. Addresses are leaf first, and at least one. */
static uint32_t find_leaf(struct stacks *st, const uint64_t *address, int n, uint64_t process, enum root root)
{
	struct calltree_frame leaf = frame_at(st, address, 0, process);
	uint32_t node = find_callers(st, address, n, process, root);

	return node || n == 1 ? calltree_child(&st->tree, node, &leaf) : 0;
}

/*
 * Counts the frames from the leaf on that can be right. A chain of frame pointers that meets code without
 * them ends in some number, and anything after it is chance. A number is not a return address if no code is
 * mapped there; this is tested only if all mappings are known.
 */
static int count_sound(const struct stacks *st, const uint64_t *address, int n, const struct proc *p)
{
	const struct map *m = NULL;
	bool known = proc_is_whole(p, st->procs->lost) && maps_from(&p->maps, 0);

	for (int i = 1; i < n; i++) {
		uint64_t at = address[i] - 1;

		if (address[i] < 4096 || at >> 56)
			return i;
		if (known && (!m || at < m->start || at >= m->end) && !(m = maps_find(&p->maps, at)))
			return i;
	}
	return n;
}

/*
 * Inside execve(2) the image is already the new one, while the registers are still those of the old one's
 * call: that stack belongs to neither. Without kernel stacks, a sample does not show that it is of the
 * kernel, but code of the image itself has a mapping, unless the recorder does not know all.
 */
static bool is_in_exec(const struct stacks *st, const struct sample_head *s, uint64_t leaf,
		       const struct proc *p)
{
	bool in_kernel = st->options->user_only ? proc_is_whole(p, st->procs->lost) : s->kernel_n > 0;

	return p->via == VIA_EXEC && in_kernel && !maps_find(&p->maps, leaf);
}

/* EFAULT is the kernel's word for "no such stack"; any other error is a failure. */
static bool has_failed(short n)
{
	return n < 0 && n != -EFAULT;
}

static bool is_without_user(struct stacks *st, const struct sample_head *s)
{
	return kernel_frames_no_user(&st->frames, (const void *)(s + 1), s->kernel_n);
}

/* Returns why there is no user stack. The kernel reports its absence, but for a sleeper it was not asked. */
static enum root no_user_stack(struct stacks *st, const struct sample_head *s, const struct proc *p)
{
	if (has_failed(s->user_n))
		return ROOT_FAILED;
	if (st->options->kernel_only)
		return ROOT_NOT_ASKED;
	if (p->kernel || (s->user_n == 0 && s->what != SAMPLE_STACK) || is_without_user(st, s))
		return ROOT_KTHREAD;
	return ROOT_NO_REGS;
}

/* Adds the frames of an interpreted language, which are at the end of the sample. */
static void add_languages(const struct stacks *st, const struct sample_head *s, const struct proc *p,
			  struct user_stack *out)
{
	const uint8_t *at = (const void *)((const uint64_t *)(s + 1) +
					   (s->kernel_n > 0 ? s->kernel_n : 0) +
					   (s->user_n > 0 ? s->user_n : 0));

	if (!st->runtimes || out->n == 0)
		return;
	if (s->has_state)
		at += sizeof(struct sample_state) + ((s->stack_n + 7) & -8u);
	runtimes_merge(st->runtimes, p, (const void *)at, s->lang_n, s->time, out);
}

/* Takes a stack walked by tables, which says itself how it ended. */
static enum stack_state take_by_table(struct stacks *st, const struct sample_head *s, struct proc *p,
				      struct user_stack *out)
{
	uint64_t leaf = out->addresses[0] & ~SAMPLE_EXACT;

	if (leaf == 0 || is_in_exec(st, s, leaf, p)) { /* a worker's registers are zeros */
		out->n = 0;
		out->end = ROOT_KTHREAD;
	} else if (!user_walk_finish(st->user_walk, p, s, out)) {
		return STACK_WAITS;
	}
	if (out->end < 0 || out->end >= ROOTS)
		out->end = ROOT_FAILED;
	if (out->n == 1 && out->end == ROOT_UNREADABLE && is_without_user(st, s))
		out->end = ROOT_KTHREAD;
	add_languages(st, s, p, out);
	return STACK_READY;
}

static void take_by_fp(struct stacks *st, const struct sample_head *s, const struct proc *p,
		       struct user_stack *out)
{
	bool in_exec = out->n > 0 && is_in_exec(st, s, out->addresses[0], p);
	int n = in_exec ? 0 : out->n;

	out->n = n > 0 ? count_sound(st, out->addresses, n, p) : 0;
	/* A worker's registers are zeros; older kernels make a frame of them. */
	if (in_exec || (n > 0 && out->addresses[0] == 0))
		out->end = ROOT_KTHREAD;
	else if (n <= 0)
		out->end = no_user_stack(st, s, p);
	else if (out->n < n)
		out->end = ROOT_BROKEN;
	else if (n == 1 && is_without_user(st, s))
		out->end = ROOT_KTHREAD;
	else if ((unsigned int)n >= st->options->chain_depth)
		out->end = ROOT_DEPTH;
	else /* one frame is no chain: the code does not keep frame pointers */
		out->end = n == 1 ? ROOT_BROKEN : ROOT_FP_END;
}

static bool is_raw_hit(const struct stacks *st, const struct sample_head *s)
{
	return s->what == SAMPLE_EVENT && s->event < st->options->n_events &&
	       st->options->events[s->event].raw;
}

static void take_kernel(struct stacks *st, const struct sample_head *s, const uint64_t *address,
			struct stack *out)
{
	const struct options *o = st->options;
	int asked = (int)(is_raw_hit(st, s) ? o->hit_depth : o->chain_depth), skip = 0,
	    n = s->kernel_n > 0 ? s->kernel_n : 0;

	if (s->what == SAMPLE_STACK && n > 0)
		skip = s->event == STACK_OF_WAKER  ? kernel_frames_hit(&st->frames, address, n) :
		       s->event == STACK_OF_RETURN ? kernel_frames_returning(&st->frames, address, n) :
				  kernel_frames_leaving(&st->frames, address, n, st->engine->exact_waits);
	else if (is_raw_hit(st, s))
		skip = kernel_frames_hit(&st->frames, address, n);
	out->kernel = address + skip;
	out->kernel_n = n - skip < (int)o->chain_depth ? n - skip : (int)o->chain_depth;
	if (n > 0)
		out->kernel_end = n >= asked || n - skip >= (int)o->chain_depth ? ROOT_DEPTH : ROOT_COMPLETE;
	else
		out->kernel_end = st->options->user_only ? ROOT_NOT_ASKED :
				  has_failed(s->kernel_n) ? ROOT_FAILED : ROOT_COMPLETE;
}

enum stack_state stacks_take(struct stacks *st, const struct sample_head *s, struct proc *p, uint64_t *room,
			     struct stack *out)
{
	const uint64_t *address = (const void *)(s + 1);
	int n = s->user_n < SAMPLE_DEPTH_MAX ? s->user_n : SAMPLE_DEPTH_MAX;

	take_kernel(st, s, address, out);
	out->user = (struct user_stack){ room, n, s->user_end, SAMPLE_DEPTH_MAX, st->fps };
	if (n > 0)
		memcpy(room, address + (s->kernel_n > 0 ? s->kernel_n : 0), (size_t)n * sizeof(*room));
	if (s->user_by == SAMPLE_BY_TABLE && n > 0)
		return take_by_table(st, s, p, &out->user);
	take_by_fp(st, s, p, &out->user);
	return STACK_READY;
}

static bool find_half(struct stacks *st, const uint64_t *address, int n, uint64_t process, enum root end,
		      uint64_t *out)
{
	*out = n > 0 ? find_leaf(st, address, n, process, end) : end;
	return n <= 0 || *out >= NODE_FIRST;
}

static bool add_label(struct stacks *st, const struct proc *p, uint32_t label, uint64_t *node)
{
	struct calltree_frame f = { STACK_LABELS + label, p->id, STACK_FRAME_LABEL };

	*node = calltree_child(&st->tree, (uint32_t)*node, &f);
	return *node >= NODE_FIRST;
}

bool stacks_nodes(struct stacks *st, const struct proc *p, const struct stack *stack, uint64_t *user,
		  uint64_t *kernel)
{
	return find_half(st, stack->user.addresses, stack->user.n, p->id, (enum root)stack->user.end, user) &&
	       (!stack->label || add_label(st, p, stack->label, user)) &&
	       find_half(st, stack->kernel, stack->kernel_n, 0, stack->kernel_end, kernel);
}
