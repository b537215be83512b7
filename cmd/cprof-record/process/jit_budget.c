#include "cmd/cprof-record/process/jit_budget.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"

#define SECOND UINT64_C(1000000000)

enum { PAGE_MOST = 64 << 10 };

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

/* Returns the user's item, a new one if need be; NULL: out of memory. */
static struct jit_budget_user *add_budget(struct jit_budget *b, uid_t uid)
{
	struct jit_budget_user *u = find_budget(b, uid);

	if (u || !grow_array(&b->users, &b->cap, b->n, sizeof(*b->users)))
		return u;
	u = &b->users[b->n++];
	*u = (struct jit_budget_user){ .uid = uid };
	return u;
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
	struct jit_budget_user *u;
	uint64_t share;

	if (uid == 0)
		return UINT64_MAX;
	b->now = now;
	u = add_budget(b, uid);
	if (!u)
		return 0;
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
	struct jit_budget_user *u = uid ? find_budget(b, uid) : NULL;

	if (u)
		spend_budget(u, bytes, b->now);
	if (uid)
		spend_budget(&b->all, bytes, b->now);
}

/* Returns the bytes that this user's copies may take besides. */
static uint64_t copy_room(const struct jit_budget *b, const struct jit_budget_user *u)
{
	uint64_t sharing = 1, rest = JIT_BUDGET_COPIES - b->all.copied;

	for (size_t i = 0; i < b->n; i++)
		sharing += &b->users[i] != u && b->users[i].copied;
	rest /= sharing;
	return JIT_BUDGET_COPIES_OF_ONE - u->copied < rest ? JIT_BUDGET_COPIES_OF_ONE - u->copied : rest;
}

bool jit_budget_hold(struct jit_budget *b, uid_t uid, int fd, uint64_t size, struct jit_copy *c)
{
	struct jit_budget_user *u = add_budget(b, uid);
	uint64_t n, room = u ? copy_room(b, u) : 0;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	n = (uint64_t)st.st_size > c->from ? (uint64_t)st.st_size - c->from : 0;
	if (n > room) {
		if (room < JIT_BUDGET_COPY_LEAST || ftruncate(fd, (off_t)(c->from + room)) != 0)
			return false;
		n = room;
	}
	c->whole = c->from + n < size ? size : 0;
	c->held = n;
	c->uid = uid;
	if (u) /* otherwise it is empty */
		u->copied += n;
	b->all.copied += n;
	return true;
}

void jit_budget_let_go(struct jit_budget *b, int fd, struct jit_copy *c)
{
	struct jit_budget_user *u = c->held ? find_budget(b, c->uid) : NULL;
	uint64_t end = (c->from + c->held + PAGE_MOST - 1) / PAGE_MOST * PAGE_MOST;

	if (!u)
		return;
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)end);
	u->copied -= c->held;
	b->all.copied -= c->held;
	c->held = 0;
	c->from = UINT64_MAX;
}

void jit_budget_release(struct jit_budget *b)
{
	free(b->users);
	*b = (struct jit_budget){ 0 };
}
