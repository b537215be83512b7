#include "cmd/cprof-record/process/jit_budget.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"

#define SECOND UINT64_C(1000000000)

static void grow_budget(struct jit_budget_user *u, uint64_t now, unsigned int times)
{
	uint64_t rate = (uint64_t)JIT_BUDGET_RATE * times, most = (uint64_t)JIT_BUDGET_MOST * times;
	uint64_t past = now > u->since ? now - u->since : 0, more;

	if (u->since == 0 || past > most / rate * SECOND) {
		u->left = most;
		u->since = now;
		return;
	}
	more = past * rate / SECOND;
	if (more == 0)
		return;
	u->left = u->left + more < most ? u->left + more : most;
	u->since = now;
}

static struct jit_budget_user *find_budget(struct jit_budget *b, uid_t uid)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->users[i].uid == uid)
			return &b->users[i];
	return NULL;
}

/* Returns the number of users that share the rest: this one, and others that took some lately. */
static uint64_t count_sharing(const struct jit_budget *b, uid_t uid, uint64_t now)
{
	uint64_t n = 1;

	for (size_t i = 0; i < b->n; i++)
		n += b->users[i].uid != uid && b->users[i].took && now - b->users[i].took < SECOND;
	return n;
}

uint64_t jit_budget_left(struct jit_budget *b, uid_t uid, uint64_t now)
{
	struct jit_budget_user *u = find_budget(b, uid);
	uint64_t share;

	if (uid == 0)
		return UINT64_MAX;
	b->now = now;
	if (!u) {
		if (!grow_array(&b->users, &b->cap, b->n, sizeof(*b->users)))
			return 0;
		u = &b->users[b->n++];
		*u = (struct jit_budget_user){ .uid = uid };
	}
	grow_budget(u, now, 1);
	grow_budget(&b->all, now, JIT_BUDGET_USERS);
	share = b->all.left / count_sharing(b, uid, now);
	return u->left < share ? u->left : share;
}

static void spend_budget(struct jit_budget_user *u, uint64_t bytes, uint64_t now)
{
	if (bytes)
		u->took = now;
	u->left -= bytes < u->left ? bytes : u->left;
}

void jit_budget_take(struct jit_budget *b, uid_t uid, uint64_t bytes)
{
	struct jit_budget_user *u = find_budget(b, uid);

	if (u)
		spend_budget(u, bytes, b->now);
	if (uid)
		spend_budget(&b->all, bytes, b->now);
}

void jit_budget_release(struct jit_budget *b)
{
	free(b->users);
	*b = (struct jit_budget){ 0 };
}
