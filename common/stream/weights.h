/*
 * What a sample of each event weighs when it does not say: the event's period. Shared by the reader
 * and the writer, which leave that weight out. Events beyond the table always name their weight.
 * An event keeps its period while the segment lasts: were it to change in a block that gets lost,
 * the samples behind that would weigh something else and nobody would notice.
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

/* False where the event has another weight already. */
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
