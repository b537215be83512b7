#include "cmd/cprof-record/encode/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/intern.h"
#include "common/stream/record.h"

enum { SLOTS_FIRST = 1 << 12 };
#define NO_PROCESS UINT64_MAX

bool calltree_init(struct calltree *t)
{
	*t = (struct calltree){ .n_frames = 1, .n_nodes = NODE_FIRST };
	t->node_slots = calloc(SLOTS_FIRST, sizeof(uint32_t));
	t->frame_slots = calloc(SLOTS_FIRST, sizeof(uint32_t));
	t->node_mask = t->frame_mask = SLOTS_FIRST - 1;
	return t->node_slots && t->frame_slots;
}

void calltree_release(struct calltree *t)
{
	free(t->frames);
	free(t->nodes);
	free(t->node_slots);
	free(t->frame_slots);
	*t = (struct calltree){ 0 };
}

void calltree_clear(struct calltree *t)
{
	memset(t->node_slots, 0, (t->node_mask + 1) * sizeof(uint32_t));
	memset(t->frame_slots, 0, (t->frame_mask + 1) * sizeof(uint32_t));
	t->n_frames = 1;
	t->n_nodes = NODE_FIRST;
}

bool calltree_forget_kernel(struct calltree *t, uint64_t start, uint64_t length)
{
	bool any = false;

	for (size_t i = 1; i < t->n_frames; i++) {
		if (t->frames[i].process || t->frames[i].address - start > length)
			continue;
		t->frames[i].process = NO_PROCESS; /* equal to none that is asked for */
		any = true;
	}
	return any;
}

static uint64_t frame_hash(const struct calltree_frame *f)
{
	return hash_u64(f->address * 2 + f->kind + (f->process << 48 ^ f->process * 0x9e3779b97f4a7c15));
}

static uint64_t node_hash(uint32_t parent, uint64_t frame)
{
	return hash_u64(frame ^ (uint64_t)parent << 32 ^ parent);
}

static uint64_t hash_of_node(const struct calltree *t, uint32_t id)
{
	return node_hash(t->nodes[id].parent, frame_hash(&t->frames[t->nodes[id].frame]));
}

static uint64_t hash_of_frame(const struct calltree *t, uint32_t id)
{
	return frame_hash(&t->frames[id]);
}

static bool grow_slots(const struct calltree *t, uint32_t **slots, size_t *mask,
		       uint64_t (*hash)(const struct calltree *t, uint32_t id))
{
	size_t bigger = (*mask + 1) * 2 - 1;
	uint32_t *to = calloc(bigger + 1, sizeof(*to));

	if (!to)
		return false;
	for (size_t i = 0; i <= *mask; i++) {
		size_t at;

		if (!(*slots)[i])
			continue;
		at = hash(t, (*slots)[i]) & bigger;
		while (to[at])
			at = (at + 1) & bigger;
		to[at] = (*slots)[i];
	}
	free(*slots);
	*slots = to;
	*mask = bigger;
	return true;
}

static uint32_t intern_frame(struct calltree *t, const struct calltree_frame *f, uint64_t hash)
{
	size_t at;

	if (t->n_frames * 2 > t->frame_mask && !grow_slots(t, &t->frame_slots, &t->frame_mask, hash_of_frame))
		return 0;
	for (at = hash & t->frame_mask; t->frame_slots[at]; at = (at + 1) & t->frame_mask) {
		if (calltree_same_frame(&t->frames[t->frame_slots[at]], f))
			return t->frame_slots[at];
	}
	if (t->n_frames >= UINT32_MAX / 2 || !grow_array(&t->frames, &t->cap_frames, t->n_frames, sizeof(*t->frames)))
		return 0;
	t->frames[t->n_frames] = *f;
	t->frame_slots[at] = (uint32_t)t->n_frames;
	return (uint32_t)t->n_frames++;
}

uint32_t calltree_child(struct calltree *t, uint32_t parent, const struct calltree_frame *f)
{
	uint64_t hash = frame_hash(f);
	uint32_t frame;
	size_t at;

	if (t->n_nodes * 2 > t->node_mask && !grow_slots(t, &t->node_slots, &t->node_mask, hash_of_node))
		return 0;
	for (at = node_hash(parent, hash) & t->node_mask; t->node_slots[at]; at = (at + 1) & t->node_mask) {
		const struct calltree_node *n = &t->nodes[t->node_slots[at]];

		if (n->parent == parent && calltree_same_frame(&t->frames[n->frame], f))
			return t->node_slots[at];
	}
	frame = intern_frame(t, f, hash);
	if (!frame || t->n_nodes >= UINT32_MAX / 2 ||
	    !grow_array(&t->nodes, &t->cap_nodes, t->n_nodes, sizeof(*t->nodes)))
		return 0;
	t->nodes[t->n_nodes] = (struct calltree_node){ parent, frame };
	t->node_slots[at] = (uint32_t)t->n_nodes;
	return (uint32_t)t->n_nodes++;
}
