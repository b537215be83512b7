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
	} *local;
	size_t n, cap;
	uint64_t read; /* when */
};

/*
 * By the device's numbers, as mappings and statx have them. What is not known is looked for once a second at most, by a text
 * of the kernel alone: no file system is asked.
 */
bool mounts_is_local(struct mounts *m, uint64_t major, uint64_t minor);
void mounts_release(struct mounts *m);

#endif
