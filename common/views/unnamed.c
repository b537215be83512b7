#include "common/views/unnamed.h"

static bool begins_with(struct slice s, const char *start)
{
	return s.n >= strlen(start) && memcmp(s.p, start, strlen(start)) == 0;
}

/* Returns whether the name is only a place. */
static bool is_place(struct slice name)
{
	static const char *const memory[] = { "[unknown]", "[anon]", "[jit]" };
	const uint8_t *plus;

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (begins_with(name, memory[i]))
			return true;
	}
	plus = begins_with(name, "[") ? memrchr(name.p, '+', name.n) : NULL;
	return plus && begins_with((struct slice){ plus, name.n - (size_t)(plus - name.p) }, "+0x");
}

void unnamed_weight(const struct profile *p, uint64_t *weight)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		weight[side] = 0;
	for (size_t i = 1; i < p->n; i++) {
		const struct profile_node *node = &p->nodes[i];

		if (!(node->self[0] || node->self[1]) || !is_place(profile_text(p, node->label)))
			continue;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			weight[side] += node->self[side];
	}
}
