/*
 * The programs of the languages whose frames have a chain of their own, and the one that finds the language of
 * a process.
 *
 * The includer defines sample_room, and has included percpu.bpf.h or event_ring.bpf.h.
 */
#ifndef CPROF_BPF_LANG_PROGRAMS_H
#define CPROF_BPF_LANG_PROGRAMS_H

#include "bpf/lang/usdt_maps.bpf.h"
#include "bpf/lang/program.bpf.h"
#include "bpf/lang/php.bpf.h"
#include "bpf/lang/perl.bpf.h"
#include "bpf/lang/python.bpf.h"
#include "bpf/lang/ruby.bpf.h"

SEC("perf_event")
int lang_find(void *ctx)
{
	struct lang_walk *l = lang_walk_state();
	struct scratch *s = my_scratch();
	unsigned int language = 0;

	if (!s)
		return 0;
	if (l && lang_begin(l, s->head.pid, &language))
		bpf_tail_call(ctx, &calls, CALL_LANGUAGE + language);
	call_finish(ctx, s);
	return 0;
}

/* The frames of the thread's stack of calls; they end with one that says that inner frames are not kept. */
static __always_inline void append_calls(struct scratch *s, const struct usdt_stack *stack)
{
	unsigned int n = stack->depth;

	if (n > USDT_FRAMES)
		n = USDT_FRAMES + 1;
	append_frames(s, (const void *)stack + __builtin_offsetof(struct usdt_stack, frames) +
				 (LANG_SLOTS - n) * 8, n);
}

/* Instead of lang_find if there are call probes. */
SEC("perf_event")
int usdt_find(void *ctx)
{
	struct scratch *s = my_scratch();
	const struct usdt_stack *stack = NULL;
	const struct usdt_thread *thread;
	struct lang_walk *l = lang_walk_state();
	unsigned int language = 0;

	if (!s)
		return 0;
	thread = bpf_map_lookup_elem(&usdt_threads, &s->head.tid);
	if (thread)
		stack = usdt_stack_of(s->head.tid, thread);
	if (stack)
		append_calls(s, stack);
	else if (l && lang_begin(l, s->head.pid, &language))
		bpf_tail_call(ctx, &calls, CALL_LANGUAGE + language);
	call_finish(ctx, s);
	return 0;
}

/* The register r15 where user code was interrupted; 0 elsewhere. */
static __always_inline __u64 interrupted_r15(const struct scratch *s)
{
	return s->head.kernel_n ? 0 : s->walk.regs[15];
}

LANG_PROGRAM(python)
LANG_PROGRAM(php, interrupted_r15(s))
LANG_PROGRAM(ruby)
LANG_PROGRAM(perl)

char LICENSE[] SEC("license") = "GPL";

#endif
