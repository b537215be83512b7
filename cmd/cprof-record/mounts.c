#include "cmd/cprof-record/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/host.h"
#include "common/base/buf.h"

#define AGAIN_NS 1000000000ull

/* The others: fuse, nfs, cifs, 9p, ceph, ...; and overlay, below which any of those may lie. */
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

static void take_line(struct mounts *m, const char *line)
{
	unsigned int major, minor;
	const char *behind = strstr(line, " - ");
	char type[32];

	if (!behind || sscanf(line, "%*d %*d %u:%u", &major, &minor) != 2 || sscanf(behind, " - %31s", type) != 1 ||
	    !is_local_type(type) || !grow_array(&m->local, &m->cap, m->n, sizeof(*m->local)))
		return;
	for (size_t i = 0; i < m->n; i++)
		if (m->local[i].major == major && m->local[i].minor == minor)
			return;
	m->local[m->n++] = (struct mount_device){ major, minor };
}

static void read_mounts(struct mounts *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t cap = 0;

	m->n = 0;
	while (f && getline(&line, &cap, f) > 0)
		take_line(m, line);
	free(line);
	if (f)
		fclose(f);
}

static bool knows(const struct mounts *m, uint64_t major, uint64_t minor)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->local[i].major == major && m->local[i].minor == minor)
			return true;
	return false;
}

bool mounts_is_local(struct mounts *m, uint64_t major, uint64_t minor)
{
	uint64_t now;

	if (knows(m, major, minor))
		return true;
	now = host_mono_ns();
	if (m->read && now - m->read < AGAIN_NS)
		return false;
	m->read = now;
	read_mounts(m);
	return knows(m, major, minor);
}

void mounts_release(struct mounts *m)
{
	free(m->local);
	*m = (struct mounts){ 0 };
}
