/*
 * STRING records of the segment that is being written: which text has which id.
 *
 * Ids that stand in the input keep their meaning. Own ones begin at 1, or, where the input has some,
 * at a round number above them, so that those which are still to come do not meet ours.
 */
#ifndef CPROF_RESOLVE_STRINGS_H
#define CPROF_RESOLVE_STRINGS_H

#include "common/base/hash.h"
#include "common/stream/writer.h"

struct strings {
	uint32_t *ids; /* by text; 0: has none */
	size_t cap;
	struct idmap texts;     /* by id */
	uint64_t highest, next; /* next 0: to be chosen */
};

/* Forgets all, for a new segment. */
void strings_clear(struct strings *s);
void strings_release(struct strings *s);
/* The input says that id is this text. False without memory. */
bool strings_see(struct strings *s, uint64_t id, uint32_t text);
/* Where it has none yet. */
uint32_t strings_say(struct strings *s, const struct intern *texts, uint32_t text, struct writer *w);
/* The id of a text; writes a STRING record if it had none. 0 without memory. */
static inline uint32_t strings_id(struct strings *s, const struct intern *texts, uint32_t text, struct writer *w)
{
	return text < s->cap && s->ids[text] ? s->ids[text] : strings_say(s, texts, text, w);
}
/* The same will be asked soon. */
static inline void strings_expect(const struct strings *s, uint32_t text)
{
	if (text < s->cap)
		__builtin_prefetch(&s->ids[text]);
}

#endif
