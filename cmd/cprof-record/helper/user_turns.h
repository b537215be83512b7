/*
 * Turns by user: the next one is that of the user who has had the least time.
 *
 *	struct user_turns t = { 0 };
 *
 *	...of all that wait, the one before all others by user_turns_compare(&t, uid, other)...
 *	user_turns_begin(&t, uid);
 *	...its work is done...
 *	user_turns_charge(&t, uid, ns);
 *	user_turns_release(&t);
 *
 * Time is shared equally between root and all other users, so having many user IDs is no advantage over root.
 * A user who has had no time for long does not get all of it now.
 */
#ifndef CPROF_RECORD_HELPER_USER_TURNS_H
#define CPROF_RECORD_HELPER_USER_TURNS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/idmap.h"

struct user_turns {
	uint64_t *used; /* ns, by user other than root; a new one begins with `least` */
	size_t n, cap;
	struct idmap at; /* uid to index in used */
	uint64_t least; /* at the last turn of a user other than root */
	uint64_t used_by_root, used_by_others;
};

/* Returns less than 0 if user a's turn is before b's, more than 0 if b's is, and 0 if they are equal. */
int user_turns_compare(const struct user_turns *t, uid_t a, uid_t b);
void user_turns_begin(struct user_turns *t, uid_t uid);
void user_turns_charge(struct user_turns *t, uid_t uid, uint64_t ns);
void user_turns_release(struct user_turns *t);

#endif
