/*
 * What the readers of the several sections tell the builder: from this byte of the file to that one this
 * rule holds. For this room only.
 *
 * Where spans overlap, the one of the better source counts; of one source the one that was added first.
 */
#ifndef CPROF_UNWIND_SPANS_H
#define CPROF_UNWIND_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/unwind/rule.h"

/*
 * Best first. In Go programs .debug_frame knows neither where rbp is nor where stacks end, and Go's own table has
 * both; the code's own bytes are for what no other source knows.
 */
enum span_source { SPAN_EH_FRAME, SPAN_GO, SPAN_DEBUG_FRAME, SPAN_CODE };

struct span {
	uint64_t start, end; /* file offsets */
	uint16_t rule;       /* index in rules */
	uint8_t source;
};

struct spans {
	struct span *items;
	size_t n, cap;
	struct unwind_rule *rules; /* each once, the gap first; only lent here */
	size_t n_rules, cap_rules;
	void *rule_index; /* of spans.c, which owns them */
	bool failed;    /* memory */
	bool too_large; /* more rules than a table may have */
};

void spans_add(struct spans *s, enum span_source source, uint64_t start, uint64_t end, const struct unwind_rule *rule);
void spans_release(struct spans *s);

/* What has been added from the mark on is as if it had never been. */
struct spans_mark {
	size_t n;
	uint64_t end; /* of the last: an addition may have made it longer */
};

static inline struct spans_mark spans_mark(const struct spans *s)
{
	return (struct spans_mark){ s->n, s->n ? s->items[s->n - 1].end : 0 };
}

static inline void spans_undo(struct spans *s, struct spans_mark mark)
{
	s->n = mark.n;
	if (mark.n)
		s->items[mark.n - 1].end = mark.end;
}

#endif
