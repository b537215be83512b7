/* Kernel stacks of wakings, as names of functions, and their classes. */
#include <string.h>

#include "cmd/cprof-record/encode/wakers.h"
#include "tests/lib/check.h"

static const char *const *names; /* by address less 1, in the stack at hand */

bool ksym_find(struct ksym *k, uint64_t address, struct kernel_symbol *out)
{
	(void)k;
	*out = (struct kernel_symbol){ .name = slice_of(names[address - 1]) };
	return true;
}

static const struct {
	enum woken_by by;
	const char *names[16];
} rows[] = {
	{ WOKEN_BY_TASK, { "try_to_wake_up", "wake_up_q", "futex_wake", "do_futex", "do_syscall_64" } },
	{ WOKEN_BY_TASK,
	  { "try_to_wake_up", "futex_wake", "mm_release", "exit_mm", "do_exit", "do_syscall_64" } },
	{ WOKEN_BY_TIMER,
	  { "try_to_wake_up", "hrtimer_wakeup", "__hrtimer_run_queues", "hrtimer_interrupt",
	    "__sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt", "vfs_write",
	    "do_syscall_64" } },
	{ WOKEN_BY_TIMER,
	  { "try_to_wake_up", "eventfd_signal", "timerfd_tmrproc", "__hrtimer_run_queues",
	    "hrtimer_interrupt", "sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt" } },
	{ WOKEN_BY_TIMER,
	  { "try_to_wake_up", "process_timeout", "call_timer_fn", "__run_timers", "run_timer_softirq",
	    "__do_softirq", "irq_exit_rcu", "sysvec_apic_timer_interrupt", "do_idle" } },
	/* A timer that expires while a task lets softirqs run is not the task's. */
	{ WOKEN_BY_TIMER,
	  { "try_to_wake_up", "process_timeout", "call_timer_fn", "run_timer_softirq", "handle_softirqs",
	    "do_softirq", "__local_bh_enable_ip", "tcp_sendmsg", "do_syscall_64" } },
	{ WOKEN_BY_DISK,
	  { "try_to_wake_up", "blkdev_bio_end_io", "blk_update_request", "blk_mq_end_request",
	    "blk_done_softirq", "handle_softirqs", "__irq_exit_rcu", "common_interrupt",
	    "asm_common_interrupt" } },
	{ WOKEN_BY_DISK,
	  { "try_to_wake_up", "bio_endio", "blk_mq_end_request", "nvme_irq", "handle_irq_event",
	    "__common_interrupt", "common_interrupt", "asm_common_interrupt" } },
	{ WOKEN_BY_NETWORK,
	  { "try_to_wake_up", "sock_def_readable", "tcp_rcv_established", "napi_gro_receive", "virtnet_poll",
	    "__napi_poll", "net_rx_action", "handle_softirqs", "__irq_exit_rcu", "common_interrupt" } },
	/* Packets of others, served by a task on its way. */
	{ WOKEN_BY_NETWORK,
	  { "try_to_wake_up", "sock_def_readable", "tcp_rcv_established", "virtnet_poll", "__napi_poll",
	    "net_rx_action", "__do_softirq", "do_softirq", "__local_bh_enable_ip", "do_syscall_64" } },
	{ WOKEN_BY_NETWORK,
	  { "try_to_wake_up", "sock_def_readable", "process_backlog", "__napi_poll", "net_rx_action",
	    "handle_softirqs", "run_ksoftirqd", "smpboot_thread_fn", "kthread", "ret_from_fork" } },
	/* Its own packets, to this machine. */
	{ WOKEN_BY_TASK,
	  { "try_to_wake_up", "sock_def_readable", "tcp_rcv_established", "process_backlog", "__napi_poll",
	    "net_rx_action", "handle_softirqs", "do_softirq", "__local_bh_enable_ip", "__dev_queue_xmit" } },
	{ WOKEN_BY_TASK,
	  { "sock_def_readable", "tcp_v4_rcv", "process_backlog", "__napi_poll", "net_rx_action",
	    "__do_softirq", "do_softirq", "__local_bh_enable_ip", "tcp_sendmsg", "sock_write_iter" } },
	/* Packets that a timer sent. */
	{ WOKEN_BY_NETWORK,
	  { "sock_def_readable", "tcp_v4_rcv", "process_backlog", "__napi_poll", "net_rx_action",
	    "handle_softirqs", "do_softirq", "__local_bh_enable_ip", "unix_release_sock", "do_exit" } },
	{ WOKEN_BY_INTERRUPT,
	  { "try_to_wake_up", "perf_event_wakeup", "irq_work_run", "__sysvec_irq_work", "sysvec_irq_work" } },
	{ WOKEN_BY_SOFTIRQ,
	  { "try_to_wake_up", "complete", "rcu_do_batch", "rcu_core", "handle_softirqs", "__irq_exit_rcu",
	    "sysvec_apic_timer_interrupt" } },
	/* A signal or the end, on the way back from an interrupt. */
	{ WOKEN_BY_TASK,
	  { "try_to_wake_up", "do_notify_parent", "do_exit", "get_signal", "irqentry_exit_to_user_mode",
	    "asm_sysvec_apic_timer_interrupt" } },
	{ WOKEN_BY_TASK,
	  { "try_to_wake_up", "pipe_release", "__fput", "task_work_run", "exit_to_user_mode_loop",
	    "asm_sysvec_reschedule_ipi" } },
	{ WOKEN_BY_TIMER,
	  { "try_to_wake_up", "hrtimer_wakeup", "hrtimer_interrupt", "do_interrupt_handler", "el1_interrupt",
	    "el1h_64_irq_handler", "el1h_64_irq" } },
};

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (n < 16 && list[n])
		n++;
	return n;
}

static struct waker sent_with(unsigned int tid, size_t n)
{
	struct waker w = { .head = {
				   .time = 5, .weight = 7ull << 32 | tid, .tid = 3, .kernel_n = (short)n } };

	for (size_t i = 0; i < n; i++)
		w.stack[i] = i + 2; /* return addresses */
	return w;
}

/* The class by what the program knows, and whether it holds for all of the fingerprint. */
static void check_known(void)
{
	static const char *const timer[] = { "try_to_wake_up", "hrtimer_wakeup", "hrtimer_interrupt",
					     "__sysvec_apic_timer_interrupt", "sysvec_apic_timer_interrupt" };
	static const char *const softirq[] = { "try_to_wake_up", "net_rx_action", "handle_softirqs",
					       "__irq_exit_rcu", "__sysvec_apic_timer_interrupt" };
	const struct lock_found none = { 0 };
	struct waker by_task = sent_with(8, 0), by_idle = sent_with(0, 0), by_disk = sent_with(8, 0),
		     interrupt = sent_with(8, 5);
	enum woken_by by;
	struct wakers w;

	by_task.known = by_idle.known = KNOWN_TASK;
	by_disk.known = KNOWN_BY + WOKEN_BY_DISK;
	by_disk.fingerprint = 1;
	wakers_init(&w, NULL);
	check(!wakers_put(&w, &by_task, &none, &by) && by == WOKEN_BY_TASK, "no interrupt: the task");
	check(!wakers_put(&w, &by_idle, &none, &by) && by == WOKEN_BY_IDLE, "no interrupt: the idle task");
	check(!wakers_put(&w, &by_disk, &none, &by) && by == WOKEN_BY_DISK, "a known fingerprint");
	check_is(wakers_find(&w, 3, 5).by, WOKEN_BY_DISK, "found by the thread");
	names = timer;
	check(!wakers_put(&w, &interrupt, &none, &by) && by == WOKEN_BY_TIMER, "no fingerprint to publish");
	interrupt.fingerprint = 1;
	check(wakers_put(&w, &interrupt, &none, &by) && by == WOKEN_BY_TIMER,
	      "one of an interrupt's own stack");
	wakers_release(&w);
	wakers_init(&w, NULL);
	names = softirq;
	check(!wakers_put(&w, &interrupt, &none, &by) && by == WOKEN_BY_NETWORK,
	      "a softirq depends on frames outside of it");
	interrupt.whole = 1;
	check(wakers_put(&w, &interrupt, &none, &by) && by == WOKEN_BY_NETWORK, "unless all frames count");
	wakers_release(&w);
}

int main(void)
{
	static const char *const deep[64] = { [0 ... 63] = "vfs_write" }, *const task[] = { "try_to_wake_up",
											    "vfs_write" };
	struct waker sent = { .head = { .time = 5, .weight = 7ull << 32 | 8, .tid = 3, .kernel_n = 2 },
			      .stack = { 2, 3 } };
	struct waker_found found;
	uint64_t stack[64];
	enum woken_by by;
	struct wakers w;

	for (uint64_t i = 0; i < 64; i++)
		stack[i] = i + 2; /* return addresses */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wakers_init(&w, NULL);
		names = rows[i].names;
		check(wakers_classify(&w, stack, count(names), false) == rows[i].by, rows[i].names[1]);
		wakers_release(&w);
	}
	wakers_init(&w, NULL);
	names = deep;
	check(wakers_classify(&w, stack, 64, false) == WOKEN_BY_UNKNOWN,
	      "a stack that may be cut says nothing");
	check_is(wakers_classify(&w, stack, 0, false), WOKEN_BY_UNKNOWN, "nor does none");
	check_is(wakers_classify(&w, stack, 9, true), WOKEN_BY_IDLE, "the idle task");
	wakers_release(&w);
	wakers_init(&w, NULL);
	names = task;
	wakers_put(&w, &sent, &(struct lock_found){ LOCK_JOIN, 9, 3 }, &by);
	found = wakers_find(&w, 3, 5);
	check(found.by == WOKEN_BY_TASK && found.pid == 7 && found.tid == 8 && found.lock.tid == 3,
	      "found by the thread and the time");
	check_is(wakers_find(&w, 3, 6).by, WOKEN_BY_UNKNOWN, "not at another time");
	check_is(wakers_find(&w, 4, 5).by, WOKEN_BY_UNKNOWN, "nor for another thread");
	wakers_release(&w);
	check_known();
	return checks_done();
}
