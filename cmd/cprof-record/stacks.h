/* From what came from the kernel to the two halves of a stack as the stream has them. */
#ifndef CPROF_RECORD_STACKS_H
#define CPROF_RECORD_STACKS_H

#include "cmd/cprof-record/emit.h"

/* Addresses leaf first; end is an enum root. Without an address end says why there is none. */
struct stack {
	struct user_stack user;
	const uint64_t *kernel;
	int kernel_n;
	enum root kernel_end;
};

/*
 * The stack of a sample of p; what it points to is the sample's, or room's: SAMPLE_DEPTH_MAX addresses.
 * EMIT_WAITS as emit_sample.
 */
enum emitted stacks_take(struct emit *e, const struct sample_head *s, struct proc *p, uint64_t *room, struct stack *out);
/* The nodes of both halves; p is known to the stream. False without memory. */
bool stacks_nodes(struct emit *e, const struct proc *p, const struct stack *stack, uint64_t *user, uint64_t *kernel);

#endif
