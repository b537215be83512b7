/*
 * Opens files that other users chose, in processes of its own.
 *
 *	struct opener *o = opener_new();	// early: before there are rings and maps in our memory
 *	struct opener_question q = { .want = OPENER_FILE, .id = 7, .pid = pid, .path = path, ... };
 *
 *	opener_ask(o, &q);			// does not wait
 *	...at each drain, or when opener_fd(o) is readable...
 *	while (opener_take(o, now, &a))
 *		if (a.fd >= 0)
 *			...a.fd is the caller's, and no operation on it waits for a server...
 *	opener_free(o);
 *
 * A path of another process may lead to a pipe, to a device, or to a file system that does not answer: a
 * FUSE server may be any user's process. So the recorder itself never looks up, stats, opens, reads or
 * closes such a file; two forked processes do. They check a file before they open it: it must be regular,
 * and have the mapped device and inode, or the build ID. Symbolic links in another root directory stay
 * below that root. A process that does not answer within OPENER_PATIENCE is killed and replaced, and its
 * device is left alone for a while (silent_devices.h).
 *
 * The first process opens files on local file systems (mounts.h) and passes their descriptors. The second one
 * opens all other files and passes copies in memory. So a server that does not answer delays only files on
 * servers. Users take turns at each process (user_turns.h), so one user's many files do not delay those of
 * others.
 */
#ifndef CPROF_RECORD_HELPER_OPENER_H
#define CPROF_RECORD_HELPER_OPENER_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "common/foreign/mounts.h"

struct opener;

#define OPENER_PATIENCE 2000000000ull /* ns: time limit of a question */

enum opener_want {
	OPENER_IDENTITY, /* the build ID of a mapped file with this device and inode */
	OPENER_FILE,     /* a mapped file with this device and inode, or with this build ID */
	OPENER_PERF_MAP, /* tmp/perf-NSPID.map of a process, otherwise our /tmp/perf-PID.map */
	OPENER_LEFT_MAP, /* only our /tmp/perf-PID.map */
	OPENER_DUMP,     /* a mapped file, by its inode if that is known */
};

struct opener_question {
	enum opener_want want;
	uint32_t id;    /* chosen by the caller; id and place come back with the answer */
	uint64_t place;
	uint32_t pid, nspid;
	uint64_t start, end; /* addresses of the mapping */
	uint64_t major, minor, inode;
	struct slice path, build_id; /* copied */
	uint64_t from; /* perf map or dump: bytes before this offset are known and need not be copied */
};

enum opener_said {
	OPENER_OPENED,
	OPENER_NONE,   /* no such file, or another or not a regular one; error may hold the errno */
	OPENER_SILENT, /* its file system does not answer, now or a while ago: ask again later */
	OPENER_LATER,  /* too many questions wait already: ask again later */
	OPENER_LARGE,  /* larger than a copy may be */
};

struct opener_answer {
	enum opener_want want;
	enum opener_said said;
	uint32_t id;
	uint64_t place;
	int fd; /* owned by the caller; -1: none, always so for OPENER_IDENTITY */
	bool copied;   /* fd is a copy in memory: it does not grow */
	uint64_t from; /* offset, in the copy as in the file, where the copied bytes begin */
	int error;
	uint64_t dev, inode, size; /* the file's own, from fstat */
	uid_t uid;
	int64_t written; /* mtime, ns since 1970 */
	struct slice build_id; /* valid until the next call */
};

/* Returns NULL with errno. */
struct opener *opener_new(void);
/* Returns a descriptor that is readable when opener_take may have an answer. It never changes. */
int opener_fd(const struct opener *o);
/*
 * Returns false if out of memory, or if the process's user, or all users together, have too many questions:
 * ask again later.
 */
bool opener_ask(struct opener *o, const struct opener_question *q);
/* Returns true if few questions wait: one more has room, of any user. */
bool opener_has_room(const struct opener *o);
/* Takes an answer, without waiting; false: there is none now. Each question gets one, in any order. */
bool opener_take(struct opener *o, uint64_t now, struct opener_answer *a);
/*
 * Asks, and waits for the answer, normally OPENER_PATIENCE at most. Use it only before sampling, while no
 * other question is pending.
 */
bool opener_wait(struct opener *o, const struct opener_question *q, struct opener_answer *a);
/* Returns true if the device is on local disk or in memory. */
bool opener_is_local(struct opener *o, uint64_t major, uint64_t minor);

/* Account for copies that a caller keeps, and then frees: few copies may exist at a time. */
void opener_hold(struct opener *o, uint64_t bytes);
void opener_let_go(struct opener *o, uint64_t bytes);

/* Number of files that were not opened because their file system did not answer. */
uint64_t opener_left_out(const struct opener *o);
/* Number of questions that were not asked because there were too many. */
uint64_t opener_dropped(const struct opener *o);
/* Number of times that a file system did not answer in time. */
uint64_t opener_silent(const struct opener *o);
/* CPU time of the opener's processes, in ns. */
uint64_t opener_cpu_ns(const struct opener *o);
/* Returns a sentence to report, once, or NULL. It is valid until the next call of opener_take. */
const char *opener_complaint(struct opener *o);

void opener_free(struct opener *o);

#endif
