/*
 * Spans, the output of the readers of the several sections: a range of the file in which a rule holds. Only
 * for this directory.
 *
 * If spans overlap, the one of the better source counts; for one source, the one added first.
 */
#ifndef CPROF_UNWIND_SPANS_H
#define CPROF_UNWIND_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/unwind/rule.h"

/*
 * Best first. In Go programs .debug_frame has neither the place of rbp nor the ends of stacks; Go's own table
 * has both. The code's own bytes serve only where all other sources have nothing.
 */
enum span_source { SPAN_EH_FRAME, SPAN_GO, SPAN_DEBUG_FRAME, SPAN_CODE };

/* 16 bytes, because a large library has a million. */
struct span {
	uint64_t start;  /* file offset */
	uint32_t length; /* a table has no more than 4 GiB */
	uint16_t rule;   /* index in rules */
	uint8_t source;
};

static inline uint64_t span_end(const struct span *span)
{
	return span->start + span->length;
}

struct spans {
	struct span *items;
	size_t n, cap;
	struct unwind_rule *rules; /* each once, the gap first; lent */
	size_t n_rules, cap_rules;
	void *rule_index; /* private to spans.c; owns the rules */
	bool failed;    /* out of memory */
	bool too_large; /* more rules or spans than allowed, or a longer span */
};

/* Adds a span, unless it is empty. Sets failed or too_large on failure; further calls then do nothing. */
void spans_add(struct spans *s, enum span_source source, uint64_t start, uint64_t end, const struct unwind_rule *rule);
void spans_release(struct spans *s);

/* spans_undo removes everything that was added after the mark. */
struct spans_mark {
	size_t n;
	uint32_t length; /* bytes of the last span, which an addition may have extended */
};

static inline struct spans_mark spans_mark(const struct spans *s)
{
	return (struct spans_mark){ s->n, s->n ? s->items[s->n - 1].length : 0 };
}

static inline void spans_undo(struct spans *s, struct spans_mark mark)
{
	s->n = mark.n;
	if (mark.n)
		s->items[mark.n - 1].length = mark.length;
}

#endif
