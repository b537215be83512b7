#include "tests/verify/state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/host/vdso.h"

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("unwind-verify: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/* Copies our own vDSO: all processes have the same one. */
static int vdso_file(void)
{
	struct buf image = { 0 }, id = { 0 };
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0 || !vdso_image(&image, &id) || write(fd, image.p, image.n) != (ssize_t)image.n)
		die("the vDSO cannot be copied");
	buf_release(&image);
	buf_release(&id);
	return fd;
}

static int open_as(pid_t pid, const char *path)
{
	char at[4096];
	int fd;

	if (strcmp(path, "[vdso]") == 0)
		return vdso_file();
	snprintf(at, sizeof(at), "/proc/%d/root%s", (int)pid, path);
	fd = open(at, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

static int twin_fd(const struct states *s, const char *path)
{
	int fd;

	if (!s->twin || strcmp(path, s->twin_of) != 0)
		return -1;
	fd = open(s->twin, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s cannot be opened", s->twin);
	return fd;
}

uint32_t states_file(struct states *s, pid_t pid, const char *path)
{
	struct stat st = { 0 };
	struct code_file *f;
	int fd;

	if (path[0] != '/' && strcmp(path, "[vdso]") != 0)
		return 0;
	if (strncmp(path, "//", 2) == 0 || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/memfd:", 7) == 0)
		return 0; /* anonymous memory by another name */
	fd = open_as(pid, path);
	if (fd >= 0 && fstat(fd, &st) != 0)
		die("%s: no fstat", path);
	for (size_t i = 1; i < s->n_files; i++) {
		f = &s->files[i];
		if (strcmp(f->path, path) == 0 &&
		    (path[0] == '[' || (f->dev == st.st_dev && f->inode == st.st_ino))) {
			if (fd >= 0)
				close(fd);
			return (uint32_t)i;
		}
	}
	s->n_files += s->n_files == 0;
	GROW(s->files, s->cap_files, s->n_files);
	f = &s->files[s->n_files];
	*f = (struct code_file){ .path = strdup(path), .fd = fd, .dev = st.st_dev, .inode = st.st_ino };
	f->truth_fd = twin_fd(s, path);
	if (f->truth_fd < 0)
		f->truth_fd = fd;
	return (uint32_t)s->n_files++;
}

size_t states_image(struct states *s, const struct maps *maps)
{
	GROW(s->images, s->cap_images, s->n_images);
	maps_copy(&s->images[s->n_images].maps, maps);
	return s->n_images++;
}

struct state *states_add(struct states *s)
{
	GROW(s->items, s->cap, s->n);
	return &s->items[s->n++];
}

bool state_read(const struct states *all, const struct state *s, uint64_t address, void *to, size_t n)
{
	uint64_t sp = s->regs[UNWIND_RSP];
	const struct map *m;

	if (address >= sp && s->stack_n >= n && address - sp <= s->stack_n - n) {
		memcpy(to, s->stack + (address - sp), n);
		return true;
	}
	m = maps_find(&all->images[s->image].maps, address);
	if (!m || !m->file || !(m->prot & 4) || (m->prot & 2) || m->end - address < n || all->files[m->file].fd < 0)
		return false;
	return pread(all->files[m->file].fd, to, n, (off_t)(address - m->start + m->offset)) == (ssize_t)n;
}

const char *state_place(const struct states *all, const struct state *s, uint64_t address)
{
	static char text[2][512];
	static int which;
	const struct map *m = maps_find(&all->images[s->image].maps, address);
	char *t = text[which ^= 1];

	if (!m)
		snprintf(t, sizeof(text[0]), "0x%" PRIx64 " (not mapped)", address);
	else if (!m->file)
		snprintf(t, sizeof(text[0]), "0x%" PRIx64 " (anonymous)", address);
	else
		snprintf(t, sizeof(text[0]), "%s+0x%" PRIx64, all->files[m->file].path,
			 address - m->start + m->offset);
	return t;
}

void states_release(struct states *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].stack);
		free(s->items[i].ours.frames);
	}
	for (size_t i = 0; i < s->n_images; i++)
		maps_release(&s->images[i].maps);
	for (size_t i = 1; i < s->n_files; i++) {
		if (s->files[i].truth_fd != s->files[i].fd)
			close(s->files[i].truth_fd);
		if (s->files[i].fd >= 0)
			close(s->files[i].fd);
		free(s->files[i].path);
	}
	free(s->items);
	free(s->images);
	free(s->files);
	*s = (struct states){ 0 };
}
