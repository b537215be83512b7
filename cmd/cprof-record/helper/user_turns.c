#include "cmd/cprof-record/helper/user_turns.h"

#include <stdlib.h>

#include "common/base/array.h"

enum {
	USERS_MOST = 1024, /* with more, all begin again */
	CLAIM = 1000000000, /* ns: arrears of a side that it may make up before the other's turn */
};

static struct user_turns_user *find_user(const struct user_turns *t, uid_t uid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->users[i].uid == uid)
			return &t->users[i];
	return NULL;
}

static uint64_t used_by(const struct user_turns *t, uid_t uid)
{
	const struct user_turns_user *u = find_user(t, uid);

	return u && u->used > t->least ? u->used : t->least;
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
	struct user_turns_user *u = find_user(t, uid);
	uint64_t used = used_by(t, uid) + ns;

	*mine += ns;
	/* A side that wanted nothing has no claim on all time to come. */
	if (*mine > CLAIM && *theirs < *mine - CLAIM)
		*theirs = *mine - CLAIM;
	if (uid == 0)
		return;
	if (!u && t->n >= USERS_MOST)
		t->n = 0;
	if (!u && !grow_array(&t->users, &t->cap, t->n, sizeof(*t->users)))
		return;
	if (!u)
		u = &t->users[t->n++];
	*u = (struct user_turns_user){ uid, used };
}

void user_turns_release(struct user_turns *t)
{
	free(t->users);
	*t = (struct user_turns){ 0 };
}
