#include "common/select/running.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/buf.h"

bool running_sample(struct running *r, uint64_t thread, uint64_t weight)
{
	if (!grow_array(&r->since, &r->cap_since, (size_t)thread, sizeof(*r->since)))
		return false;
	r->since[thread] += weight;
	return true;
}

bool running_span(struct running *r, uint64_t thread, uint32_t who, uint64_t ns)
{
	if (!grow_array(&r->accounts, &r->cap_accounts, who, sizeof(*r->accounts)))
		return false;
	r->accounts[who].ran += ns;
	r->accounts[who].sampled += thread < r->cap_since ? r->since[thread] : 0;
	running_drop(r, thread);
	return true;
}

void running_drop(struct running *r, uint64_t thread)
{
	if (thread < r->cap_since)
		r->since[thread] = 0;
}

static struct running_account *find_account(const struct running *r, uint32_t who)
{
	return who < r->cap_accounts ? &r->accounts[who] : NULL;
}

void running_add(struct running *r, uint32_t who, enum running_part what, uint64_t weight)
{
	struct running_account *a = find_account(r, who);

	if (a)
		a->whole[what] += weight;
}

/* Returns the weight that all parts together should have. */
static uint64_t target_weight(const struct running_account *a, enum running_part what)
{
	uint64_t excess = a->sampled > a->ran ? a->sampled - a->ran : 0;

	if (what == RUNNING_SPANS)
		return a->ran > a->sampled ? a->ran - a->sampled : 0;
	/* A renamed thread may have brought samples that belong to another account. */
	return a->whole[what] > excess ? a->whole[what] - excess : 0;
}

uint64_t running_share(struct running *r, uint32_t who, enum running_part what, uint64_t weight)
{
	struct running_account *a = find_account(r, who);
	unsigned __int128 right;
	uint64_t whole, before;

	if (!a || !a->whole[what])
		return weight;
	right = target_weight(a, what);
	whole = a->whole[what];
	before = a->seen[what];
	a->seen[what] += weight;
	return (uint64_t)(right * a->seen[what] / whole) - (uint64_t)(right * before / whole);
}

void running_forget(struct running *r)
{
	clear_array(&r->since, &r->cap_since, sizeof(*r->since));
	clear_array(&r->accounts, &r->cap_accounts, sizeof(*r->accounts));
}

void running_release(struct running *r)
{
	free(r->since);
	free(r->accounts);
	*r = (struct running){ 0 };
}
