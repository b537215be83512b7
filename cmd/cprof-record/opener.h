/*
 * Files that other users chose, opened outside of the recorder.
 *
 *	struct opener *o = opener_new();	// early: before there are rings and maps in our memory
 *	struct opener_question q = { .want = OPENER_FILE, .id = 7, .pid = pid, .path = path, ... };
 *
 *	opener_ask(o, &q);			// does not wait
 *	...at each step, or when opener_fd(o) can be read...
 *	while (opener_take(o, now, &a))
 *		if (a.fd >= 0)
 *			...a.fd is ours, and nothing that is done with it waits for anybody...
 *	opener_free(o);
 *
 * A path of another process may lead to a pipe, to a device, or to a file system that does not answer: a FUSE server may
 * be any user's process. So neither a lookup, nor a stat, an open, a read or the close of such a file is done in the
 * recorder, but in processes of its own. Each looks before it opens: a regular file, with the device and the inode that
 * are mapped or with the build ID; links of another root end in that root. A process that has not answered in 2 s is
 * killed, another one takes its place, and the device is never asked again.
 *
 * There are two of them. The first one has the files of local file systems (mounts.h), and hands their descriptors over. All
 * others are the second one's, which hands over copies in memory: so a server that does not answer holds up files of servers
 * alone.
 */
#ifndef CPROF_RECORD_OPENER_H
#define CPROF_RECORD_OPENER_H

#include <sys/types.h>

#include "cmd/cprof-record/mounts.h"
#include "common/base/buf.h"

struct opener;

#define OPENER_PATIENCE 2000000000ull /* ns: so long a question may take */

enum opener_want {
	OPENER_IDENTITY, /* the build ID of a mapped file, which is the one by device and inode */
	OPENER_FILE,     /* a mapped file, which is the one by device and inode, or by its build ID */
	OPENER_PERF_MAP, /* tmp/perf-NSPID.map of a process, or else our /tmp/perf-PID.map */
	OPENER_LEFT_MAP, /* the latter alone */
	OPENER_DUMP,     /* a mapped file, by its inode if that is known */
};

struct opener_question {
	enum opener_want want;
	uint32_t id; /* the asker's, comes back with the answer; and so does place */
	uint64_t place;
	uint32_t pid, nspid;
	uint64_t start, end; /* of the mapping */
	uint64_t major, minor, inode;
	struct slice path, build_id;
	uint64_t from; /* of a perf map or a dump: what is before is known already, and need not be copied */
};

enum opener_said {
	OPENER_OPENED,
	OPENER_NONE,   /* there is none, or it is not the one, or no regular file; error says why */
	OPENER_SILENT, /* its file system did not answer, now or before */
	OPENER_LARGE,  /* larger than a copy may be */
};

struct opener_answer {
	enum opener_want want;
	enum opener_said said;
	uint32_t id;
	uint64_t place;
	int fd; /* the caller's from now on; -1: none. Of an identity there is none. */
	bool copied;   /* into memory: it does not grow */
	uint64_t from; /* what of it is copied begins there, in the copy as in the file */
	int error;
	uint64_t dev, inode, size; /* of the file itself, as fstat has them */
	uid_t uid;
	int64_t written; /* ns since the epoch */
	struct slice build_id; /* lent until the next call */
};

/* NULL: errno. */
struct opener *opener_new(void);
/* Can be read when opener_take may have something to say. Always the same. */
int opener_fd(const struct opener *o);
/* False without memory. */
bool opener_ask(struct opener *o, const struct opener_question *q);
/* The next answer, in any order; each question gets one. Does not wait. False: none at the moment. */
bool opener_take(struct opener *o, uint64_t now, struct opener_answer *a);
/* Asks, and waits for this answer: OPENER_PATIENCE at most. For the time before there are samples, with no other under way. */
bool opener_wait(struct opener *o, const struct opener_question *q, struct opener_answer *a);
/* Is the device of local disk or memory? */
bool opener_is_local(struct opener *o, uint64_t major, uint64_t minor);

/* The keeper of a copy says so, and when it is done with it: few are made at a time. */
void opener_hold(struct opener *o, uint64_t bytes);
void opener_let_go(struct opener *o, uint64_t bytes);

/* Files that were not opened, since their file system did not answer; and how many of those did not. */
uint64_t opener_left_out(const struct opener *o);
uint64_t opener_silent(const struct opener *o);
/* CPU time of its processes. */
uint64_t opener_cpu_ns(const struct opener *o);
/* A sentence that has not been said; NULL: none. Lent until the next call of opener_take. */
const char *opener_complaint(struct opener *o);

void opener_free(struct opener *o);

#endif
