/*
 * Frames, and the stack nodes that contain them.
 *
 *	wrong = node_apply(c, &r->node);	// NULL, or "a node of an undefined frame"
 *
 * For capture_apply (see capture_internal.h). Inline, because most records of a capture are of these types: calls to
 * another file cost cprof-fold 1.2 % more instructions.
 */
#ifndef CPROF_CAPTURE_NODES_H
#define CPROF_CAPTURE_NODES_H

#include "common/capture/capture_internal.h"

static inline const char *frame_apply(struct capture *c, const struct record_frame *r)
{
	const char *wrong;

	if (r->process && !DEFINED(c, processes, r->process))
		return "a frame of an undefined process";
	wrong = MAKE_ROOM(c, frames, r->id);
	if (wrong)
		return wrong;
	if (c->frames[r->id].defined)
		return "a frame defined twice";
	c->frames[r->id] = (struct capture_frame){ .address = r->address,
						   .process = (uint32_t)r->process,
						   .kind = (uint8_t)r->kind,
						   .defined = true };
	if (!r->process)
		c->frames[r->id].ksyms = (uint32_t)c->n_ksyms;
	c->defined_frames++;
	return NULL;
}

/* Returns the process of a node, 0 for the kernel. It is the same for all nodes of a stack. */
static inline uint32_t node_process(const struct capture *c, uint64_t node)
{
	return c->frames[c->nodes[node].frame].process;
}

static inline bool node_known(const struct capture *c, uint64_t node)
{
	return node < NODE_FIRST || (node < c->n_nodes && c->nodes[node].frame);
}

static inline const char *node_apply(struct capture *c, const struct record_node *r)
{
	const char *wrong;

	if (r->id < NODE_FIRST)
		return "a node with the id of a root";
	if (!DEFINED(c, frames, r->frame))
		return "a node of an undefined frame";
	if (r->parent >= NODE_FIRST && (r->parent >= c->n_nodes || !c->nodes[r->parent].frame))
		return "a node with an undefined parent";
	if (r->parent >= r->id)
		return "a node whose parent comes after it";
	if (r->parent >= NODE_FIRST && node_process(c, r->parent) != c->frames[r->frame].process)
		return "a node of another process than its parent";
	wrong = MAKE_ROOM(c, nodes, r->id);
	if (wrong)
		return wrong;
	if (c->nodes[r->id].frame)
		return "a node defined twice";
	c->nodes[r->id] = (struct capture_node){ (uint32_t)r->parent, (uint32_t)r->frame, 0 };
	c->defined_nodes++;
	return NULL;
}

#endif
