/*
 * Works on foreign paths in a process that can be killed: a lookup, an open or a read may wait for ever for a
 * file system (FUSE) or for a lock that another user's process holds.
 *
 *	static int work(struct foreign_work *w) { ...w->fd, w->question... return fd; }
 *
 *	struct foreign_work w = { .fd = dir };
 *	...w.question, w.n...
 *	fd = foreign_process_run(work, &w);	// -1: errno; ETIMEDOUT: the work, or its device, was silent
 *
 * The process is forked at the first call, and ends with the caller. If a work is silent for two seconds, its
 * process is killed, and its device is never accessed again.
 */
#ifndef CPROF_FOREIGN_FOREIGN_PROCESS_H
#define CPROF_FOREIGN_FOREIGN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "common/foreign/mounts.h"

enum { FOREIGN_QUESTION = 6144, FOREIGN_ANSWER = 256 };

struct foreign_work {
	int fd; /* passed to the process, where it has another number; -1: none */
	size_t n; /* bytes of question */
	uint8_t question[FOREIGN_QUESTION];
	uint8_t answer[FOREIGN_ANSWER];
};

/* Returns a descriptor, or -1 with errno. It is closed in the process after it has been passed. */
typedef int foreign_work_function(struct foreign_work *w);

int foreign_process_run(foreign_work_function *work, struct foreign_work *w);

/*
 * For a work, before it accesses a file system: returns false with ETIMEDOUT if this one did not answer
 * earlier.
 */
bool foreign_process_touch(const struct statx *st);
/* The same, before it waits for a lock that a user's process holds: a silent user gets no second wait. */
bool foreign_process_touch_user(uid_t user);
/* For a work that takes long: tells the caller that it still gets answers. */
void foreign_process_progress(void);
/* Returns the kind of the file system of a file or handle, from statx with STATX_MNT_ID. */
enum mount_kind foreign_process_kind(const struct statx *st);

#endif
