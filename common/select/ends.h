/*
 * How complete stacks are, by how they ended. fold, top, diff and the recorder's summary all ask here, so
 * that they agree on which stacks are truncated.
 *
 *	uint64_t by_root[ENDS] = { 0 };	// stacks of one half, by enum root
 *
 *	ends_count(by_root, &capture, sample->user, root, 1);
 *	struct ends e = ends_of(by_root);
 *
 *	...e.truncated of e.stacks...
 */
#ifndef CPROF_SELECT_ENDS_H
#define CPROF_SELECT_ENDS_H

#include "common/capture/capture.h"

/* Captures made from the text of perf script, or from pprof, do not know how an uncut stack ended. */
enum { ENDS_UNKNOWN = NODE_FIRST, ENDS };

/* stacks is the sum of the others. */
struct ends {
	uint64_t stacks;
	uint64_t complete;   /* up to the outermost frame */
	uint64_t unverified; /* as far as frame pointers led, which may be the whole stack */
	uint64_t unknown;    /* end not known */
	/* outer frames, or all, are missing; includes ends that this version does not know */
	uint64_t truncated;
};

/* Returns whether the half does not exist or was not recorded: it is neither complete nor truncated. */
static inline bool ends_as_none(uint64_t root)
{
	return root == ROOT_KTHREAD || root == ROOT_NOT_ASKED;
}

static inline bool ends_truncated(uint64_t root)
{
	return root != ROOT_COMPLETE && root != ROOT_FP_END && root != ENDS_UNKNOWN && !ends_as_none(root);
}

/* Returns the index in by_root under which a stack of this capture counts. */
static inline uint64_t ends_index(const struct capture *c, uint64_t root)
{
	struct slice engine = capture_meta(c, "engine");
	bool unknown = slice_is(engine, "perf-script") || slice_is(engine, "pprof");

	return root == ROOT_FP_END && unknown ? ENDS_UNKNOWN : root;
}

/*
 * Counts samples of a half with this innermost node, whose stack ended with root. A half without frames is a
 * stack only if it could not be read; otherwise the sample has no such half.
 */
static inline void ends_count(uint64_t by_root[ENDS], const struct capture *c, uint64_t node, uint64_t root,
			      uint64_t samples)
{
	uint64_t end = ends_index(c, root);

	if (node >= NODE_FIRST || ends_truncated(end))
		by_root[end] += samples;
}

static inline struct ends ends_of(const uint64_t by_root[ENDS])
{
	struct ends e = { .complete = by_root[ROOT_COMPLETE], .unverified = by_root[ROOT_FP_END],
			  .unknown = by_root[ENDS_UNKNOWN] };

	for (uint64_t root = 0; root < NODE_FIRST; root++)
		e.truncated += ends_truncated(root) ? by_root[root] : 0;
	e.stacks = e.complete + e.unverified + e.unknown + e.truncated;
	return e;
}

#endif
