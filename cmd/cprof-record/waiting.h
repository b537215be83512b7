/*
 * Files that wait for their unwind table to be made, and whose turn it is.
 *
 *	struct waiting w = { 0 };
 *
 *	waiting_add(&w, &(struct waiting_file){ question, fd, size, owner });
 *	...a worker is free...
 *	if (waiting_next(&w, &busy, &f))
 *		...f.fd is the caller's...
 *	...it is done...
 *	waiting_charge(&w, f.owner, cpu_ns);
 *
 * Anybody can make files that take as long as a file may, and as many as he likes. So it is the turn of the user who has had
 * the least CPU time, by the owner of the file, since who maps a file is not who made it; and of his files it is that of the
 * smallest. Root is one side and all others together are the other, however many users somebody is. Root alone may
 * have more than one worker at a time.
 */
#ifndef CPROF_RECORD_WAITING_H
#define CPROF_RECORD_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	WAITING_MOST = 256,  /* files, each of which has a descriptor */
	WAITING_OF_ONE = 64, /* of one owner who is not root */
};

struct waiting_file {
	uint32_t question;
	int fd;
	uint64_t size;
	uid_t owner;
};

struct waiting {
	struct waiting_file *files;
	size_t n, cap;
	struct waiting_user {
		uid_t uid;
		uint64_t used; /* ns; who comes anew has as much as who had the least at the last turn */
	} *users;
	size_t n_users, cap_users;
	uint64_t least;           /* at the last turn of one who is not root */
	uint64_t used_by_root, used_by_others;
};

/* Takes the descriptor over. False, and it does not: no room, no memory. */
bool waiting_add(struct waiting *w, const struct waiting_file *f);
/* busy: owners of the files that are being worked on; -1 for none. False: nobody may. */
bool waiting_next(struct waiting *w, const int64_t *busy, size_t n_busy, struct waiting_file *f);
void waiting_charge(struct waiting *w, uid_t owner, uint64_t ns);
void waiting_release(struct waiting *w);

#endif
