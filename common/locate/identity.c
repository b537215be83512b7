#include "common/locate/identity.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/machineid.h"
#include "common/foreign/foreign.h"

enum { SECOND = 1000000000, CLOCKS_APART = 2 }; /* seconds: file systems and hosts keep time differently */

/* Returns the line that the file holds; empty if it cannot be read. */
static struct slice read_line(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size) : -1;

	if (fd >= 0)
		close(fd);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	return (struct slice){ (const uint8_t *)text, n > 0 ? (size_t)n : 0 };
}

static bool is_boot(struct slice boot_id)
{
	char text[128];

	return boot_id.n && slice_equal(boot_id, read_line("/proc/sys/kernel/random/boot_id", text, sizeof(text)));
}

/* Captures of earlier versions hold the machine ID itself. */
static bool is_machine(struct slice machine_id)
{
	char text[128], id[MACHINE_ID_TEXT];
	struct slice line;

	if (!machine_id.n)
		return false;
	line = read_line("/etc/machine-id", text, sizeof(text));
	return slice_equal(machine_id, line) || (machine_id_derive(id, line) && slice_equal(machine_id, slice_of(id)));
}

enum identity_host identity_host(struct slice machine_id, struct slice boot_id)
{
	return is_boot(boot_id) ? HOST_BOOT : is_machine(machine_id) ? HOST_HERE : HOST_OTHER;
}

/*
 * Devices without a major number (btrfs, overlayfs, tmpfs) are made up at mount. For tmpfs, stat and the
 * mapping agree, and each mount numbers its inodes from 1. For the others stat may report another device than
 * the mapping, so they are not compared.
 */
static bool is_other_device(int fd, const struct stat *st, const struct module_identity *is)
{
	struct statfs fs;

	if (is->host != HOST_BOOT || !(is->dev_major | is->dev_minor))
		return false;
	if (!major(st->st_dev) && (fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC))
		return false;
	return is->dev_major != major(st->st_dev) || is->dev_minor != minor(st->st_dev);
}

/* When a file is gone, the next one may get its inode number, but with another generation. */
static bool is_other_generation(int fd, const struct module_identity *is)
{
	uint32_t now[2] = { 0 }; /* an int is written, but the request is declared as a long */

	return is->generation && ioctl(fd, FS_IOC_GETVERSION, now) == 0 && now[0] &&
	       now[0] != (uint32_t)is->generation;
}

static bool was_written_since(const struct stat *st, const struct module_identity *is)
{
	return is->seen && st->st_mtim.tv_sec > 0 && (uint64_t)st->st_mtim.tv_sec > is->seen / SECOND + CLOCKS_APART;
}

enum identity identity_of(int fd, const struct module_identity *is)
{
	struct stat st;

	if (is->host == HOST_OTHER || is->inode == 0 || !foreign_stat(fd, &st))
		return IDENTITY_UNKNOWN;
	return st.st_ino != is->inode || is_other_device(fd, &st, is) || is_other_generation(fd, is) ||
			       was_written_since(&st, is) ? IDENTITY_OTHER : IDENTITY_SAME;
}

enum identity identity_of_mapped(int fd, const struct module_identity *is)
{
	struct stat st;

	if (!foreign_stat(fd, &st))
		return IDENTITY_UNKNOWN;
	return was_written_since(&st, is) ? IDENTITY_OTHER : IDENTITY_SAME;
}
