/*
 * How many bytes of what JIT compilers tell may go into captures: anybody can write a perf map as fast as the disk takes it,
 * and what is kept of earlier recordings would have to go for that.
 *
 *	n = jitbudget_left(&b, uid, now);	// bytes that may be taken now
 *	...
 *	jitbudget_take(&b, uid, bytes);
 *
 * A budget for each user, which grows with time up to a most, and one for all together. Root has none: it needs no perf map to
 * do harm.
 */
#ifndef CPROF_RECORD_JITBUDGET_H
#define CPROF_RECORD_JITBUDGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	JITBUDGET_RATE = 2 << 20,  /* bytes a second of one user */
	JITBUDGET_MOST = 64 << 20, /* at once */
	JITBUDGET_USERS = 4,       /* so many times as much have all users together */
};

struct jitbudget {
	struct jitbudget_user {
		uid_t uid;
		uint64_t left, since;
	} all, *users;
	size_t n, cap;
};

uint64_t jitbudget_left(struct jitbudget *b, uid_t uid, uint64_t now);
void jitbudget_take(struct jitbudget *b, uid_t uid, uint64_t bytes);
void jitbudget_release(struct jitbudget *b);

#endif
