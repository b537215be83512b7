/*
 * A dictionary of rules: each once, the gap first. Only for this directory.
 */
#ifndef CPROF_UNWIND_RULESET_H
#define CPROF_UNWIND_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/unwind/rule.h"

#define RULE_NONE UINT32_MAX

/* A zeroed object is empty, and limited only by the 16 bits of a row. */
struct ruleset {
	struct unwind_rule *items;
	size_t n, cap;
	size_t max;      /* limit; 0: UNWIND_RULES */
	uint32_t *slots; /* index + 1, 0 is empty; their number is a power of two */
	size_t mask;
	bool failed;     /* out of memory */
	bool too_large;
};

/*
 * Returns the rule's number; adds the rule if it is new, and the gap before the first. On failure returns
 * RULE_NONE and sets failed or too_large.
 */
uint32_t ruleset_add(struct ruleset *t, const struct unwind_rule *rule);
/* Returns the rule's number, or RULE_NONE. */
uint32_t ruleset_find(const struct ruleset *t, const struct unwind_rule *rule);
void ruleset_release(struct ruleset *t);

#endif
