#include "common/unwind/ruleset.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/buf.h"

enum { SLOTS_LEAST = 1 << 10 };

/* One multiplication moves all differences into the high bits. This is called for each row that is made. */
static size_t slot_of(const struct unwind_rule *rule, size_t mask)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	return (size_t)((words[0] ^ (words[1] << 29 | words[1] >> 35)) * 0x9e3779b97f4a7c15 >> 32) & mask;
}

static bool is_same(const struct unwind_rule *a, const struct unwind_rule *b)
{
	uint64_t x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return x[0] == y[0] && x[1] == y[1];
}

static bool rehash(struct ruleset *t, size_t n)
{
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		size_t at = slot_of(&t->items[i], n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	return true;
}

/* Returns the slot of the rule, or the empty one where it belongs. */
static size_t find_slot(const struct ruleset *t, const struct unwind_rule *rule)
{
	size_t at = slot_of(rule, t->mask);

	while (t->slots[at] && !is_same(&t->items[t->slots[at] - 1], rule))
		at = (at + 1) & t->mask;
	return at;
}

uint32_t ruleset_find(const struct ruleset *t, const struct unwind_rule *rule)
{
	return t->slots ? t->slots[find_slot(t, rule)] - 1 : RULE_NONE; /* 0 - 1 is RULE_NONE */
}

static uint32_t find_or_add(struct ruleset *t, const struct unwind_rule *rule)
{
	size_t at;

	_Static_assert(sizeof(*rule) == 16, "equal rules have equal bytes");
	if ((!t->slots || t->n * 2 > t->mask) && !rehash(t, t->slots ? (t->mask + 1) * 2 : SLOTS_LEAST)) {
		t->failed = true;
		return RULE_NONE;
	}
	at = find_slot(t, rule);
	if (t->slots[at])
		return t->slots[at] - 1;
	if (t->n >= (t->max ? t->max : UNWIND_RULES)) {
		t->too_large = true;
		return RULE_NONE;
	}
	if (!grow_array(&t->items, &t->cap, t->n, sizeof(*t->items))) {
		t->failed = true;
		return RULE_NONE;
	}
	t->items[t->n] = *rule;
	t->slots[at] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}

uint32_t ruleset_add(struct ruleset *t, const struct unwind_rule *rule)
{
	static const struct unwind_rule gap = { .kind = UNWIND_GAP };

	if (t->n == 0 && find_or_add(t, &gap) == RULE_NONE)
		return RULE_NONE;
	return find_or_add(t, rule);
}

void ruleset_release(struct ruleset *t)
{
	free(t->items);
	free(t->slots);
	*t = (struct ruleset){ 0 };
}
