/* The proc scan: reads /proc once, while the side-band is already on. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cprof-record/procs.h"

/* include/uapi/linux/fs.h, 6.11: declared here, so that older headers will do. */
struct procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define QUERY _IOWR('f', 17, struct procmap_query)
enum { QUERY_READ = 1, QUERY_WRITE = 2, QUERY_EXEC = 4, QUERY_NEXT = 16 };
enum { PF_KTHREAD = 0x200000, PATH_CAP = 4096 };

/* Splits /proc/PID/stat: *comm is the text between the parentheses. Returns the rest after them. */
static char *split_stat(char *stat, struct slice *comm)
{
	char *open = strchr(stat, '('), *close = strrchr(stat, ')');

	if (!open || !close || close < open)
		return NULL;
	*comm = (struct slice){ (uint8_t *)open + 1, (size_t)(close - open - 1) };
	return close + 1;
}

static bool read_stat(struct proc *p, char *stat, size_t cap, struct slice *comm, char *state, int *threads)
{
	char path[64], *rest;
	unsigned int ppid, flags;
	unsigned long long ticks;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, stat, cap - 1);
	close(fd);
	if (n <= 0)
		return false;
	stat[n] = '\0';
	rest = split_stat(stat, comm);
	if (!rest || sscanf(rest, " %c %u %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
			    state, &ppid, &flags, threads, &ticks) != 5)
		return false;
	p->start = ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
	p->kernel = flags & PF_KTHREAD;
	return true;
}

static void add_map(struct procs *ps, struct proc *p, struct change *c)
{
	struct change_effect ignored = { 0 };

	procs_map(ps, p, c, &ignored);
}

/* A path of more than 4095 bytes: perf uses the same name for it. */
static bool query_unnamed(int fd, struct procmap_query *q)
{
	char *name = (char *)(uintptr_t)q->vma_name_addr;

	q->vma_name_size = 0;
	q->vma_name_addr = 0;
	if (ioctl(fd, QUERY, q) < 0)
		return false;
	q->vma_name_size = (uint32_t)snprintf(name, PATH_CAP, "//toolong");
	return true;
}

/* Reads the build ID of a file, if the kernel can read the file without waiting for another process. */
static uint32_t query_id(struct procs *ps, int fd, const struct procmap_query *of, uint8_t *id, uint32_t cap)
{
	struct procmap_query q = { .size = sizeof(q), .query_flags = QUERY_EXEC, .query_addr = of->vma_start,
				   .build_id_size = cap, .build_id_addr = (uintptr_t)id };

	if (of->inode == 0 || (ps->opener && !opener_is_local(ps->opener, of->dev_major, of->dev_minor)) ||
	    ioctl(fd, QUERY, &q) < 0 || q.vma_start != of->vma_start || q.inode != of->inode)
		return 0;
	return q.build_id_size;
}

/*
 * Reads the mappings by ioctl, which gives build IDs without opening a file. False: this kernel has no such
 * ioctl. bare: without names and build IDs, which takes 1 µs a mapping instead of 40.
 */
static bool query_maps(struct procs *ps, struct proc *p, int fd, bool bare)
{
	char name[PATH_CAP];
	uint8_t id[64];
	struct procmap_query q;

	for (uint64_t at = 0;; at = q.vma_end) {
		struct change c = { .kind = CHANGE_MMAP };

		q = (struct procmap_query){ .size = sizeof(q), .query_flags = QUERY_EXEC | QUERY_NEXT,
					    .query_addr = at, .vma_name_size = bare ? 0 : sizeof(name),
					    .vma_name_addr = bare ? 0 : (uintptr_t)name };
		if (ioctl(fd, QUERY, &q) < 0 && !(errno == ENAMETOOLONG && query_unnamed(fd, &q)))
			return errno == ENOENT || errno == ESRCH || at != 0;
		c.start = q.vma_start;
		c.length = q.vma_end - q.vma_start;
		c.offset = q.vma_offset;
		c.prot = (uint32_t)q.vma_flags & 7;
		c.major = q.dev_major;
		c.minor = q.dev_minor;
		c.inode = q.inode;
		c.text = (struct slice){ (uint8_t *)name, q.vma_name_size ? strnlen(name, q.vma_name_size) : 0 };
		c.build_id = (struct slice){ id, bare ? 0 : query_id(ps, fd, &q, id, sizeof(id)) };
		add_map(ps, p, &c);
	}
}

/* A path in /proc/PID/maps has its newlines as \012. */
static size_t unescape(char *s)
{
	char *to = s;

	for (const char *at = s; *at; to++) {
		if (strncmp(at, "\\012", 4) == 0) {
			*to = '\n';
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
	return (size_t)(to - s);
}

/* Can there be a file of this name to open? */
static bool is_path(struct slice path)
{
	return path.n && path.p[0] == '/' && !memchr(path.p, 0, path.n);
}

/*
 * The thread through which a process's memory and root are visible: the main thread, whose number is the
 * process's, or another one if the main thread exited first. All threads have a directory in /proc, though
 * only that of the main thread is listed.
 */
static uint32_t task_with_memory(uint32_t pid)
{
	char path[64], exe[8];
	struct dirent *e;
	uint32_t found = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (readlink(path, exe, sizeof(exe)) >= 0 || errno != ENOENT)
		return pid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

		snprintf(path, sizeof(path), "/proc/%u/exe", tid);
		if (tid && tid != pid && readlink(path, exe, sizeof(exe)) >= 0)
			found = tid;
	}
	if (d)
		closedir(d);
	return found ? found : pid;
}

/* Is there a file that the opener could open? */
static bool is_file(const struct change *c)
{
	return is_path(c->text) && c->inode && !(c->text.n > 7 && memcmp(c->text.p, "/memfd:", 7) == 0);
}

static struct opener_question question_of(uint32_t pid, const struct change *c)
{
	return (struct opener_question){ .want = OPENER_IDENTITY, .pid = task_with_memory(pid), .start = c->start,
					 .end = c->start + c->length, .major = c->major, .minor = c->minor,
					 .inode = c->inode, .path = c->text };
}

bool snapshot_ask_identity(struct procs *ps, uint32_t pid, const struct change *c, uint32_t id, uint64_t place)
{
	struct opener_question q;

	if (!ps->opener || !is_file(c))
		return false;
	q = question_of(pid, c);
	q.id = id;
	q.place = place;
	return opener_ask(ps->opener, &q);
}

/* Waits for the answer, before there are samples: the side-band names the same files by their build IDs. */
static void identify_now(struct procs *ps, uint32_t pid, const struct change *c, struct buf *id)
{
	struct opener_question q;
	struct opener_answer a;

	if (!ps->opener || !ps->patient || !is_file(c))
		return;
	q = question_of(pid, c);
	if (opener_wait(ps->opener, &q, &a)) {
		buf_bytes(id, a.build_id.p, a.build_id.n);
		ps->patient -= a.said == OPENER_SILENT;
	}
}

bool snapshot_ask_file(struct procs *ps, uint32_t pid, const struct map *m, const struct exe *x, uint32_t id, uint64_t place)
{
	struct opener_question q = { .want = OPENER_FILE, .id = id, .place = place, .start = m->start, .end = m->end,
				     .major = x->major, .minor = x->minor, .inode = x->inode, .path = x->path,
				     .build_id = x->build_id };

	if (!ps->opener || !is_path(x->path))
		return false;
	q.pid = task_with_memory(pid);
	return opener_ask(ps->opener, &q);
}

static void parse_map(struct procs *ps, struct proc *p, char *line, bool bare)
{
	struct change c = { .kind = CHANGE_MMAP };
	struct buf id = { 0 };
	uint64_t end;
	char prot[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &c.start, &end, prot,
		   &c.offset, &c.major, &c.minor, &c.inode, &name) != 7 || prot[2] != 'x')
		return;
	c.length = end - c.start;
	c.prot = 4 | (prot[0] == 'r') | (prot[1] == 'w') << 1;
	if (!bare)
		c.text = (struct slice){ (uint8_t *)line + name, unescape(line + name) };
	if (!bare)
		identify_now(ps, p->pid, &c, &id);
	c.build_id = buf_view(&id);
	add_map(ps, p, &c);
	buf_release(&id);
}

static void read_maps(struct procs *ps, struct proc *p, bool bare)
{
	char path[64], *line = NULL;
	size_t cap = 0;
	ssize_t n;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/maps", task_with_memory(p->pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (query_maps(ps, p, fd, bare)) {
		close(fd);
		return;
	}
	f = fdopen(fd, "r");
	while (f && (n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		parse_map(ps, p, line, bare);
	}
	free(line);
	if (f)
		fclose(f);
	else
		close(fd);
}

void snapshot_maps(struct procs *ps, struct proc *p)
{
	read_maps(ps, p, false);
}

/* Adds the parts of m that are still mapped, by the fresh mappings, to kept. */
static bool keep_map(struct maps *kept, const struct maps *fresh, const struct map *m)
{
	const struct map *f;
	bool changed = false;

	for (uint64_t at = m->start; (f = maps_from(fresh, at)) && f->start < m->end; at = f->end) {
		struct map part = *m;

		part.start = f->start > m->start ? f->start : m->start;
		part.end = f->end < m->end ? f->end : m->end;
		part.offset += m->file ? part.start - m->start : 0;
		if (!maps_add(kept, &part, &changed))
			return false;
		if (f->end >= m->end)
			break;
	}
	return true;
}

void snapshot_prune(struct procs *ps, struct proc *p)
{
	struct proc now = { .pid = p->pid, .prune_at = SIZE_MAX };
	struct maps kept = { 0 };
	bool ok = !p->dead;

	if (ok)
		read_maps(ps, &now, true);
	ok = ok && maps_count(&now.maps) > 0; /* no mappings: the process is gone, so keep the old ones */
	for (const struct map *m = maps_from(&p->maps, 0); ok && m; m = maps_from(&p->maps, m->end))
		ok = keep_map(&kept, &now.maps, m);
	maps_release(&now.maps);
	maps_release(ok ? &p->maps : &kept);
	if (ok)
		p->maps = kept;
}

static void read_task(struct procs *ps, struct proc *p, uint32_t tid)
{
	char path[64], comm[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", p->pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, comm, sizeof(comm));
	close(fd);
	if (n > 0)
		procs_new_task(ps, p, tid, (struct slice){ (uint8_t *)comm, (size_t)n - (comm[n - 1] == '\n') });
}

/* threads: their number, mostly one, whose name is known. The side-band reports those made since then. */
static void read_tasks(struct procs *ps, struct proc *p, struct slice comm, int threads)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", p->pid);
	d = threads > 1 ? opendir(path) : NULL;
	while (d && (e = readdir(d))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (tid && tid != p->pid)
			read_task(ps, p, tid);
	}
	if (d)
		closedir(d);
	procs_new_task(ps, p, p->pid, comm);
}

bool snapshot_process(struct procs *ps, struct proc *p)
{
	char stat[1024], state;
	struct slice comm;
	int threads;

	p->seen = host_mono_ns();
	p->time = p->whole = p->seen;
	p->via = VIA_SNAPSHOT;
	if (!read_stat(p, stat, sizeof(stat), &comm, &state, &threads))
		return false;
	if (!p->kernel)
		read_maps(ps, p, false);
	read_tasks(ps, p, comm, threads);
	if (state == 'Z' || state == 'X') { /* its exit was reported before anybody listened */
		struct change c = { .kind = CHANGE_EXIT, .time = p->seen, .pid = p->pid, .tid = p->pid };
		struct change_effect ignored;

		procs_apply(ps, &c, &ignored);
	}
	return true;
}

void procs_snapshot(struct procs *ps)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct proc *p;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		p = procs_new(ps, (uint32_t)strtoul(e->d_name, NULL, 10));
		if (p && !snapshot_process(ps, p))
			procs_bury(ps, p, p->seen);
	}
	if (d)
		closedir(d);
}
