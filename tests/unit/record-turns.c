/* Questions to the opener: users take turns, and none may have very many. Users are chosen by the test. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/opener.h"
#include "cmd/cprof-record/helper/user_turns.h"
#include "cmd/cprof-record/host/host.h"
#include "tests/lib/check.h"

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid);

enum {
	NOBODY = 1 << 23, /* beyond all pids: no file is found through such a process */
	GREEDY = 1000, MODEST = 1001, /* users */
	OF_ONE = 256, MOST = 2048, /* as in opener.c */
	BATCH = 16, /* questions on their way, which have had their turn */
};

/* Processes are NOBODY plus their user. */
bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid)
{
	*uid = (uid_t)pid - NOBODY;
	*nspid = pid;
	return pid >= NOBODY;
}

static uint32_t questions;

static bool ask(struct opener *o, uid_t uid)
{
	return opener_ask(o, &(struct opener_question){ .want = OPENER_FILE, .id = ++questions, .place = uid,
							.pid = NOBODY + uid, .inode = 1 });
}

static void take(struct opener *o, struct opener_answer *a)
{
	struct timespec pause = { .tv_nsec = 100000 };

	while (!opener_take(o, host_mono_ns(), a))
		nanosleep(&pause, NULL);
	if (a->fd >= 0)
		abort();
}

static void check_order(struct opener *o)
{
	unsigned int greedy = 0, modest = 0, before = 0;
	struct opener_answer a;

	while (greedy < 200)
		greedy += ask(o, GREEDY);
	while (modest < 10)
		modest += ask(o, MODEST);
	for (greedy = modest = 0; greedy + modest < 210;) {
		take(o, &a);
		greedy += a.place == GREEDY;
		modest += a.place == MODEST;
		if (modest < 10)
			before = greedy;
	}
	check(greedy == 200 && modest == 10, "each question has an answer");
	check(before <= 2 * BATCH, "a user with many questions does not delay one with few");
}

static void check_bounds(struct opener *o)
{
	unsigned int n = 0, others = 0, all;
	struct opener_answer a;

	while (ask(o, GREEDY))
		n++;
	check_is(n, OF_ONE, "one user may have so many questions");
	check(!ask(o, GREEDY) && opener_dropped(o) == 2, "... and no more: the others are counted");
	check(ask(o, MODEST), "another user may ask meanwhile");
	for (uid_t uid = 2000; ask(o, uid); uid++)
		others++;
	all = n + 1 + others;
	check_is(all, MOST, "all users together may have so many");
	check(!ask(o, 0) && opener_dropped(o) == 4, "... and no more, root either");
	for (unsigned int i = 0; i < all; i++)
		take(o, &a);
	for (n = 0; n < OF_ONE + 10; n++)
		if (!ask(o, 0))
			break;
	check_is(n, OF_ONE + 10, "root alone may have more");
	for (unsigned int i = 0; i < n; i++)
		take(o, &a);
}

static void check_turns(void)
{
	struct user_turns t = { 0 };

	check(user_turns_compare(&t, 5, 5) == 0 && user_turns_compare(&t, 5, 6) == 0,
	      "users are equal at first");
	user_turns_begin(&t, 5);
	user_turns_charge(&t, 5, 1000);
	check(user_turns_compare(&t, 5, 6) > 0 && user_turns_compare(&t, 6, 5) < 0,
	      "then the one with less time is first");
	check(user_turns_compare(&t, 6, 0) > 0, "... and root before all of them");
	user_turns_charge(&t, 0, 2000);
	check(user_turns_compare(&t, 6, 0) < 0 && user_turns_compare(&t, 0, 5) > 0,
	      "... until it had as much as all others");
	user_turns_begin(&t, 5);
	check(user_turns_compare(&t, 5, 7) == 0, "a new user has no claim on the time before");
	user_turns_release(&t);
}

int main(void)
{
	struct opener *o = opener_new();

	check_turns();
	if (!check(o, "the opener begins"))
		return checks_done();
	check_order(o);
	check_bounds(o);
	opener_free(o);
	return checks_done();
}
