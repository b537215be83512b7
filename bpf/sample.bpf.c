/*
 * The sampling program: the stacks of what was interrupted, into the ring, and nothing else.
 *
 * No look-up of mappings, no stack map, no symbol: what a sample costs the host, a few us (make
 * bench), is mostly reading the stacks. Waking the reader at each sample would cost as much again, so it
 * is woken by quantity, and by its own timer.
 *
 * No CO-RE relocation here: this object must load on kernels without BTF.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/sample.h"

/* Set before loading; the verifier drops what they switch off. `unsigned int`, not u32: the skeleton. */
const volatile unsigned int depth = 127;
const volatile unsigned int want_user = 1, want_kernel = 1;
const volatile unsigned int filter_pids = 0, filter_tids = 0;
const volatile unsigned int want_weight = 0, want_cgroup = 1;
const volatile unsigned int may_wake = 1; /* not where the reader's timer is sure to be in time */
/* Where the idle loop waits: a tick of pid 0 there found the CPU idle; elsewhere it does real work. */
const volatile unsigned long idle_start[2] = { 0, 0 }, idle_end[2] = { 0, 0 };

struct scratch {
	struct sample_head head;
	unsigned long long addresses[2 * SAMPLE_DEPTH_MAX + 2];
	unsigned int busy;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct sample_counts);
} counts SEC(".maps");

/* Resized before loading. Preallocated: below 6.1 a perf_event program may use no other hash map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

static __always_inline int is_idle(struct bpf_perf_event_data *ctx)
{
	unsigned long ip = PT_REGS_IP(&ctx->regs);

	return (ip >= idle_start[0] && ip < idle_end[0]) || (ip >= idle_start[1] && ip < idle_end[1]);
}

static __always_inline int is_wanted(unsigned int pid, unsigned int tid)
{
	if (filter_pids)
		return bpf_map_lookup_elem(&wanted, &pid) != NULL;
	if (filter_tids)
		return bpf_map_lookup_elem(&wanted, &tid) != NULL;
	return 1;
}

/* Was user code interrupted? Then there is no kernel stack to ask for. */
static __always_inline int from_user(struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return ctx->regs.cs & 3;
#elif defined(__TARGET_ARCH_arm64)
	return (ctx->regs.pstate & 0xf) == 0;
#else
	return 0;
#endif
}

static __always_inline enum sample_count take(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	unsigned long long wake = BPF_RB_NO_WAKEUP;
	unsigned int limit = depth * 8;
	unsigned long long bytes = 0;
	long got;

	s->head.kernel_n = s->head.user_n = 0;
	if (want_kernel && !from_user(ctx)) {
		got = bpf_get_stack(ctx, s->addresses, limit, 0);
		if (got < 0)
			s->head.kernel_n = (short)got;
		else if (got <= SAMPLE_DEPTH_MAX * 8)
			bytes = got;
		if (got > 0)
			s->head.kernel_n = (short)(bytes / 8);
	}
	if (want_user) {
		if (bytes > SAMPLE_DEPTH_MAX * 8) /* for the verifier */
			bytes = 0;
		got = bpf_get_stack(ctx, (char *)s->addresses + bytes, limit, BPF_F_USER_STACK);
		if (got < 0) {
			s->head.user_n = (short)got;
		} else if (got <= SAMPLE_DEPTH_MAX * 8) {
			s->head.user_n = (short)(got / 8);
			bytes += got;
		}
	}
	bytes += sizeof(s->head);
	if (bytes > sizeof(s->head) + 2 * SAMPLE_DEPTH_MAX * 8)
		return COUNT_RING_FULL; /* cannot be; for the verifier */
	if (may_wake && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > SAMPLE_WAKE_BYTES)
		wake = BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_output(&ring, s, bytes, wake) ? COUNT_RING_FULL : COUNT_EMITTED;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	unsigned long long start = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	unsigned int pid = id >> 32, tid = (unsigned int)id, zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	struct sample_counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (!s || !c)
		return 0;
	if (pid == 0 && is_idle(ctx)) {
		c->n[COUNT_IDLE]++;
	} else if (!is_wanted(pid, tid)) {
		c->n[COUNT_FILTERED]++;
	} else if (s->busy) {
		c->n[COUNT_NESTED]++;
	} else {
		s->busy = 1;
		s->head.time = start;
		s->head.cgroup = want_cgroup ? bpf_get_current_cgroup_id() : 0;
		s->head.weight = want_weight ? ctx->sample_period : 0;
		s->head.cpu = bpf_get_smp_processor_id();
		s->head.pid = pid;
		s->head.tid = tid;
		if (take(ctx, s) == COUNT_EMITTED)
			c->n[COUNT_EMITTED]++;
		else
			c->n[COUNT_RING_FULL]++;
		s->busy = 0;
	}
	c->n[COUNT_RUN_NS] += bpf_ktime_get_ns() - start;
	c->n[COUNT_RUNS]++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
