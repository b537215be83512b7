/*
 * A dictionary of rules: each once, the gap first. For this room only.
 */
#ifndef CPROF_UNWIND_RULESET_H
#define CPROF_UNWIND_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/unwind/rule.h"

#define RULE_NONE UINT32_MAX

/* Zeroes are an empty one, without a limit below that of a row's 16 bits. */
struct ruleset {
	struct unwind_rule *items;
	size_t n, cap;
	size_t max;      /* no more than this; 0: UNWIND_RULES */
	uint32_t *slots; /* index + 1, 0 is empty; a power of two of them */
	size_t mask;
	bool failed;     /* memory */
	bool too_large;
};

/* Finds or adds; RULE_NONE, and failed or too_large set, where it cannot. The gap is added before the first. */
uint32_t ruleset_add(struct ruleset *t, const struct unwind_rule *rule);
/* Finds only. */
uint32_t ruleset_find(const struct ruleset *t, const struct unwind_rule *rule);
void ruleset_release(struct ruleset *t);

#endif
