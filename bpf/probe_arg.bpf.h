/* Reads an argument of a probe in user code. ctx: the program's context, which is the thread's registers. */
#ifndef CPROF_BPF_PROBE_ARG_H
#define CPROF_BPF_PROBE_ARG_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/event.h"

static __always_inline unsigned long long read_register(void *ctx, unsigned int at)
{
	unsigned long long v = 0;

	if (at != EVENT_NO_REG)
		bpf_probe_read_kernel(&v, sizeof(v), ctx + at);
	return v;
}

static __always_inline unsigned long long read_argument(void *ctx, const struct event_arg *a)
{
	unsigned long long at =
		a->value + read_register(ctx, a->reg) + (read_register(ctx, a->index) << (a->shift & 3));
	unsigned long long v = 0;
	unsigned int size = a->size & 7 ? a->size & 7 : 8, unused = 64 - 8 * size;

	if (!a->memory)
		v = at;
	else
		bpf_probe_read_user(&v, size, (void *)at);
	v <<= unused & 63;
	return a->is_signed ? (unsigned long long)((long long)v >> (unused & 63)) : v >> (unused & 63);
}

#endif
