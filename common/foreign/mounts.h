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
#ifndef CPROF_FOREIGN_MOUNTS_H
#define CPROF_FOREIGN_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/libc.h"

enum mount_kind {
	MOUNT_UNKNOWN, /* FUSE, which may be any user's; or mounted only where other processes see it */
	MOUNT_SERVER,  /* NFS, 9P, ...: mounted here by root */
	MOUNT_OVERLAY,
	MOUNT_LOCAL,
};

struct mounts {
	struct mount_device {
		uint64_t id, major, minor; /* id: of the mount, as in STATX_MNT_ID */
		enum mount_kind kind;
	} *known;
	size_t n, cap;
	bool unread; /* there is no /proc: all files count as those of a server that root has mounted */
	int watch; /* descriptor that polls for changes of the mounts, plus 1; 0: none yet */
};

/*
 * Returns the kind of the file system of a file or handle, from statx with STATX_MNT_ID. Its mount says more
 * than its device: each subvolume of btrfs has a device that is mounted nowhere.
 */
enum mount_kind mounts_kind(struct mounts *m, const struct statx *st);
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
bool mounts_is_written_locally(struct mounts *m, const struct statx *st);
/*
 * Returns true for a local file system that only a process sees: a container's tmpfs. Its overlays do not
 * count as local.
 */
bool mounts_is_local_there(uint32_t pid, const struct statx *st);
void mounts_release(struct mounts *m);

#endif
