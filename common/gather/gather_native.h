/*
 * Stacks of interpreted languages without the machine frames that the view does not show.
 *
 *	struct gather_native n;
 *
 *	if (!gather_native_init(&n, &names, view->native)) ...out of memory...
 *	if (!gather_native_stack(&n, user, epoch, number, &shown)) ...out of memory...
 *	for (; shown >= NODE_FIRST; shown = n.nodes[shown].parent)
 *		...n.nodes[shown].frame...
 *	gather_native_release(&n);
 *
 * Stacks without a frame of a language are unchanged, and so are the ends of all stacks. n.nodes are the nodes
 * of the capture, followed by nodes of stacks that are shown with fewer frames. Create the object after the
 * whole segment has been read.
 *
 * With NATIVE_LIB, these machine frames vanish from a stack that holds frames of a language: the interpreter's
 * loop, which is the frame directly outside one of the language; glue, see glue.h; code that the interpreter
 * generated for its functions; and, between two frames of languages, frames without a name in the same file as
 * the loop. With NATIVE_NONE, all machine frames vanish
 * from such a stack.
 */
#ifndef CPROF_GATHER_GATHER_NATIVE_H
#define CPROF_GATHER_GATHER_NATIVE_H

#include "common/gather/gather_names.h"
#include "common/select/view.h"

struct gather_native {
	const struct gather_names *names;
	enum view_native native;
	const struct capture_node *nodes;
	/* The rest is only there if the capture has frames of languages. */
	uint8_t *languages;       /* by node of the capture: glue_bit of all languages in its stack */
	struct capture_node *own; /* nodes points to it */
	size_t n, cap;
	struct idmap edges;       /* parent and frame to node, for nodes beyond those of the capture */
	struct native_memo *memo; /* by node of the capture */
	uint8_t *glue;            /* by text id: languages + 1; 0: not looked up yet */
	struct native_step *path;
	size_t cap_path;
};

/* Returns false if out of memory; the object can be released even then. */
bool gather_native_init(struct gather_native *n, const struct gather_names *names, enum view_native native);
void gather_native_release(struct gather_native *n);
/* The part of gather_native_stack for stacks with frames of languages. */
bool gather_native_cut(struct gather_native *n, uint32_t node, uint64_t epoch, uint32_t number,
		       uint32_t *shown);

/* Returns whether the stack has frames of a language. */
static inline bool gather_native_has_lang(const struct gather_native *n, uint32_t node)
{
	return n->languages && node >= NODE_FIRST && n->languages[node];
}

/* Sets *shown to the innermost node that is shown of a stack. number: see gather_names_epoch. */
static inline bool gather_native_stack(struct gather_native *n, uint32_t node, uint64_t epoch,
				       uint32_t number, uint32_t *shown)
{
	*shown = node;
	return n->native == NATIVE_ALL || !gather_native_has_lang(n, node) ||
	       gather_native_cut(n, node, epoch, number, shown);
}

#endif
