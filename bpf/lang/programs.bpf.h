/*
 * The programs of the languages whose frames have a chain of their own, and the one that finds the language of
 * a process.
 *
 * The includer defines sample_room, and has included percpu.bpf.h or event_ring.bpf.h.
 */
#ifndef CPROF_BPF_LANG_PROGRAMS_H
#define CPROF_BPF_LANG_PROGRAMS_H

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
