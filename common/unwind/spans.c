#include "common/unwind/spans.h"

#include <stdlib.h>

#include "common/unwind/ruleset.h"

/* Twenty times as many as the largest libraries have. */
enum { SPANS_MAX = 1 << 24, FEW = 1 << 16 };

/* Returns the rule's number, or RULE_NONE; rules and n_rules are those of the set. */
static uint32_t rule_number(struct spans *s, const struct unwind_rule *rule)
{
	struct ruleset *set = s->rule_index;
	uint32_t number;

	if (!set && !(set = s->rule_index = calloc(1, sizeof(*set)))) {
		s->failed = true;
		return RULE_NONE;
	}
	number = ruleset_add(set, rule);
	s->rules = set->items;
	s->n_rules = set->n;
	s->cap_rules = set->cap;
	s->failed |= set->failed;
	s->too_large |= set->too_large;
	return number;
}

/*
 * Leaves new elements uninitialized, because there may be a million. Then they grow in small steps: a limit
 * of memory counts those that are not used, too.
 */
static bool make_room(struct spans *s)
{
	size_t cap = s->cap < FEW ? s->cap * 2 + 1024 : s->cap + s->cap / 4;
	struct span *items;

	if (s->n < s->cap)
		return true;
	items = realloc(s->items, cap * sizeof(*items));
	if (!items)
		return false;
	s->items = items;
	s->cap = cap;
	return true;
}

void spans_add(struct spans *s, enum span_source source, uint64_t start, uint64_t end, const struct unwind_rule *rule)
{
	struct span *last = s->n ? &s->items[s->n - 1] : NULL;
	uint32_t number;

	if (start >= end || s->failed || s->too_large)
		return;
	number = rule_number(s, rule);
	if (number == RULE_NONE)
		return;
	if (last && span_end(last) == start && last->rule == number && last->source == source &&
	    end - last->start <= UINT32_MAX) {
		last->length = (uint32_t)(end - last->start);
		return;
	}
	if (s->n >= SPANS_MAX || end - start > UINT32_MAX) {
		s->too_large = true;
		return;
	}
	if (!make_room(s)) {
		s->failed = true;
		return;
	}
	s->items[s->n++] = (struct span){ start, (uint32_t)(end - start), (uint16_t)number, (uint8_t)source };
}

void spans_release(struct spans *s)
{
	if (s->rule_index)
		ruleset_release(s->rule_index);
	free(s->rule_index);
	free(s->items);
	*s = (struct spans){ 0 };
}
