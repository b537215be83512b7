/*
 * Samples events other than the clock: page faults, context switches, hardware counters, tracepoints. Each
 * event has an object of its own; all of them share one ring and one set of scratches.
 *
 * The program counts every event and takes a stack once a period. A sample weighs as many events as were
 * counted since the sample before. The period is the requested one, usually 1, until this CPU takes more than
 * `most` samples in a second: then it doubles as often as needed, and falls again when samples are few. A
 * raised period is varied at random; otherwise a program that alternates between two things would show only
 * one of them.
 *
 * The kernel counts hardware events itself: it runs the program once a period and passes the period.
 *
 * The program of a probe in user code may be preempted, and the next thread on the CPU may hit the probe too.
 * So its counts are atomic.
 *
 * No CO-RE relocation here: without BTF everything but the walk by tables still works.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#define WALK_ENV unsigned int /* a number, so that Linux 5.10 accepts these programs too */

#include "bpf/calls.bpf.h" /* shared by the events whose programs are of one type */
#include "bpf/event.h"
#include "bpf/event_ring.bpf.h"
#include "bpf/probe_arg.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/wanted.bpf.h"

const volatile unsigned int number = 0; /* index of the event */
const volatile unsigned int want_user = 1, want_kernel = 1;
const volatile unsigned int by_kernel = 0;         /* the kernel counts the events */
const volatile unsigned int kernel_depth = 127;    /* kernel addresses; more if some are the program's own */
const volatile unsigned long long period_asked = 1;
const volatile unsigned int preempted = 0; /* this program may run again before it ends, on the same CPU */
unsigned int most = 1000; /* samples in a window on a CPU */
unsigned int trap_ns = 0; /* the kernel's cost of calling the program, as far as it is known */

enum {
	WINDOW_NS = 1000000000,
	PERIOD_MOST = 1 << 30,
	TIMED = 64, /* runs without a stack per run that is timed */
};

const volatile unsigned int has_calls = 0; /* the map calls can be used */
const volatile int finished = 0;           /* returned by finish_event */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct event_cpu);
} counted SEC(".maps");

/*
 * Up to 5.11 a program with an atomic instruction that fetches is refused, even where it is never executed.
 * So this instruction is written out, as in count_change, and those that do fetch are in on_probe alone.
 */
static __always_inline void count_events(struct event_cpu *c, enum event_count what, unsigned long long n)
{
	if (preempted)
		asm volatile("lock *(u64 *)(%0 + 0) += %1" : : "r"(&c->n[what]), "r"(n) : "memory");
	else
		c->n[what] += n;
}

static __always_inline unsigned long long take_pending(struct event_cpu *c, int by_probe)
{
	unsigned long long n = c->n[EVENT_PENDING];

	if (by_probe)
		return __sync_lock_test_and_set(&c->n[EVENT_PENDING], 0);
	c->n[EVENT_PENDING] = 0;
	return n;
}

/* Returns 0 if the scratch is in use. */
static __always_inline int take_scratch(struct scratch *s, int by_probe)
{
	if (by_probe)
		return __sync_lock_test_and_set(&s->busy, 1) == 0;
	if (s->busy)
		return 0;
	s->busy = 1;
	return 1;
}

const volatile unsigned int has_label = 0, label_is_text = 0;

/* The argument that is the label, by place of the probe. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct event_arg);
} label_args SEC(".maps");

/* In use by the owner of the CPU's scratch. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct sample_label);
} labels SEC(".maps");

/* Sends the label of a sample before the sample itself. */
static __always_inline void send_label(void *ctx, const struct scratch *s)
{
	unsigned int zero = 0, place = bpf_get_attach_cookie(ctx);
	const struct event_arg *a = bpf_map_lookup_elem(&label_args, &place);
	struct sample_label *l = bpf_map_lookup_elem(&labels, &zero);

	if (!a || !l)
		return;
	l->head = s->head;
	l->head.what = SAMPLE_LABEL;
	l->number = read_argument(ctx, a);
	l->is_signed = a->is_signed;
	l->text_n = 0;
	if (label_is_text)
		l->text_n = bpf_probe_read_user_str(l->text, sizeof(l->text), (void *)l->number);
	submit_record(l, sizeof(*l), WAKE_NEVER);
}

/* Begins a new window when the old one is over. Windows with few samples lower the period. */
static __always_inline void begin_window(struct event_cpu *c, unsigned long long now)
{
	unsigned long long gone = (now - c->window) / WINDOW_NS;

	if (gone == 0)
		return;
	if (gone > 1 || c->taken < most / 4)
		c->period >>= gone < 63 ? gone : 63;
	if (c->period < period_asked)
		c->period = period_asked;
	if (!c->next || c->next > 2 * c->period)
		c->next = c->period;
	c->window = now;
	c->taken = 0;
}

/* Is it time for a sample? */
static __always_inline int is_due(struct event_cpu *c, unsigned long long now)
{
	begin_window(c, now);
	if (c->n[EVENT_PENDING] < c->next)
		return 0;
	if (c->taken >= most && c->period < PERIOD_MOST) {
		c->period *= 2;
		c->taken = most / 2;
	}
	c->taken++;
	c->next = c->period;
	if (c->period > period_asked)
		c->next = c->period / 2 + (bpf_get_prandom_u32() * c->period >> 32);
	return 1;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline int user_regs(struct scratch *s, struct bpf_perf_event_data *interrupted)
{
	long saved;

	if (interrupted) {
		take_regs(&s->walk, &interrupted->regs);
		return interrupted->regs.cs == USER_CS;
	}
	saved = bpf_task_pt_regs(bpf_get_current_task_btf());
	return saved && read_regs(s, saved);
}

static __always_inline void take_by_table(struct scratch *s, struct bpf_perf_event_data *interrupted)
{
	unsigned int env = 0;

	if (!user_regs(s, interrupted))
		return;
	walk_or_defer(env, s);
}
#endif

static __always_inline void begin_sample(struct scratch *s, unsigned long long id, unsigned long long weight,
					 unsigned long long now)
{
	s->head.time = now;
	s->head.cgroup = bpf_get_current_cgroup_id();
	s->head.owner = current_owner();
	s->head.weight = weight;
	s->head.cpu = bpf_get_smp_processor_id();
	s->head.pid = id >> 32;
	s->head.tid = (unsigned int)id;
	s->head.what = SAMPLE_EVENT;
	s->head.event = number;
	s->head.kernel_n = s->head.user_n = 0;
	s->head.generation = s->head.stack_n = 0;
	s->head.user_by = s->head.user_end = s->head.has_state = s->head.deferred = 0;
	s->head.lang_n = 0;
	s->n = 0;
}

/* interrupted: ctx again if the event interrupted user code; otherwise NULL. */
static __always_inline void take_stacks(void *ctx, struct scratch *s, struct bpf_perf_event_data *interrupted)
{
	if (want_kernel && !interrupted)
		s->n += fp_stack_of(ctx, s, 0, &s->head.kernel_n, kernel_depth);
#if defined(__TARGET_ARCH_x86)
	if (want_user && by_table)
		take_by_table(s, interrupted);
#endif
	if (want_user && s->head.user_by == SAMPLE_BY_FP)
		s->n += fp_stack(ctx, s, BPF_F_USER_STACK, &s->head.user_n);
}

static __always_inline enum event_count send_sample(struct scratch *s)
{
	unsigned long long bytes = sample_bytes(s);

	if (!bytes)
		return EVENT_RING_FULL; /* impossible; for the verifier */
	return submit_record(&s->head, bytes, WAKE_FOR_MUCH) ? EVENT_RING_FULL : EVENT_EMITTED;
}

/* Hands the sample to the reader, and counts it. */
static __always_inline void finish_sample(struct event_cpu *c, struct scratch *s)
{
	unsigned long long began = s->head.time;

	count_events(c, send_sample(s), s->head.weight);
	s->busy = 0;
	count_events(c, EVENT_RUN_NS, bpf_ktime_get_ns() - began + trap_ns);
}

static __always_inline void make_sample(void *ctx, struct event_cpu *c, unsigned long long id, unsigned long long now,
				   struct bpf_perf_event_data *interrupted, int by_probe)
{
	unsigned long long weight = take_pending(c, by_probe);
	struct scratch *s = my_scratch();

	count_events(c, EVENT_RUNS, 1);
	if (!s || !take_scratch(s, by_probe)) {
		count_events(c, EVENT_NESTED, weight);
		return;
	}
	begin_sample(s, id, weight, now);
	if (has_label)
		send_label(ctx, s);
	take_stacks(ctx, s, interrupted);
	if (has_calls && s->head.user_n > 0)
		bpf_tail_call(ctx, &calls, CALL_FIND); /* ends in finish_event, unless it fails */
	finish_sample(c, s);
}

static __always_inline void count_event(void *ctx, unsigned long long weight,
					struct bpf_perf_event_data *interrupted, int by_probe)
{
	unsigned long long now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	unsigned int zero = 0, took = 0;
	struct event_cpu *c = bpf_map_lookup_elem(&counted, &zero);

	if (!c || c->off)
		return;
	if (!is_wanted(id >> 32, (unsigned int)id)) {
		count_events(c, EVENT_FILTERED, weight);
	} else {
		count_events(c, EVENT_PENDING, weight);
		took = by_kernel || is_due(c, now);
		if (took)
			make_sample(ctx, c, id, now, interrupted, by_probe);
	}
	if (took)
		return;
	count_events(c, EVENT_RUNS, 1);
	if (c->n[EVENT_RUNS] % TIMED == 0)
		count_events(c, EVENT_RUN_NS, (bpf_ktime_get_ns() - now + trap_ns) * TIMED);
}

/* The end of a sample with frames of an interpreted language. It has the type of the event's program. */
SEC("perf_event")
int finish_event(void *ctx)
{
	struct scratch *s = my_scratch();
	unsigned int zero = 0;
	struct event_cpu *c = bpf_map_lookup_elem(&counted, &zero);

	(void)ctx;
	if (s && c && s->busy)
		finish_sample(c, s);
	return finished;
}

SEC("perf_event")
int on_event(struct bpf_perf_event_data *ctx)
{
	unsigned long long weight = by_kernel ? ctx->sample_period : 1;

	if (from_user(ctx))
		count_event(ctx, weight, ctx, 0);
	else
		count_event(ctx, weight, 0, 0);
	return 0;
}

/* Returns 1: otherwise perf's own counters of this tracepoint would not count. */
SEC("tracepoint")
int on_hit(void *ctx)
{
	count_event(ctx, 1, 0, 0);
	return 1;
}

/*
 * As on_hit, but without perf between the tracepoint and the program. perf doubles the cost of each hit, and
 * while it calls a program, no other perf program runs on the CPU, including the clock's. The drawback:
 * the frames that lead to the program are in the stack.
 */
SEC("raw_tracepoint")
int on_raw(void *ctx)
{
	count_event(ctx, 1, 0, 0);
	return 0;
}

/* A probe in user code. Its context is the thread's registers, which is also how perf's begins. */
SEC("kprobe")
int on_probe(struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_data *regs = ctx;

	/* Otherwise the compiler concludes that the context is NULL where no user code was interrupted. */
	asm volatile("" : "+r"(regs));
	count_event(ctx, 1, regs, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
