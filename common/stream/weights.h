/*
 * The weight of a sample that does not carry one: its event's period. The writer leaves that weight out and
 * the reader fills it in. Samples of events beyond the table always carry their weight. An event keeps its
 * period within a segment: if the period could change in a block that gets lost, the samples after that block
 * would silently have the wrong weight.
 */
#ifndef CPROF_STREAM_WEIGHTS_H
#define CPROF_STREAM_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WEIGHTS_MAX = 64 };

struct weights {
	uint64_t of[WEIGHTS_MAX];
	bool known[WEIGHTS_MAX];
};

static inline void weights_clear(struct weights *w)
{
	memset(w, 0, sizeof(*w));
}

/* Returns false if the event already has another weight. */
static inline bool weights_set(struct weights *w, uint64_t event, uint64_t weight)
{
	if (event >= WEIGHTS_MAX)
		return true;
	if (w->known[event])
		return w->of[event] == weight;
	w->of[event] = weight;
	w->known[event] = true;
	return true;
}

static inline uint64_t weights_get(const struct weights *w, uint64_t event)
{
	return event < WEIGHTS_MAX ? w->of[event] : 0;
}

#endif
