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

/* Best first. */
enum span_source { SPAN_EH_FRAME, SPAN_DEBUG_FRAME, SPAN_GO, SPAN_CODE /* bytes of a sigreturn */ };

struct span {
	uint64_t start, end; /* file offsets */
	uint16_t rule;       /* index in rules */
	uint8_t source;
};

struct spans {
	struct span *items;
	size_t n, cap;
	struct unwind_rule *rules; /* interned */
	size_t n_rules, cap_rules;
	void *rule_index; /* of spans.c */
	bool failed;    /* memory */
	bool too_large; /* more rules than a table may have */
};

void spans_add(struct spans *s, enum span_source source, uint64_t start, uint64_t end, const struct unwind_rule *rule);
void spans_release(struct spans *s);

#endif
