/*
 * The calling-context tree of a segment: it turns each stack into one number.
 *
 * One table finds a node by its parent and the address of its frame, so a stack that was seen before
 * costs one look-up a frame and writes nothing.
 */
#ifndef CPROF_RECORD_ENCODE_CALLTREE_H
#define CPROF_RECORD_ENCODE_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calltree_frame {
	uint64_t address;
	uint64_t process; /* 0: kernel */
	uint32_t kind;
};

struct calltree_node {
	uint32_t parent, frame;
};

struct calltree {
	struct calltree_frame *frames; /* by id, from 1 */
	struct calltree_node *nodes;   /* by id, from NODE_FIRST */
	size_t n_frames, cap_frames, n_nodes, cap_nodes;
	uint32_t *node_slots, *frame_slots; /* id, 0: empty */
	size_t node_mask, frame_mask;
};

static inline bool calltree_same_frame(const struct calltree_frame *a, const struct calltree_frame *b)
{
	return a->address == b->address && a->process == b->process && a->kind == b->kind;
}

/* False: out of memory; call calltree_release all the same. */
bool calltree_init(struct calltree *t);
void calltree_release(struct calltree *t);
/* Forgets everything, for a new segment. */
void calltree_clear(struct calltree *t);
/*
 * Forgets the kernel's frames in a range that has other code from now on, and those with a return address at
 * its end. They keep their ids, and the next frame there gets another. Returns true if there are any.
 */
bool calltree_forget_kernel(struct calltree *t, uint64_t start, uint64_t length);
/* Returns the child of parent (a root or a node) for this frame, a new one if need be. 0: out of memory. */
uint32_t calltree_child(struct calltree *t, uint32_t parent, const struct calltree_frame *f);

#endif
