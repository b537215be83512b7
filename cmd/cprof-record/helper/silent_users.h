/*
 * Users whose processes or file systems made a helper wait in vain. For a while nothing of theirs is read,
 * so that one user's stalled memory does not cost other users their names.
 *
 *	struct silent_users s = { 0 };
 *
 *	if (!silent_users_has(&s, pid, now))
 *		...ask; and if there was no answer: silent_users_note(&s, pid, now)...
 *
 * Each list has its own number of vain waits until a user's processes rest; 0 stands for SILENT_USERS_TRIES.
 * Times are CLOCK_MONOTONIC, in ns.
 */
#ifndef CPROF_RECORD_HELPER_SILENT_USERS_H
#define CPROF_RECORD_HELPER_SILENT_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SILENT_USERS_MOST = 64, /* remembered; the one whose rest ends first makes room */
	SILENT_USERS_TRIES = 2, /* vain waits until the user's processes rest */
};

struct silent_users {
	struct silent_user {
		uid_t uid;
		unsigned int n; /* vain waits */
		uint64_t until; /* end of the rest */
	} items[SILENT_USERS_MOST];
	size_t n;
	unsigned int tries;
};

/* Returns true if the process's effective user rests. Reads /proc only once somebody was noted. */
bool silent_users_has(const struct silent_users *s, pid_t pid, uint64_t now);
void silent_users_note(struct silent_users *s, pid_t pid, uint64_t now);
/* The same for a user who is known: the process may be gone. */
void silent_users_note_uid(struct silent_users *s, uid_t uid, uint64_t now);

#endif
