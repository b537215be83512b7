/*
 * The parts of each language's program, which walks the frames of the language, appends them to the sample,
 * and calls the end of the sample. It uses no part of its context, so the loader gives it the type of the
 * program that calls it.
 *
 * The includer defines sample_room, and has included percpu.bpf.h or event_ring.bpf.h.
 */
#ifndef CPROF_BPF_LANG_PROGRAM_H
#define CPROF_BPF_LANG_PROGRAM_H

#include "bpf/unwind.bpf.h"
#include "bpf/lang/lang.bpf.h"

/* Is there room for LANG_FRAMES frames after the sample? */
static __always_inline int sample_room(const struct scratch *s);

/* frames: up to LANG_FRAMES of them, leaf first. */
static __always_inline void append_frames(struct scratch *s, const void *frames, unsigned int n)
{
	unsigned int at = s->n, bytes = n * 8;

	if (n == 0 || n > LANG_FRAMES || !sample_room(s))
		return;
	asm volatile("" : "+r"(bytes)); /* 5.10 learns nothing of a product from its factor */
	if (bytes > LANG_FRAMES * 8)
		return;
	if (at > ADDRESSES + sizeof(struct sample_state))
		return;
	if (s->head.has_state)
		at += (s->head.stack_n + 7) & ((SAMPLE_STACK_MAX << 1) - 8);
	if (at > ADDRESSES + sizeof(struct sample_state) + stack_limit)
		return;
	if (bpf_probe_read_kernel(my_data(s) + at, bytes, frames) == 0)
		s->head.lang_n = n;
}

static __always_inline void call_finish(void *ctx, const struct scratch *s)
{
	unsigned int event = s->head.what == SAMPLE_EVENT ? s->head.event : 0;

	bpf_tail_call(ctx, &calls, CALL_FINISH + event);
}

/* Further arguments are those of the language's walk, after its state. */
#define LANG_PROGRAM(language, ...)                        \
	SEC("perf_event")                                  \
	int walk_##language(void *ctx)                     \
	{                                                  \
		struct lang_walk *l = lang_walk_state();   \
		struct scratch *s = my_scratch();          \
                                                           \
		if (!s)                                    \
			return 0;                          \
		if (l) {                                   \
			language##_walk(l, ##__VA_ARGS__); \
			append_frames(s, l->frames, l->n); \
		}                                          \
		call_finish(ctx, s);                       \
		return 0;                                  \
	}

#endif
