/*
 * Files as a process sees them: below its root, and among its mappings.
 *
 *	struct procroot r;
 *
 *	if (procroot_open(&r, &is->user) == PROCROOT_FOREIGN)
 *		fd = procroot_file(&r, path, &opened);
 *	fd = procroot_mapped(&r, is, &opened, &same);	// also with PROCROOT_OWN
 *	procroot_close(&r);
 *
 * Links, even absolute ones or ones that lead upwards, are resolved in that root. Nothing outside it is ever
 * opened, and only regular files are, since the links may come from an attacker. A file must still be
 * verified: another process may have the PID by now.
 */
#ifndef CPROF_LOCATE_PROCROOT_H
#define CPROF_LOCATE_PROCROOT_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/intern.h"
#include "common/locate/identity.h"

enum procroot_state {
	PROCROOT_GONE = 0,    /* the process has exited */
	PROCROOT_DENIED = 1,  /* it exists, but access is denied */
	PROCROOT_OWN = 2,     /* it has our root */
	PROCROOT_FOREIGN = 3,
};

struct procroot {
	int fd;        /* its root directory, if that is not ours; or -1 */
	pid_t pid, tid; /* tid: a live thread; the main one may have exited before the others */
	bool own_mounts; /* its root is a directory of our namespace (chroot) */
	char path[64]; /* "/proc/4711/root" */
};

/* Finds the root of a recorded process. The object may be closed after any result. */
enum procroot_state procroot_open(struct procroot *r, const struct module_user *u);
/* The same for the process that has this PID now. */
enum procroot_state procroot_open_pid(struct procroot *r, pid_t pid);
void procroot_close(struct procroot *r);

/*
 * Opens a path in the root. Returns -1 and sets errno on failure, ENOEXEC if the file is not a regular one.
 * opened becomes the path to show: "/proc/4711/root/lib/x.so".
 */
int procroot_file(const struct procroot *r, const char *path, struct buf *opened);
/*
 * Opens the file that the process has mapped, even if it was deleted or replaced. Sets *same if the mapping
 * has the recorded device and inode, as the kernel counts them. Returns -1 and sets errno if there is none or
 * access is denied.
 */
int procroot_mapped(const struct procroot *r, const struct module_identity *is, struct buf *opened, bool *same);

/* Like procroot_file, below any directory; display represents it in opened. */
int procroot_open_below(int dir, const char *display, const char *path, struct buf *opened);

/* All roots of this machine that are not ours, each once, with a process that is in it now. */
struct procroot_known {
	pid_t pid;
	uint64_t mounts, dev, inode; /* mount namespace; root directory */
	uint32_t groups;             /* text of its control groups */
};

struct procroots {
	struct procroot_known *items;
	size_t n, cap;
	struct intern *groups;
	bool looked;
};

void procroots_release(struct procroots *rs);
/* Scans /proc at the first call. Returns false if out of memory. */
bool procroots_look(struct procroots *rs);
/* Returns true if the root belongs to the container with this control group; exactly: to this very group. */
bool procroot_known_in(const struct procroots *rs, const struct procroot_known *k, struct slice cgroup,
		       bool exactly);
/*
 * Returns the part of a control group's path that names the container: the ID of 64 hexadecimal digits that
 * engines give it, else the whole path; empty for the root group.
 */
struct slice procroot_container(struct slice cgroup);

#endif
