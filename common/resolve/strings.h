/*
 * STRING records of the segment that is being written: the id of each text.
 *
 * Ids of the input keep their meaning. New ids start at 1 or, if the input has some, at a round number above
 * them, so that later ids of the input do not collide with ours. If there is no room above them, new ids are
 * those that the input has not used.
 */
#ifndef CPROF_RESOLVE_STRINGS_H
#define CPROF_RESOLVE_STRINGS_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/stream/writer.h"

struct strings {
	uint32_t *ids; /* by text; 0: none */
	size_t cap;
	struct idmap texts;     /* by id */
	uint64_t highest, next; /* next 0: to be chosen */
	uint64_t taken;         /* ids up to here are in use, if there is no room above the highest */
};

/* Clears all, for a new segment. */
void strings_clear(struct strings *s);
void strings_release(struct strings *s);
/* Notes that the input gives this text an id. Returns false if out of memory. */
bool strings_see(struct strings *s, uint64_t id, uint32_t text);
/* Writes a STRING for a text that has no id yet. Returns the id, 0 if out of memory. */
uint32_t strings_say(struct strings *s, const struct intern *texts, uint32_t text, struct writer *w);
/* Returns the id of a text, and writes its STRING record if it had none; 0 if out of memory. */
static inline uint32_t strings_id(struct strings *s, const struct intern *texts, uint32_t text, struct writer *w)
{
	return text < s->cap && s->ids[text] ? s->ids[text] : strings_say(s, texts, text, w);
}
/* Prefetches the id of a text that is needed soon. */
static inline void strings_expect(const struct strings *s, uint32_t text)
{
	if (text < s->cap)
		__builtin_prefetch(&s->ids[text]);
}

#endif
