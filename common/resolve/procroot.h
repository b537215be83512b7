/*
 * Files as a process sees them: below its root, and those that it has mapped.
 *
 *	struct procroot r;
 *
 *	if (procroot_open(&r, &is->user) == PROCROOT_FOREIGN)
 *		fd = procroot_file(&r, path, &opened);
 *	fd = procroot_mapped(&r, is, &opened, &same);	// also of PROCROOT_OWN
 *	procroot_close(&r);
 *
 * Links, absolute ones and those that lead upwards too, mean what they mean in that root; nothing
 * outside of it is ever opened, and nothing but regular files, since whoever made the links may be
 * hostile. What is found still has to be verified: another process may have the number by now.
 */
#ifndef CPROF_RESOLVE_PROCROOT_H
#define CPROF_RESOLVE_PROCROOT_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/resolve/identity.h"

enum procroot_state {
	PROCROOT_GONE = 0,    /* the process is no more */
	PROCROOT_DENIED = 1,  /* it is, and we may not look */
	PROCROOT_OWN = 2,     /* it sees what we see */
	PROCROOT_FOREIGN = 3,
};

struct procroot {
	int fd;        /* of its root directory, where that is not ours; or -1 */
	pid_t pid, tid; /* tid: a thread that runs still; the main one may have exited before the others */
	bool own_mounts; /* its root is a directory of ours (chroot) */
	char path[64]; /* "/proc/4711/root" */
};

/* Where the process's files are; the object may be closed whatever comes of it. */
enum procroot_state procroot_open(struct procroot *r, const struct module_user *u);
/* A process as it is now, whoever it is. */
enum procroot_state procroot_open_pid(struct procroot *r, pid_t pid);
void procroot_close(struct procroot *r);

/* Opens a path there; -1 and errno, ENOEXEC for what is no regular file. opened becomes what tells a reader where: "/proc/4711/root/lib/x.so". */
int procroot_file(const struct procroot *r, const char *path, struct buf *opened);
/*
 * Opens the file that the process has mapped, be it deleted or replaced. *same: the mapping is of the
 * recorded device and inode, as the kernel counts them. -1: there is none, or we may not (errno).
 */
int procroot_mapped(const struct procroot *r, const struct module_identity *is, struct buf *opened, bool *same);

/* The same below any directory; display is what stands for it in opened. */
int procroot_open_below(int dir, const char *display, const char *path, struct buf *opened);

/*
 * All roots of this machine that are not ours, each once, with a process that lives there now. They are
 * looked for at the first call.
 */
struct procroot_known {
	pid_t pid;
	uint64_t mounts, dev, inode; /* mount namespace, root directory */
	uint32_t groups;             /* text of its control groups */
};

struct procroots {
	struct procroot_known *items;
	size_t n, cap;
	struct intern *groups;
	bool looked;
};

void procroots_release(struct procroots *rs);
/* False without memory. */
bool procroots_look(struct procroots *rs);
/* Is it of the container that has this control group? */
bool procroot_known_in(const struct procroots *rs, const struct procroot_known *k, struct slice cgroup);
/*
 * What of a control group's path names the container: the ID of 64 hexadecimal digits that
 * engines give it, else all of the path; empty for the root group.
 */
struct slice procroot_container(struct slice cgroup);

#endif
