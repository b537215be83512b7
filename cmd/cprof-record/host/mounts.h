/*
 * Distinguishes local file systems from others. Local ones are on this machine's disks or in its memory, by
 * the list of mounts (/proc/self/mountinfo). All others may wait for a server or for a user's process.
 *
 *	struct mounts m = { 0 };
 *
 *	if (mounts_is_local(&m, major, minor))
 *		...its files can be opened and read without such a wait...
 *	mounts_release(&m);
 */
#ifndef CPROF_RECORD_HOST_MOUNTS_H
#define CPROF_RECORD_HOST_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mounts {
	struct mount_device {
		uint64_t major, minor;
		bool overlay;
	} *local;
	size_t n, cap;
	int watch; /* descriptor that polls for changes of the mounts, plus 1; 0: none yet */
};

/*
 * Returns true if the device is local. The device numbers are those in mappings and from statx. No file
 * system is accessed. The result is true as long as the file system is in use; after that, another one may
 * get the same numbers, unless the caller has one of its files open.
 */
bool mounts_is_local(struct mounts *m, uint64_t major, uint64_t minor);
/*
 * The same for files that are being written, which may also be on an overlay: they are in its upper layer,
 * which is on local disk for overlays mounted here. Files that nobody writes may be in any layer.
 */
bool mounts_is_written_locally(struct mounts *m, uint64_t major, uint64_t minor);
/*
 * The same for file systems that only a process sees: a container's tmpfs. Its overlays do not count as
 * local.
 */
bool mounts_is_local_there(uint32_t pid, uint64_t major, uint64_t minor);
void mounts_release(struct mounts *m);

#endif
