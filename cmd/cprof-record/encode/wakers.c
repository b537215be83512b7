#include "cmd/cprof-record/encode/wakers.h"

#include <stdlib.h>

#include "common/base/array.h"

enum {
	CLASSES_MOST = 1 << 16, /* addresses that are remembered; there are a few thousand */
	PENDING_MOST = 1 << 17, /* threads whose last waking is kept */
	STACK_MOST = WAKER_STACK / sizeof(uint64_t),
};

enum frame_class {
	CLASS_OTHER,
	CLASS_TIMER,
	CLASS_DISK,
	CLASS_NETWORK,
	CLASS_LOOPBACK,	 /* packets that some task has sent to this machine */
	CLASS_SENDER,	 /* the current task sends packets */
	CLASS_INTERRUPT, /* its beginning */
	CLASS_IRQ_STACK, /* likewise, on the stack of interrupts: sysvec_* calls __sysvec_* on it */
	CLASS_SOFTIRQ,	 /* likewise */
	CLASS_CALLED,	 /* by a task that lets softirqs run, between two of its own instructions */
	CLASS_TASK,	 /* runs for the current task only, even on the way back from an interrupt */
};

/*
 * Functions by name, or by its beginning. 6.9 renamed __do_softirq to handle_softirqs. do_softirq and
 * do_softirq_own_stack are called by __irq_exit_rcu, too, on some kernels; __local_bh_enable_ip is not.
 */
static const struct rule {
	const char *name;
	enum frame_class class;
	bool whole;
} rules[] = {
	{ "handle_softirqs", CLASS_SOFTIRQ, true },
	{ "__do_softirq", CLASS_SOFTIRQ, true },
	{ "__local_bh_enable", CLASS_CALLED, false },
	{ "irqentry_exit_to_user_mode", CLASS_TASK, true },
	{ "exit_to_user_mode_", CLASS_TASK, false },
	{ "task_work_run", CLASS_TASK, true },
	{ "do_exit", CLASS_TASK, true },
	{ "asm_sysvec_", CLASS_INTERRUPT, false },
	{ "sysvec_", CLASS_INTERRUPT, false },
	{ "__sysvec_", CLASS_IRQ_STACK, false },
	{ "common_interrupt", CLASS_INTERRUPT, true },
	{ "__common_interrupt", CLASS_IRQ_STACK, true },
	{ "asm_common_interrupt", CLASS_INTERRUPT, true },
	{ "do_interrupt_handler", CLASS_INTERRUPT, true },
	{ "el1h_64_irq", CLASS_INTERRUPT, false },
	{ "el1_interrupt", CLASS_INTERRUPT, false },
	{ "el0_interrupt", CLASS_INTERRUPT, false },
	{ "el0t_64_irq", CLASS_INTERRUPT, false },
	{ "asm_exc_nmi", CLASS_INTERRUPT, true },
	{ "process_backlog", CLASS_LOOPBACK, true },
	{ "__dev_queue_xmit", CLASS_SENDER, true },
	{ "ip_finish_output", CLASS_SENDER, false },
	{ "ip6_finish_output", CLASS_SENDER, false },
	{ "tcp_sendmsg", CLASS_SENDER, false },
	{ "udp_sendmsg", CLASS_SENDER, false },
	{ "udpv6_sendmsg", CLASS_SENDER, false },
	{ "net_rx_action", CLASS_NETWORK, true },
	{ "net_tx_action", CLASS_NETWORK, true },
	{ "__napi_poll", CLASS_NETWORK, false },
	{ "napi_", CLASS_NETWORK, false },
	{ "blk_", CLASS_DISK, false },
	{ "__blk_", CLASS_DISK, false },
	{ "scsi_", CLASS_DISK, false },
	{ "nvme_", CLASS_DISK, false },
	{ "bio_endio", CLASS_DISK, true },
	{ "virtblk_", CLASS_DISK, false },
	{ "hrtimer_", CLASS_TIMER, false },
	{ "__hrtimer_", CLASS_TIMER, false },
	{ "run_timer_", CLASS_TIMER, false },
	{ "__run_timer", CLASS_TIMER, false },
	{ "call_timer_fn", CLASS_TIMER, false },
	{ "tick_", CLASS_TIMER, false },
	{ "run_posix_cpu_timers", CLASS_TIMER, false },
};

void wakers_init(struct wakers *w, struct ksym *ksym)
{
	*w = (struct wakers){ .ksym = ksym };
	idmap_init(&w->classes);
	idmap_init(&w->by_tid);
}

void wakers_release(struct wakers *w)
{
	idmap_release(&w->classes);
	idmap_release(&w->by_tid);
	free(w->items);
	*w = (struct wakers){ 0 };
}

static enum frame_class class_of_name(struct slice name)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct rule *r = &rules[i];

		if (r->whole ? slice_is(name, r->name) : slice_begins(name, r->name))
			return r->class;
	}
	return CLASS_OTHER;
}

static enum frame_class class_of(struct wakers *w, uint64_t address)
{
	uint32_t class = CLASS_OTHER;
	struct kernel_symbol symbol;

	if (idmap_find(&w->classes, address, &class))
		return class;
	if (ksym_find(w->ksym, address - 1, &symbol))
		class = class_of_name(symbol.name);
	if (w->classes.n >= CLASSES_MOST)
		idmap_clear(&w->classes);
	idmap_set(&w->classes, address, class); /* without memory it is looked up again */
	return class;
}

/* Returns the device by the frame nearest to the beginning of the interrupt, which is at stack[n]. */
static enum woken_by device_of(struct wakers *w, const uint64_t *stack, size_t n)
{
	while (n > 0) {
		switch (class_of(w, stack[--n])) {
		case CLASS_TIMER:
			return WOKEN_BY_TIMER;
		case CLASS_DISK:
			return WOKEN_BY_DISK;
		case CLASS_NETWORK:
			return WOKEN_BY_NETWORK;
		default:
			break;
		}
	}
	return WOKEN_BY_INTERRUPT;
}

static bool has_class(struct wakers *w, const uint64_t *stack, size_t n, enum frame_class class)
{
	for (size_t i = 0; i < n; i++) {
		if (class_of(w, stack[i]) == class)
			return true;
	}
	return false;
}

/*
 * A softirq, by the device that it serves. Packets to this machine itself are work of their sender; but those
 * that the kernel sends later, by a timer, arrive while any task lets softirqs run.
 */
static enum woken_by softirq_of(struct wakers *w, const uint64_t *stack, size_t n, size_t at)
{
	enum woken_by by = device_of(w, stack, at);

	if (by == WOKEN_BY_INTERRUPT)
		by = WOKEN_BY_SOFTIRQ;
	for (size_t i = at + 1; i < n; i++) {
		enum frame_class class = class_of(w, stack[i]);

		if (class == CLASS_INTERRUPT || class == CLASS_IRQ_STACK)
			return by;
		if (class == CLASS_CALLED)
			return by == WOKEN_BY_SOFTIRQ ||
					       (has_class(w, stack, at, CLASS_LOOPBACK) &&
						has_class(w, stack + i, n - i, CLASS_SENDER))
				       ? WOKEN_BY_TASK
				       : by;
	}
	return by;
}

/* A stack that fills its room may have an interrupt beyond it: then nothing is known. */
enum woken_by wakers_classify(struct wakers *w, const uint64_t *stack, size_t n, bool idle)
{
	for (size_t i = 0; i < n; i++) {
		switch (class_of(w, stack[i])) {
		case CLASS_SOFTIRQ:
			return softirq_of(w, stack, n, i);
		case CLASS_INTERRUPT:
		case CLASS_IRQ_STACK:
			return device_of(w, stack, i);
		case CLASS_TASK:
			return idle ? WOKEN_BY_IDLE : WOKEN_BY_TASK;
		default:
			break;
		}
	}
	if (n == 0 || n >= STACK_MOST)
		return WOKEN_BY_UNKNOWN;
	return idle ? WOKEN_BY_IDLE : WOKEN_BY_TASK;
}

/* Is the class that of the frames on the stack of interrupts, whatever comes after them? */
static bool is_by_irq_stack(struct wakers *w, const uint64_t *stack, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		enum frame_class class = class_of(w, stack[i]);

		if (class == CLASS_IRQ_STACK)
			return true;
		if (class == CLASS_SOFTIRQ || class == CLASS_INTERRUPT || class == CLASS_TASK)
			return false;
	}
	return false;
}

static enum woken_by class_of_waking(struct wakers *w, const struct waker *waker, const uint64_t *stack,
				     size_t n)
{
	bool idle = (uint32_t)waker->head.weight == 0;

	if (waker->known >= KNOWN_BY)
		return (enum woken_by)(waker->known - KNOWN_BY);
	if (waker->known == KNOWN_TASK)
		return idle ? WOKEN_BY_IDLE : WOKEN_BY_TASK;
	return wakers_classify(w, stack, n, idle);
}

bool wakers_put(struct wakers *w, const struct waker *waker, const struct lock_found *lock, enum woken_by *by)
{
	size_t n = waker->head.kernel_n > 0 ? (size_t)waker->head.kernel_n : 0;
	struct waker_found found = { .pid = (uint32_t)(waker->head.weight >> 32),
				     .tid = (uint32_t)waker->head.weight,
				     .lock = *lock,
				     .site = waker->site };
	uint64_t stack[STACK_MOST];
	uint32_t at;

	n = n < STACK_MOST ? n : STACK_MOST;
	memcpy(stack, waker->stack, n * sizeof(*stack));
	*by = found.by = class_of_waking(w, waker, stack, n);
	if (w->n >= PENDING_MOST) {
		idmap_clear(&w->by_tid);
		w->n = 0;
	}
	if (!idmap_find(&w->by_tid, waker->head.tid, &at)) {
		at = (uint32_t)w->n;
		if (!grow_array(&w->items, &w->cap, w->n, sizeof(*w->items)) ||
		    !idmap_set(&w->by_tid, waker->head.tid, at))
			return false;
		w->n++;
	}
	w->items[at] = (struct pending_waker){ waker->head.time, found };
	return n > 0 && waker->fingerprint && (waker->whole || is_by_irq_stack(w, stack, n));
}

struct waker_found wakers_find(const struct wakers *w, uint32_t tid, uint64_t time)
{
	uint32_t at;

	if (!time || !idmap_find(&w->by_tid, tid, &at) || w->items[at].time != time)
		return (struct waker_found){ .by = WOKEN_BY_UNKNOWN };
	return w->items[at].found;
}
