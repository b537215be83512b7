/* Turns samples from the kernel into stacks as the stream has them, in two halves, with their nodes in the tree of a segment. */
#ifndef CPROF_RECORD_ENCODE_EMIT_STACKS_H
#define CPROF_RECORD_ENCODE_EMIT_STACKS_H

#include "cmd/cprof-record/source/engine.h"
#include "cmd/cprof-record/encode/kernel_frames.h"
#include "cmd/cprof-record/process/procs.h"
#include "cmd/cprof-record/unwind/user_walk.h"
#include "cmd/cprof-record/encode/calltree.h"
#include "cmd/cprof-record/lang/runtimes.h"

struct callers;

struct stacks {
	/* Lent, and set before stacks_init. */
	const struct options *options;
	struct engine *engine;
	const struct procs *procs;
	struct user_walk *user_walk; /* NULL: stacks are not walked by tables */
	struct runtimes *runtimes; /* NULL: no frames of interpreted languages */
	struct kernel_frames frames;

	struct calltree tree;
	struct callers *callers; /* cache of recent leaves, by a hash */
	uint32_t fps[SAMPLE_DEPTH_MAX]; /* user_stack.fps of the current stack */
};

/* Addresses are leaf first; each end is an enum root. Without addresses, the end says why. */
struct stack {
	struct user_stack user;
	const uint64_t *kernel;
	int kernel_n;
	enum root kernel_end;
	uint32_t label; /* number of a label, which becomes the innermost frame of the user stack; 0: none */
};

enum { STACK_ROOM = SAMPLE_DEPTH_MAX + LANG_FRAMES };

/* The kind of a calltree_frame of a language: its address is that of script_functions_at. */
enum { STACK_FRAME_LANG = FRAME_KINDS, STACK_FRAME_LABEL };

/* The address of a frame that is a label is this plus its number: no code can be there. */
#define STACK_LABELS (1ull << 63)

enum stack_state {
	STACK_READY,
	STACK_WAITS, /* a table that it needs is being made: ask again, with everything as it was */
};

/* Returns false if out of memory; stacks_release is due all the same. */
bool stacks_init(struct stacks *st);
void stacks_release(struct stacks *st);
/* A new segment: forgets the tree. */
void stacks_restart(struct stacks *st);
/* Forgets the kernel's frames in a range, which has other code now. Returns true if there are any. */
bool stacks_forget_kernel(struct stacks *st, uint64_t start, uint64_t length);
/* Makes the stack of a sample of p. out points into the sample and into room, which has STACK_ROOM addresses. */
enum stack_state stacks_take(struct stacks *st, const struct sample_head *s, struct proc *p, uint64_t *room, struct stack *out);
/* Finds the nodes of both halves, or makes them. The stream must know p. False: out of memory. */
bool stacks_nodes(struct stacks *st, const struct proc *p, const struct stack *stack, uint64_t *user, uint64_t *kernel);

#endif
