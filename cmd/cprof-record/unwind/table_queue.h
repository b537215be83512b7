/*
 * Files that wait for a worker to make their unwind table, and the order of their turns.
 *
 *	struct table_queue w = { 0 };
 *
 *	table_queue_add(&w, &(struct table_queue_file){ question, fd, size, owner });
 *	...a worker is free...
 *	if (table_queue_next(&w, busy, n_busy, &f))
 *		...f.fd is the caller's...
 *	...it is done...
 *	table_queue_charge(&w, f.owner, cpu_ns);
 *
 * Any user can create many files that each use the full time limit. So the turn goes to the user who has had
 * the least CPU time, and to the smallest of the user's files. A file counts for its owner, because the user
 * who maps it need not have made it. Only root may have more than one worker at a time.
 */
#ifndef CPROF_RECORD_UNWIND_TABLE_QUEUE_H
#define CPROF_RECORD_UNWIND_TABLE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/cprof-record/helper/user_turns.h"

enum {
	TABLE_QUEUE_MOST = 256,  /* files, each of which has a descriptor */
	TABLE_QUEUE_OF_ONE = 64, /* for one owner who is not root */
};

struct table_queue_file {
	uint32_t question;
	int fd;
	uint64_t size;
	uid_t owner;
};

struct table_queue {
	struct table_queue_file *files;
	size_t n, cap;
	struct user_turns turns; /* by CPU time */
};

/*
 * Adds a file and takes over its descriptor. Returns false, and leaves the descriptor with the caller, if
 * there is no room or memory is out.
 */
bool table_queue_add(struct table_queue *w, const struct table_queue_file *f);
/* Takes out the next file. busy: owners of the files that workers have; -1: none. False: no file may go. */
bool table_queue_next(struct table_queue *w, const int64_t *busy, size_t n_busy, struct table_queue_file *f);
/* Adds the CPU time that a file took to its owner's. */
void table_queue_charge(struct table_queue *w, uid_t owner, uint64_t ns);
/* Closes the descriptors of all files. */
void table_queue_release(struct table_queue *w);

#endif
