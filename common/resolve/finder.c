#include "common/resolve/finder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char deleted[] = " (deleted)";

/* Directories to look in where none was given: of the host, or of the tree. */
static const char *const default_dirs[] = { "/usr/lib/debug" };
static const char *const symfs_dirs[] = { "/usr/lib/debug", "" };

void finder_init(struct finder *f, const char *symfs, const char *const *debug_dirs, size_t n_debug_dirs)
{
	*f = (struct finder){ symfs, debug_dirs, n_debug_dirs, -1 };
	if (symfs)
		f->root = open(symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void finder_release(struct finder *f)
{
	if (f->root >= 0)
		close(f->root);
	f->root = -1;
}

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

static int open_plain(struct buf *path)
{
	const char *p = buf_cstr(path);

	return path->failed ? -1 : open(p, OPEN_FLAGS);
}

/* path as seen in the tree: its absolute links mean the tree's files. opened becomes DIR/path. */
static int open_in_tree(const struct finder *f, struct buf *opened, const char *path)
{
	struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT };
	long fd;

	buf_text(opened, f->symfs);
	if (path[0] != '/')
		buf_byte(opened, '/');
	buf_text(opened, path);
	if (f->root < 0) {
		errno = ENOENT;
		return -1;
	}
	fd = syscall(SYS_openat2, f->root, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.6, or in a strict sandbox */
		return open_plain(opened);
	return (int)fd;
}

static int open_recorded(const struct finder *f, struct buf *opened, struct slice path)
{
	struct buf name = { 0 };
	int fd;

	buf_clear(opened);
	buf_bytes(&name, path.p, path.n);
	if (memchr(path.p, '\0', path.n) || !buf_cstr(&name)[0]) {
		buf_release(&name);
		errno = ENOENT;
		return -1;
	}
	if (f->symfs) {
		fd = open_in_tree(f, opened, buf_cstr(&name));
	} else {
		buf_bytes(opened, name.p, name.n);
		fd = open_plain(opened);
	}
	buf_release(&name);
	return fd;
}

static enum source_status status_of_errno(void)
{
	return errno == EACCES || errno == EPERM ? SOURCE_PERMISSION : SOURCE_NO_FILE;
}

static enum source_status status_of(enum elf_opened opened)
{
	switch (opened) {
	case ELF_OPENED:
		return SOURCE_OK;
	case ELF_NOT_ELF:
		return SOURCE_NOT_ELF;
	default:
		return SOURCE_DAMAGED;
	}
}

static enum source_status open_and_check(const struct finder *f, const struct module_identity *is,
					 struct slice path, struct elf_file **file, struct buf *opened, bool *by_path)
{
	int fd = open_recorded(f, opened, path);
	enum identity identity = IDENTITY_UNKNOWN;
	enum source_status status;

	*file = NULL;
	if (fd < 0)
		return status_of_errno();
	if (is->build_id.n == 0)
		identity = identity_of(fd, is);
	*by_path = is->build_id.n == 0 && identity != IDENTITY_SAME;
	if (identity == IDENTITY_OTHER && !f->symfs) {
		close(fd);
		return SOURCE_CHANGED;
	}
	status = status_of(elf_open(fd, file));
	if (status == SOURCE_OK && is->build_id.n && !elf_same_build(elf_build_id(*file), is->build_id)) {
		elf_close(*file);
		*file = NULL;
		return SOURCE_MISMATCH;
	}
	return status;
}

enum source_status finder_open(const struct finder *f, const struct module_identity *is, struct elf_file **file,
			       struct buf *opened, bool *by_path)
{
	struct slice path = is->path;
	enum source_status status = open_and_check(f, is, path, file, opened, by_path);
	size_t n = strlen(deleted);

	if (status == SOURCE_NO_FILE && path.n > n && memcmp(path.p + path.n - n, deleted, n) == 0) {
		path.n -= n;
		status = open_and_check(f, is, path, file, opened, by_path);
	}
	return status;
}

static const char *debug_dir(const struct finder *f, size_t i)
{
	if (f->debug_dirs)
		return i < f->n_debug_dirs ? f->debug_dirs[i] : NULL;
	if (f->symfs)
		return i < sizeof(symfs_dirs) / sizeof(symfs_dirs[0]) ? symfs_dirs[i] : NULL;
	return i < sizeof(default_dirs) / sizeof(default_dirs[0]) ? default_dirs[i] : NULL;
}

/* Directories that were named belong to the host; the others are in the tree, if there is one. */
static int open_below(const struct finder *f, bool recorded, struct buf *name, struct buf *opened)
{
	const char *path = buf_cstr(name);

	buf_clear(opened);
	if (f->symfs && (recorded || !f->debug_dirs))
		return open_in_tree(f, opened, path);
	buf_bytes(opened, name->p, name->n);
	return open_plain(opened);
}

static void name_by_build_id(struct buf *name, const char *dir, struct slice id)
{
	buf_printf(name, "%s/.build-id/%02x/", dir, id.p[0]);
	for (size_t i = 1; i < id.n; i++)
		buf_printf(name, "%02x", id.p[i]);
	buf_text(name, ".debug");
}

/* Writes the step's candidate to name; false: there are no more. An empty name: this one is not to be had. */
static bool candidate(const struct finder *f, size_t step, const struct elf_file *file, struct slice build_id,
		      struct slice path, struct buf *name, bool *recorded, uint32_t *crc)
{
	const uint8_t *slash = memrchr(path.p, '/', path.n);
	struct slice folder = { path.p, slash ? (size_t)(slash - path.p) : 0 };
	char link[256];
	size_t dirs = 0;

	while (debug_dir(f, dirs))
		dirs++;
	*recorded = false;
	if (step < dirs) {
		if (build_id.n > 1)
			name_by_build_id(name, debug_dir(f, step), build_id);
		return true;
	}
	step -= dirs;
	if (step >= dirs + 2 || !file || !elf_debuglink(file, link, sizeof(link), crc))
		return false;
	*recorded = step < 2;
	if (step >= 2)
		buf_text(name, debug_dir(f, step - 2));
	buf_bytes(name, folder.p, folder.n);
	buf_printf(name, "/%s%s", step == 1 ? ".debug/" : "", link);
	return true;
}

static bool belongs(const struct elf_file *debug, const struct elf_file *file, struct slice build_id, uint32_t crc)
{
	uint32_t is;

	if (file && debug->dev == file->dev && debug->inode == file->inode)
		return false;
	if (build_id.n)
		return elf_same_build(elf_build_id(debug), build_id);
	return elf_crc32(debug, &is) && is == crc;
}

struct elf_file *finder_debug(const struct finder *f, size_t *step, const struct elf_file *file,
			      struct slice build_id, struct slice path, struct buf *opened)
{
	struct buf name = { 0 };
	struct elf_file *debug = NULL;
	uint32_t crc = 0;
	bool recorded;

	if (file && file->build_id_n)
		build_id = elf_build_id(file);
	while (!debug && candidate(f, *step, file, build_id, path, &name, &recorded, &crc)) {
		int fd = name.n ? open_below(f, recorded, &name, opened) : -1;

		++*step;
		buf_clear(&name);
		if (fd < 0 || elf_open(fd, &debug) != ELF_OPENED)
			continue;
		if (!belongs(debug, file, build_id, crc)) {
			elf_close(debug);
			debug = NULL;
		}
	}
	buf_release(&name);
	return debug;
}
