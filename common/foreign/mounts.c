#include "common/foreign/mounts.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"

/* All other types may be remote: fuse, nfs, cifs, 9p, ceph, ...; and overlay, on top of any of those. */
static bool is_local_type(const char *type)
{
	static const char *const local[] = {
		"bcachefs", "btrfs", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hugetlbfs", "iso9660", "jfs",
		"ramfs", "reiserfs", "rootfs", "squashfs", "tmpfs", "udf", "vfat", "xfs", "zfs",
	};

	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if (strcmp(type, local[i]) == 0)
			return true;
	return false;
}

/* Parses a line of mountinfo. */
static bool read_line(const char *line, struct mount_device *d)
{
	const char *behind = strstr(line, " - ");
	unsigned int id, major, minor;
	char type[32];

	if (!behind || sscanf(line, "%u %*d %u:%u", &id, &major, &minor) != 3 ||
	    sscanf(behind, " - %31s", type) != 1)
		return false;
	*d = (struct mount_device){ id, major, minor, MOUNT_SERVER };
	if (is_local_type(type))
		d->kind = MOUNT_LOCAL;
	else if (strcmp(type, "overlay") == 0)
		d->kind = MOUNT_OVERLAY;
	else if (strncmp(type, "fuse", 4) == 0) /* also fuse.sshfs, fuseblk */
		d->kind = MOUNT_UNKNOWN;
	return true;
}

static struct mount_device *find_device(const struct mounts *m, uint64_t major, uint64_t minor)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->known[i].major == major && m->known[i].minor == minor)
			return &m->known[i];
	return NULL;
}

/* Adds the kernel's own tmpfs, which is mounted nowhere: programs executed from a memfd are on it. */
static void add_memory(struct mounts *m)
{
	int fd = memfd_create("cprof-device", MFD_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && !find_device(m, major(st.st_dev), minor(st.st_dev)) &&
	    grow_array(&m->known, &m->cap, m->n, sizeof(*m->known)))
		m->known[m->n++] = (struct mount_device){ 0, major(st.st_dev), minor(st.st_dev), MOUNT_LOCAL };
	if (fd >= 0)
		close(fd);
}

static void read_mounts(struct mounts *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct mount_device d;
	char *line = NULL;
	size_t cap = 0;

	m->n = 0;
	m->unread = !f;
	while (f && getline(&line, &cap, f) > 0)
		if (read_line(line, &d) && grow_array(&m->known, &m->cap, m->n, sizeof(*m->known)))
			m->known[m->n++] = d;
	add_memory(m);
	free(line);
	if (f)
		fclose(f);
}

/* Device numbers are used again, so the list is valid only until something is mounted or unmounted. */
static bool has_changed(struct mounts *m)
{
	struct pollfd p = { m->watch - 1, POLLPRI, 0 };

	if (m->watch > 0)
		return poll(&p, 1, 0) != 0;
	m->watch = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) + 1;
	return true;
}

static enum mount_kind kind_of_device(struct mounts *m, uint64_t major, uint64_t minor)
{
	const struct mount_device *d;

	if (has_changed(m))
		read_mounts(m);
	d = find_device(m, major, minor);
	return d ? d->kind : m->unread ? MOUNT_SERVER : MOUNT_UNKNOWN;
}

static bool is_mount_of(const struct mount_device *d, const struct statx *st)
{
	return d->id && (st->stx_mask & STATX_MNT_ID) && d->id == st->stx_mnt_id;
}

enum mount_kind mounts_kind(struct mounts *m, const struct statx *st)
{
	enum mount_kind by_device = kind_of_device(m, st->stx_dev_major, st->stx_dev_minor);

	for (size_t i = 0; i < m->n; i++)
		if (is_mount_of(&m->known[i], st))
			return m->known[i].kind;
	return by_device;
}

bool mounts_is_local(struct mounts *m, uint64_t major, uint64_t minor)
{
	return kind_of_device(m, major, minor) == MOUNT_LOCAL;
}

bool mounts_is_written_locally(struct mounts *m, const struct statx *st)
{
	return mounts_kind(m, st) >= MOUNT_OVERLAY;
}

bool mounts_is_local_there(uint32_t pid, const struct statx *st)
{
	struct mount_device d;
	bool is = false;
	char name[64], *line = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/mountinfo", pid);
	f = fopen(name, "re");
	while (!is && f && getline(&line, &cap, f) > 0)
		is = read_line(line, &d) && d.kind == MOUNT_LOCAL &&
		     (is_mount_of(&d, st) || (d.major == st->stx_dev_major && d.minor == st->stx_dev_minor));
	free(line);
	if (f)
		fclose(f);
	return is;
}

void mounts_release(struct mounts *m)
{
	if (m->watch > 0)
		close(m->watch - 1);
	free(m->known);
	*m = (struct mounts){ 0 };
}
