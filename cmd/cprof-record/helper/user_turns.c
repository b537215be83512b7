#include "cmd/cprof-record/helper/user_turns.h"

#include <stdlib.h>

#include "common/base/array.h"

enum {
	USERS_MOST = 1024, /* with more, all begin again */
	CLAIM = 1000000000, /* ns: arrears of a side that it may make up before the other's turn */
};

static uint64_t used_by(const struct user_turns *t, uid_t uid)
{
	uint32_t at;

	return idmap_find(&t->at, uid, &at) && t->used[at] > t->least ? t->used[at] : t->least;
}

int user_turns_compare(const struct user_turns *t, uid_t a, uid_t b)
{
	uint64_t used_a, used_b;

	if (a == b)
		return 0;
	if (!a || !b)
		return !a == (t->used_by_root <= t->used_by_others) ? -1 : 1;
	used_a = used_by(t, a);
	used_b = used_by(t, b);
	return used_a < used_b ? -1 : used_a > used_b;
}

void user_turns_begin(struct user_turns *t, uid_t uid)
{
	if (uid)
		t->least = used_by(t, uid);
}

void user_turns_charge(struct user_turns *t, uid_t uid, uint64_t ns)
{
	uint64_t *mine = uid ? &t->used_by_others : &t->used_by_root;
	uint64_t *theirs = uid ? &t->used_by_root : &t->used_by_others;
	uint64_t used = used_by(t, uid) + ns;
	uint32_t at;

	*mine += ns;
	/* A side that wanted nothing has no claim on all time to come. */
	if (*mine > CLAIM && *theirs < *mine - CLAIM)
		*theirs = *mine - CLAIM;
	if (uid == 0)
		return;
	if (idmap_find(&t->at, uid, &at)) {
		t->used[at] = used;
		return;
	}
	if (t->n >= USERS_MOST) {
		t->n = 0;
		idmap_clear(&t->at);
	}
	if (grow_array(&t->used, &t->cap, t->n, sizeof(*t->used)) && idmap_set(&t->at, uid, (uint32_t)t->n))
		t->used[t->n++] = used;
}

void user_turns_release(struct user_turns *t)
{
	free(t->used);
	idmap_release(&t->at);
	*t = (struct user_turns){ 0 };
}
