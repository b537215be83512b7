/*
 * Keeps a stack of calls for each thread, from call probes: probes at the entry and the return of each
 * function of an interpreted language. Samples copy it (lang/programs.bpf.h, usdt_find).
 *
 * A thread has one stack for each machine stack that it runs on: fibers and coroutines have machine stacks of
 * their own. The end of the mapping that holds the stack pointer tells them apart.
 *
 * A return is matched with an entry by the address of the function's name, because some runtimes report
 * returns without an entry (Ruby 3.1 for functions that were compiled before its probes were switched on, all
 * of CPython 3.11), or skip a return. Only the outermost USDT_FRAMES frames are kept; beyond them, calls are
 * counted, so that later returns find their frames.
 *
 * The programs may be preempted, and another thread may hit a probe on the same CPU. So everything that an
 * entry works with is in the thread's own stack, and counts are atomic.
 *
 * No CO-RE relocation: offsets in the kernel's structures come from BTF by way of rodata.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/probe_arg.bpf.h"
#include "bpf/lang/usdt_maps.bpf.h"
#include "bpf/wanted.bpf.h"

/* Set before loading. */
const volatile unsigned int id_first = 0, id_step = 1; /* ids of functions: id_first + n × id_step */
const volatile unsigned int from_start = 0;	       /* a command: the probes are there before it */
const volatile unsigned int find_fibers = 0;	       /* the kernel has bpf_find_vma */
const volatile unsigned int start_at = 0, end_at = 0;  /* struct vm_area_struct */
const volatile unsigned int tid_at = 0;		       /* struct task_struct: pid */

unsigned int on = 0;  /* otherwise the programs end at once */
unsigned int ids = 0; /* functions sent so far */
unsigned long long serials = 0;

/* The values of enum lang_state that are reported here. */
enum { STATE_NOT_YET = 3, STATE_UNREADABLE = 4, STATE_LOST = 6, STATE_DEPTH = 7 };

#define CLONE_VM 0x100 /* include/uapi/linux/sched.h */

enum { FUNCTION_BYTES = __builtin_offsetof(struct lang_function, lines), RING_WAKE = 256 << 10 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USDT_SITES);
	__type(key, unsigned int);
	__type(value, struct usdt_site);
} usdt_sites SEC(".maps");

/* An empty stack, to copy. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct usdt_stack);
} usdt_empty SEC(".maps");

/* Ids of functions, by a hash of their texts. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, unsigned long long);
	__type(value, unsigned int);
} usdt_functions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} lang_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct usdt_counts);
} usdt_counted SEC(".maps");

/* Verified once, not with each caller. weak: the compiler assumes nothing about callers and result. */
#define CALL_FN __attribute__((noinline, weak))

static __always_inline void count_usdt(enum usdt_count what, unsigned long long n)
{
	unsigned int zero = 0;
	struct usdt_counts *c = bpf_map_lookup_elem(&usdt_counted, &zero);

	if (c)
		__sync_fetch_and_add(&c->n[what], n);
}

static __always_inline unsigned long long new_serial(void)
{
	return __sync_fetch_and_add(&serials, 1) + 1;
}

struct range {
	unsigned long long low, high;
};

/* FOUND_LATE: hits on this machine stack were missed before. */
enum found { NOT_FOUND, FOUND, FOUND_LATE };

enum { MISSED_NEAR = 32 << 10 /* stack pointers this close are on one machine stack */ };

struct task_struct;
struct vm_area_struct;

static long see_mapping(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	struct range *r = data;

	(void)task;
	bpf_probe_read_kernel(&r->low, sizeof(r->low), (void *)vma + start_at);
	bpf_probe_read_kernel(&r->high, sizeof(r->high), (void *)vma + end_at);
	return 0;
}

/*
 * Notes a hit that is on none of the known machine stacks, for the stack that will turn out to have this
 * stack pointer. If there is another one already, all stacks of the thread begin again.
 */
static __always_inline void note_missed(struct usdt_thread *t, unsigned long long sp)
{
	t->low = t->fiber = 0; /* a sample must not show the calls of another stack */
	if (t->missed && sp - t->missed + MISSED_NEAR > 2 * MISSED_NEAR) {
		t->serial = new_serial();
		t->whole = 0;
		t->missed = 0;
	} else {
		t->missed = sp;
	}
}

/*
 * Finds the machine stack again if the stack pointer has left the one that is known. That fails while another
 * thread changes the mappings: the known stack is not the one of this call.
 */
static __always_inline enum found find_fiber(struct usdt_thread *t, unsigned long long sp)
{
	struct range r = { 0, 0 };

	if (!find_fibers || (sp >= t->low && sp < t->fiber))
		return FOUND;
	if (bpf_find_vma(bpf_get_current_task_btf(), sp, see_mapping, &r, 0) || !r.high) {
		note_missed(t, sp);
		return NOT_FOUND;
	}
	t->low = r.low;
	t->fiber = r.high;
	if (t->missed < r.low || t->missed >= r.high)
		return FOUND;
	t->missed = 0;
	return FOUND_LATE;
}

static __always_inline struct usdt_thread *find_thread(unsigned int tid)
{
	struct usdt_thread *t = bpf_map_lookup_elem(&usdt_threads, &tid), new = { 0 };

	if (t)
		return t;
	new.serial = new_serial();
	new.whole = from_start;
	bpf_map_update_elem(&usdt_threads, &tid, &new, BPF_ANY);
	return bpf_map_lookup_elem(&usdt_threads, &tid);
}

/* The slot of a frame; 0 is the outermost one. clang 22 would drop the mask, which is for the verifier. */
static __always_inline unsigned int slot_of(unsigned int frame)
{
	unsigned int at = USDT_BOTTOM - frame;

	asm volatile("" : "+r"(at));
	return at & USDT_BOTTOM;
}

static __always_inline void push(struct usdt_stack *s, unsigned long long frame, unsigned int name)
{
	unsigned int depth = s->depth, at = slot_of(depth);

	if (depth < USDT_FRAMES) {
		s->frames[at] = frame;
		s->names[at] = name;
	}
	s->depth = depth + 1; /* last: a sample may come between */
}

/* Some outer calls of the stack are not known, or maybe not. */
static __always_inline void begin_marked(struct usdt_stack *s, unsigned int language)
{
	s->depth = 0;
	push(s, USDT_STATE(STATE_NOT_YET, language), 0);
	count_usdt(USDT_MARKED, 1);
}

/* Returns the thread's stack, after it was made or emptied if need be; NULL: there is no memory. */
static __always_inline struct usdt_stack *find_stack(unsigned int tid, const struct usdt_thread *t,
						     unsigned int language)
{
	struct usdt_stack *s = usdt_stack_of(tid, t), *empty;
	struct usdt_key key = { tid, 0, t->fiber };
	unsigned int zero = 0;

	if (s)
		return s;
	empty = bpf_map_lookup_elem(&usdt_empty, &zero);
	if (!empty || bpf_map_update_elem(&usdt_stacks, &key, empty, BPF_ANY))
		return NULL;
	s = bpf_map_lookup_elem(&usdt_stacks, &key);
	if (!s)
		return NULL;
	s->frames[USDT_BOTTOM - USDT_FRAMES] = USDT_STATE(STATE_DEPTH, language);
	if (!t->whole)
		begin_marked(s, language);
	s->serial = t->serial;
	return s;
}

static __always_inline unsigned long long mix_hash(unsigned long long hash, unsigned long long word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* The arguments of a call, for functions that are not inlined: before Linux 6.3 they get no registers. */
struct call {
	unsigned long long texts[USDT_TEXTS]; /* addresses */
	unsigned int line, pid;
};

/* A return has the name alone. */
static __always_inline void read_call(void *ctx, const struct usdt_site *site, struct call *c)
{
	c->texts[USDT_NAME] = read_argument(ctx, &site->texts[USDT_NAME]);
	if (site->what != USDT_ENTRY)
		return;
	if (site->has_text[USDT_CLASS])
		c->texts[USDT_CLASS] = read_argument(ctx, &site->texts[USDT_CLASS]);
	if (site->has_text[USDT_PATH])
		c->texts[USDT_PATH] = read_argument(ctx, &site->texts[USDT_PATH]);
	if (site->has_line)
		c->line = read_argument(ctx, &site->line);
}

/* By its number, because the verifier would follow three constant places one by one. */
static __always_inline unsigned char *text_of(struct usdt_stack *s, unsigned int which)
{
	enum { EACH = sizeof(s->class), FIRST = __builtin_offsetof(struct usdt_stack, class) };

	_Static_assert(USDT_CLASS == 0 && sizeof(s->name) == EACH, "all but the last have one size");
	_Static_assert(__builtin_offsetof(struct usdt_stack, path) == FIRST + EACH * USDT_PATH, "in order");
	return s->class + EACH * which;
}

/* Adds a text of n bytes to the hash. */
CALL_FN unsigned long long hash_text(struct usdt_stack *s, unsigned int which, unsigned int n,
				     unsigned long long hash)
{
	unsigned int words = (n + 7) / 8;
	const unsigned char *text;

	if (!s || which >= USDT_TEXTS)
		return 0;
	text = text_of(s, which);
	/* Otherwise the loop may compare n, and the verifier follows each length to the end. */
	asm volatile("" : "+r"(words));
	for (unsigned int i = 0; i < LANG_PATH / 8; i++) {
		if (i >= words)
			break;
		hash = mix_hash(hash, *(const unsigned long long *)(text + i * 8));
	}
	return mix_hash(hash, n);
}

/* Reads a text. Returns its length; 0: there is none, or it is unreadable. */
CALL_FN unsigned int read_text(struct usdt_stack *s, const struct usdt_site *site, const struct call *c,
			       unsigned int which)
{
	unsigned int most = which == USDT_PATH ? LANG_PATH : LANG_NAME, bytes;
	unsigned char *to;
	long n;

	if (!s || !site || !c || which >= USDT_TEXTS || !site->has_text[which])
		return 0;
	to = text_of(s, which);
	n = bpf_probe_read_user_str(to, most, (void *)c->texts[which]);
	if (n <= 1)
		return 0;
	bytes = n;
	/* Otherwise both comparisons become one of a sum, from which 6.12's verifier learns nothing of n. */
	asm volatile("" : "+r"(bytes));
	if (bytes > most)
		return 0;
	*(unsigned long long *)(to + bytes) = 0;
	return bytes - 1;
}

struct lengths {
	unsigned int class, name, path;
};

/* Sends a function that is new. Returns its id; 0: there is no room. */
static __always_inline unsigned int send_function(const struct usdt_site *site, const struct usdt_stack *s,
						  const struct call *c, const struct lengths *n)
{
	unsigned int id = id_first + (__sync_fetch_and_add(&ids, 1) + 1) * id_step;
	unsigned long long wake = bpf_ringbuf_query(&lang_ring, BPF_RB_AVAIL_DATA) > RING_WAKE
					  ? BPF_RB_FORCE_WAKEUP
					  : BPF_RB_NO_WAKEUP;
	struct lang_function *f;

	if (id >> 31)
		return 0;
	f = bpf_ringbuf_reserve(&lang_ring, FUNCTION_BYTES, 0);
	if (!f)
		return 0;
	f->language = site->language;
	f->pid = c->pid;
	f->id = id;
	f->line = c->line;
	f->table = f->version = 0;
	f->flags = site->flags;
	f->name_n = n->name;
	f->class_n = n->class;
	f->path_n = n->path;
	f->name_text = f->class_text = f->path_text = LANG_BYTES;
	f->joint = n->class ? site->joint : 0;
	f->prefix = 0;
	bpf_probe_read_kernel(f->name, LANG_NAME, s->name);
	bpf_probe_read_kernel(f->class, LANG_NAME, s->class);
	bpf_probe_read_kernel(f->path, LANG_PATH, s->path);
	bpf_ringbuf_submit(f, wake);
	return id;
}

/* Returns the frame of a function that is entered. */
static __always_inline unsigned long long frame_of(const struct usdt_site *site, struct usdt_stack *s,
						   const struct call *c)
{
	unsigned long long hash = mix_hash(site->language, c->pid);
	unsigned int *known, id;
	struct lengths n;

	n.name = read_text(s, site, c, USDT_NAME);
	if (!n.name) {
		count_usdt(USDT_UNNAMED, 1);
		return USDT_STATE(STATE_UNREADABLE, site->language);
	}
	n.class = read_text(s, site, c, USDT_CLASS);
	n.path = read_text(s, site, c, USDT_PATH);
	hash = hash_text(s, USDT_NAME, n.name, hash);
	hash = hash_text(s, USDT_CLASS, n.class, hash);
	hash = hash_text(s, USDT_PATH, n.path, hash);
	hash = mix_hash(mix_hash(hash, c->line), site->flags);
	known = bpf_map_lookup_elem(&usdt_functions, &hash);
	if (known)
		return LANG_BY_PROBE | *known;
	id = send_function(site, s, c, &n);
	if (!id) {
		count_usdt(USDT_UNNAMED, 1);
		return USDT_STATE(STATE_LOST, site->language);
	}
	bpf_map_update_elem(&usdt_functions, &hash, &id, BPF_ANY);
	return LANG_BY_PROBE | id;
}

/* The address of the function's name in 32 bits, never 0: the mark at the bottom of a stack has no name. */
static __always_inline unsigned int name_of(const struct call *c)
{
	unsigned long long at = c->texts[USDT_NAME];

	return (unsigned int)(at ^ at >> 32) | 1u << 31;
}

CALL_FN int enter(const struct usdt_site *site, struct usdt_stack *s, const struct call *c)
{
	unsigned long long frame = 0;

	if (!site || !s || !c)
		return 0;
	count_usdt(USDT_ENTRIES, 1);
	if (s->depth < USDT_FRAMES)
		frame = frame_of(site, s, c);
	else
		count_usdt(USDT_DEEP, 1);
	push(s, frame, name_of(c));
	return 0;
}

/* Removes the frame of this function, and those inside it, whose returns were not reported. */
CALL_FN int leave(struct usdt_stack *s, unsigned int name)
{
	unsigned int depth;

	if (!s)
		return 0;
	depth = s->depth;
	count_usdt(USDT_RETURNS, 1);
	if (depth > USDT_FRAMES) {
		s->depth = depth - 1;
		return 0;
	}
	for (unsigned int i = 1; i <= USDT_SEARCH; i++) {
		if (i > depth)
			break;
		if (s->names[slot_of(depth - i)] == name) {
			s->depth = depth - i;
			return 0;
		}
	}
	count_usdt(USDT_STRAYS, 1);
	return 0;
}

static __always_inline void take_hit(void *ctx, unsigned long long sp)
{
	unsigned long long id = bpf_get_current_pid_tgid();
	unsigned int tid = (unsigned int)id, pid = id >> 32, at = bpf_get_attach_cookie(ctx);
	const struct usdt_site *site = bpf_map_lookup_elem(&usdt_sites, &at);
	struct call c = { .pid = pid };
	struct usdt_stack *s = NULL;
	enum found found = NOT_FOUND;
	struct usdt_thread *t;

	if (!is_wanted(pid, tid)) {
		count_usdt(USDT_FILTERED, 1);
		return;
	}
	t = site ? find_thread(tid) : NULL;
	if (t)
		found = find_fiber(t, sp);
	if (found != NOT_FOUND)
		s = find_stack(tid, t, site->language);
	if (!s) {
		count_usdt(USDT_NO_STACK, 1);
		return;
	}
	if (found == FOUND_LATE)
		begin_marked(s, site->language);
	read_call(ctx, site, &c);
	if (site->what == USDT_ENTRY)
		enter(site, s, &c);
	else if (site->what == USDT_RETURN)
		leave(s, name_of(&c));
	else
		s->depth = 0;
}

SEC("kprobe")
int on_call(struct pt_regs *ctx)
{
	unsigned long long began;

	if (!on)
		return 0;
	began = bpf_ktime_get_ns();
	take_hit(ctx, PT_REGS_SP(ctx));
	count_usdt(USDT_HITS, 1);
	count_usdt(USDT_RUN_NS, bpf_ktime_get_ns() - began);
	return 0;
}

/* A new image: nothing of the old one's calls is left. */
SEC("raw_tracepoint/sched_process_exec")
int exec_thread(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned long long id = bpf_get_current_pid_tgid();
	unsigned int tid = (unsigned int)id;
	struct usdt_thread new = { 0 };

	(void)ctx;
	if (!on || !is_wanted(id >> 32, tid))
		return 0;
	new.serial = new_serial();
	new.whole = 1;
	bpf_map_update_elem(&usdt_threads, &tid, &new, BPF_ANY);
	return 0;
}

/*
 * A new thread of a recorded process. A new process has its parent's memory, and so its calls: the stack
 * that the parent runs on is copied. include/trace/events/task.h: (struct task_struct *task, unsigned long
 * clone_flags)
 */
SEC("raw_tracepoint/task_newtask")
int new_thread(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned long long id = bpf_get_current_pid_tgid(), flags = ctx->args[1];
	unsigned int tid = (unsigned int)id, child = 0;
	struct usdt_thread *parent, new = { 0 };
	struct usdt_stack *s;
	struct usdt_key key = { 0 };

	if (!on || !is_wanted(id >> 32, tid) ||
	    bpf_probe_read_kernel(&child, sizeof(child), (void *)(ctx->args[0] + tid_at)))
		return 0;
	parent = bpf_map_lookup_elem(&usdt_threads, &tid);
	new.serial = new_serial();
	new.whole = from_start || (flags & CLONE_VM);
	if (parent && !(flags & CLONE_VM)) {
		new.fiber = parent->fiber;
		new.low = parent->low;
		new.whole = parent->whole && !parent->missed;
		s = usdt_stack_of(tid, parent);
		key.tid = child;
		key.fiber = parent->fiber;
		if (s && bpf_map_update_elem(&usdt_stacks, &key, s, BPF_ANY) == 0 &&
		    (s = bpf_map_lookup_elem(&usdt_stacks, &key)))
			s->serial = new.serial;
	}
	bpf_map_update_elem(&usdt_threads, &child, &new, BPF_ANY);
	return 0;
}

/* Another thread may get its id. */
SEC("raw_tracepoint/sched_process_exit")
int exit_thread(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned int tid = (unsigned int)bpf_get_current_pid_tgid();

	(void)ctx;
	bpf_map_delete_elem(&usdt_threads, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
