#include "cmd/cprof-record/stacks.h"

#include <errno.h>
#include <string.h>

#include "common/base/hash.h"

enum {
	SWITCH_DEPTH = 8, /* innermost frames among which __schedule is */
	HIT_DEPTH = 8, /* innermost frames among which the caller of a tracepoint's program is */
	GONE_DEPTH = 16, /* outermost frames among which the functions that drop the user stack are */
	ASKED_MOST = 10000, /* searches in vain: after these, there are no names */
};

/* Returns frame number i; 0 is the leaf. */
static struct tree_frame frame_at(const uint64_t *address, int i, uint64_t process)
{
	bool exact = i == 0 || (process && (address[i] & SAMPLE_EXACT));

	return (struct tree_frame){ process ? address[i] & ~SAMPLE_EXACT : address[i], process, exact ? FRAME_EXACT : FRAME_RETURN };
}

/* Returns the cache entry for the callers of a leaf. */
static struct callers *callers_of(const struct emit *e, const uint64_t *callers, size_t n, uint64_t process)
{
	return &e->callers[(hash_bytes(callers, n * sizeof(*callers)) + process) % EMIT_CALLERS];
}

static bool is_recent(const struct callers *r, const uint64_t *callers, size_t n, uint64_t process, enum root root)
{
	return r->node && r->n == n && r->process == process && r->root == root &&
	       memcmp(r->addresses, callers, n * sizeof(*callers)) == 0;
}

/* Returns the node of all frames but the leaf; 0: out of memory. */
static uint32_t walk_callers(struct emit *e, const uint64_t *address, int n, uint64_t process, enum root root)
{
	uint32_t node = root;

	for (int i = n; i-- > 1;) {
		struct tree_frame f = frame_at(address, i, process);

		node = tree_child(&e->tree, node, &f);
		if (node == 0)
			return 0;
	}
	return node;
}

/* The same, by a cache. Most callers came recently: comparing all costs less than finding one in the tree. */
static uint32_t find_callers(struct emit *e, const uint64_t *address, int n, uint64_t process, enum root root)
{
	size_t others = (size_t)n - 1;
	struct callers *r;

	if (others == 0 || others > CALLERS_MOST)
		return n == 1 ? root : walk_callers(e, address, n, process, root);
	r = callers_of(e, address + 1, others, process);
	if (is_recent(r, address + 1, others, process, root))
		return r->node;
	r->node = walk_callers(e, address, n, process, root);
	r->n = (uint32_t)others;
	r->process = process;
	r->root = root;
	memcpy(r->addresses, address + 1, others * sizeof(*address));
	return r->node;
}

/* Returns the node of the leaf; 0: out of memory. Addresses are leaf first, and at least one. */
static uint32_t find_leaf(struct emit *e, const uint64_t *address, int n, uint64_t process, enum root root)
{
	struct tree_frame leaf = frame_at(address, 0, process);
	uint32_t node = find_callers(e, address, n, process, root);

	return node || n == 1 ? tree_child(&e->tree, node, &leaf) : 0;
}

/*
 * Counts the frames from the leaf on that can be right. A chain of frame pointers that meets code without
 * them ends in some number, and anything after it is chance. A number is not a return address if no code is
 * mapped there; this is tested only if all mappings are known.
 */
static int count_sound(const struct emit *e, const uint64_t *address, int n, const struct proc *p)
{
	const struct map *m = NULL;
	bool known = !e->sideband_lost && maps_from(&p->maps, 0);

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
 * call: that stack belongs to neither.
 */
static bool is_in_exec(const struct sample_head *s, uint64_t leaf, const struct proc *p)
{
	return p->via == VIA_EXEC && s->kernel_n > 0 && !maps_find(&p->maps, leaf);
}

/* EFAULT is the kernel's word for "no such stack"; any other error is a failure. */
static bool has_failed(short n)
{
	return n < 0 && n != -EFAULT;
}

static bool is_named(struct emit *e, uint64_t address, const char *name)
{
	struct kernel_symbol symbol;

	return ksym_find(e->ksym, address - 1, &symbol) && slice_is(symbol.name, name);
}

/*
 * Does the kernel's half begin where a thread has no user stack, or no longer has one? A worker, as
 * io_uring's, never was in user code. Inside exit(2) and execve(2) the memory of the stack is given back.
 */
static bool is_without_user(struct emit *e, const struct sample_head *s)
{
	static const char *const names[] = { "do_exit", "bprm_execve", "load_elf_binary" };
	const uint64_t *address = (const void *)(s + 1);
	int n = s->kernel_n;

	if (n > 0 && (is_named(e, address[n - 1], "ret_from_fork_asm") || is_named(e, address[n - 1], "ret_from_fork")))
		return true;
	for (int i = n - 1; i >= 0 && i >= n - GONE_DEPTH; i--)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (is_named(e, address[i], names[k]))
				return true;
	return false;
}

/* Returns why there is no user stack. The kernel reports its absence, but for a sleeper it was not asked. */
static enum root no_user_stack(struct emit *e, const struct sample_head *s, const struct proc *p)
{
	if (has_failed(s->user_n))
		return ROOT_FAILED;
	if (e->options->kernel_only)
		return ROOT_NOT_ASKED;
	if (p->kernel || (s->user_n == 0 && s->what != SAMPLE_STACK) || is_without_user(e, s))
		return ROOT_KTHREAD;
	return ROOT_NO_REGS;
}

/* Takes a stack walked by tables, which says itself how it ended. */
static enum emitted take_by_table(struct emit *e, const struct sample_head *s, struct proc *p, struct user_stack *out)
{
	uint64_t leaf = out->addresses[0] & ~SAMPLE_EXACT;

	if (leaf == 0 || is_in_exec(s, leaf, p)) { /* a worker's registers are zeros */
		out->n = 0;
		out->end = ROOT_KTHREAD;
	} else if (!spaces_finish(e->spaces, p, s, out)) {
		return EMIT_WAITS;
	}
	if (out->end < 0 || out->end >= ROOTS)
		out->end = ROOT_FAILED;
	if (out->n == 1 && out->end == ROOT_UNREADABLE && is_without_user(e, s))
		out->end = ROOT_KTHREAD;
	return EMIT_WRITTEN;
}

static void take_by_fp(struct emit *e, const struct sample_head *s, const struct proc *p, struct user_stack *out)
{
	bool in_exec = out->n > 0 && is_in_exec(s, out->addresses[0], p);
	int n = in_exec ? 0 : out->n;

	out->n = n > 0 ? count_sound(e, out->addresses, n, p) : 0;
	/* A worker's registers are zeros; older kernels make a frame of them. */
	if (in_exec || (n > 0 && out->addresses[0] == 0))
		out->end = ROOT_KTHREAD;
	else if (n <= 0)
		out->end = no_user_stack(e, s, p);
	else if (out->n < n)
		out->end = ROOT_BROKEN;
	else if (n == 1 && is_without_user(e, s))
		out->end = ROOT_KTHREAD;
	else
		out->end = (unsigned int)n >= e->options->chain_depth ? ROOT_DEPTH : ROOT_FP_END;
}

/* Is it named like "bpf_trampoline_6442545134"? There are many of these. */
static bool is_trampoline(struct emit *e, uint64_t address)
{
	static const char name[] = "bpf_trampoline_";
	struct kernel_symbol symbol;

	return ksym_find(e->ksym, address - 1, &symbol) && symbol.name.n >= sizeof(name) - 1 &&
	       memcmp(symbol.name.p, name, sizeof(name) - 1) == 0;
}

/*
 * Counts the frames around schedule when it returns through on_back: that of the trampoline that called it,
 * and, if the trampoline was called and not jumped to, one of the beginning of schedule. back: the
 * trampoline's is gone already.
 */
static int around_switch(struct emit *e, const uint64_t *address, int n, bool back)
{
	int i = 0;

	if (!back && n > 0 && (address[0] == e->trampoline || is_trampoline(e, address[0])))
		e->trampoline = address[i++];
	if (i == n || (!back && i == 0))
		return 0;
	if (address[i] != e->schedule[3] && is_named(e, address[i], "schedule"))
		e->schedule[3] = address[i];
	return i + (address[i] == e->schedule[3]);
}

/*
 * Counts the innermost frames that belong to the switch. In the stack of a thread that leaves the CPU these
 * are the program's, the tracepoint's, __schedule and mostly schedule: the same in all stacks, and missing in
 * those of threads that slept before recording began. They are found by name once, then by their addresses.
 */
static int in_switch(struct emit *e, const uint64_t *address, int n)
{
	int i = 0;

	while (i < n && i < SWITCH_DEPTH && address[i] != e->schedule[0])
		i++;
	if (i == n || i == SWITCH_DEPTH) {
		i = 0;
		while (i < n && i < SWITCH_DEPTH && e->schedule_asked < ASKED_MOST && !is_named(e, address[i], "__schedule"))
			i++;
		e->schedule_asked++;
		if (i == n || i == SWITCH_DEPTH || e->schedule_asked > ASKED_MOST)
			return 0;
		e->schedule[0] = address[i];
	}
	if (i + 1 < n && address[i + 1] != e->schedule[1] && address[i + 1] != e->schedule[2])
		e->schedule[is_named(e, address[i + 1], "schedule") ? 1 : 2] = address[i + 1];
	i += 1 + (i + 1 < n && address[i + 1] == e->schedule[1]);
	return i + (e->engine->exact_waits ? around_switch(e, address + i, n - i, false) : 0);
}

/* Is it bpf_trace_run2, __bpf_trace_sys_enter or __traceiter_sys_enter? Which of them differs by kernel. */
static bool calls_program(struct emit *e, uint64_t address)
{
	static const char *const names[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_" };
	struct known_caller *known = &e->known_callers[hash_u64(address) % EMIT_KNOWN];
	struct kernel_symbol symbol;

	if (known->address == address)
		return known->is;
	*known = (struct known_caller){ .address = address };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && ksym_find(e->ksym, address - 1, &symbol); i++)
		known->is = known->is || (symbol.name.n >= strlen(names[i]) && memcmp(symbol.name.p, names[i], strlen(names[i])) == 0);
	return known->is;
}

/* The same for a tracepoint whose program perf does not call: these frames, and the program's before them. */
static int in_hit(struct emit *e, const uint64_t *address, int n)
{
	int i = 0;

	while (i < n && i < HIT_DEPTH && !calls_program(e, address[i]))
		i++;
	if (i == n || i == HIT_DEPTH)
		return 0;
	while (i < n && calls_program(e, address[i]))
		i++;
	return i;
}

static bool is_raw_hit(const struct emit *e, const struct sample_head *s)
{
	return s->what == SAMPLE_EVENT && s->event < e->options->n_events && e->options->events[s->event].raw;
}

static void take_kernel(struct emit *e, const struct sample_head *s, const uint64_t *address, struct stack *out)
{
	const struct options *o = e->options;
	int asked = (int)(is_raw_hit(e, s) ? o->hit_depth : o->chain_depth), skip = 0, n = s->kernel_n > 0 ? s->kernel_n : 0;

	if (s->what == SAMPLE_STACK && n > 0)
		skip = s->event ? around_switch(e, address, n, true) : in_switch(e, address, n);
	else if (is_raw_hit(e, s))
		skip = in_hit(e, address, n);
	out->kernel = address + skip;
	out->kernel_n = n - skip < (int)o->chain_depth ? n - skip : (int)o->chain_depth;
	if (n > 0)
		out->kernel_end = n >= asked || n - skip >= (int)o->chain_depth ? ROOT_DEPTH : ROOT_COMPLETE;
	else
		out->kernel_end = e->options->user_only ? ROOT_NOT_ASKED : has_failed(s->kernel_n) ? ROOT_FAILED : ROOT_COMPLETE;
}

enum emitted stacks_take(struct emit *e, const struct sample_head *s, struct proc *p, uint64_t *room, struct stack *out)
{
	const uint64_t *address = (const void *)(s + 1);
	int n = s->user_n < SAMPLE_DEPTH_MAX ? s->user_n : SAMPLE_DEPTH_MAX;

	take_kernel(e, s, address, out);
	out->user = (struct user_stack){ room, n, s->user_end };
	if (n > 0)
		memcpy(room, address + (s->kernel_n > 0 ? s->kernel_n : 0), (size_t)n * sizeof(*room));
	if (s->user_by == SAMPLE_BY_TABLE && n > 0)
		return take_by_table(e, s, p, &out->user);
	take_by_fp(e, s, p, &out->user);
	return EMIT_WRITTEN;
}

static bool find_half(struct emit *e, const uint64_t *address, int n, uint64_t process, enum root end, uint64_t *out)
{
	*out = n > 0 ? find_leaf(e, address, n, process, end) : end;
	return n <= 0 || *out >= NODE_FIRST;
}

bool stacks_nodes(struct emit *e, const struct proc *p, const struct stack *stack, uint64_t *user, uint64_t *kernel)
{
	return find_half(e, stack->user.addresses, stack->user.n, p->id, (enum root)stack->user.end, user) &&
	       find_half(e, stack->kernel, stack->kernel_n, 0, stack->kernel_end, kernel);
}
