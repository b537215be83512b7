/*
 * Which file systems answer by themselves: those of this machine's own disks and memory, as it has them mounted. All others
 * may wait for a server or for a process of some user.
 *
 *	struct mounts m = { 0 };
 *
 *	if (mounts_is_local(&m, major, minor))
 *		...what lies there can be opened and read...
 *	mounts_release(&m);
 */
#ifndef CPROF_RECORD_MOUNTS_H
#define CPROF_RECORD_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mounts {
	struct mount_device {
		uint64_t major, minor;
		bool overlay;
	} *local;
	size_t n, cap;
	int watch; /* a descriptor that tells of changes, and 1; 0: none yet */
};

/*
 * By the device's numbers, as mappings and statx have them, and by a text of the kernel alone: no file system is asked. True
 * for as long as the file system is in use; who has no file of it open may meet another one under the same numbers.
 */
bool mounts_is_local(struct mounts *m, uint64_t major, uint64_t minor);
/*
 * The same for files that are being written: of an overlay those lie in its upper layer, which whoever mounted it here has on
 * local disk. What is not written may lie in any other layer.
 */
bool mounts_is_written_locally(struct mounts *m, uint64_t major, uint64_t minor);
/* The same of what a process has mounted where we do not see it: a tmpfs of a container. An overlay of its own is none. */
bool mounts_is_local_there(uint32_t pid, uint64_t major, uint64_t minor);
void mounts_release(struct mounts *m);

#endif
