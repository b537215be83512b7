#include "cmd/cprof-record/helper/nsfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"

bool nsfile_proc(pid_t pid, const char *name, struct buf *text)
{
	char path[NSFILE_ROOM];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return host_read(path, text);
}

bool nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid)
{
	struct buf text = { 0 };
	bool ok = nsfile_proc(pid, "status", &text);
	const char *uids = strstr(buf_cstr(&text), "\nUid:\t"), *pids = strstr(buf_cstr(&text), "\nNSpid:\t");
	unsigned int real, effective;

	ok = ok && uids && sscanf(uids, "\nUid:\t%u\t%u", &real, &effective) == 2;
	if (ok) {
		const char *end = pids ? strchr(pids + 1, '\n') : NULL;

		while (end && end[-1] >= '0' && end[-1] <= '9')
			end--;
		*uid = effective;
		*nspid = end ? (pid_t)strtol(end, NULL, 10) : pid;
	}
	buf_release(&text);
	return ok;
}

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif

static int open_inside(int root, const char *name, uint64_t resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};

	return (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
}

int nsfile_find(int root, const char *name)
{
	int fd = open_inside(root, name, 0);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before 5.6, or an old seccomp filter */
		fd = openat(root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

int nsfile_find_cached(int root, const char *name)
{
	return open_inside(root, name, RESOLVE_CACHED);
}
