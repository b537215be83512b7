/* Turns samples from the kernel into stacks as the stream has them, in two halves. */
#ifndef CPROF_RECORD_STACKS_H
#define CPROF_RECORD_STACKS_H

#include "cmd/cprof-record/emit.h"

/* Addresses are leaf first; each end is an enum root. Without addresses, the end says why. */
struct stack {
	struct user_stack user;
	const uint64_t *kernel;
	int kernel_n;
	enum root kernel_end;
};

/*
 * Takes the stack of a sample of p. out points into the sample and into room, which has SAMPLE_DEPTH_MAX
 * addresses. Returns EMIT_WAITS as emit_sample does.
 */
enum emitted stacks_take(struct emit *e, const struct sample_head *s, struct proc *p, uint64_t *room, struct stack *out);
/* Finds the nodes of both halves, or makes them. The stream must know p. False: out of memory. */
bool stacks_nodes(struct emit *e, const struct proc *p, const struct stack *stack, uint64_t *user, uint64_t *kernel);

#endif
