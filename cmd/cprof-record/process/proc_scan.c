#include "cmd/cprof-record/process/proc_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

bool proc_scan_status(uint32_t pid, struct proc_scan_status *out)
{
	char path[64], *rest;
	unsigned int ppid, flags;
	unsigned long long ticks;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, out->text, sizeof(out->text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	out->text[n] = '\0';
	rest = split_stat(out->text, &out->comm);
	if (!rest || sscanf(rest, " %c %u %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
			    &out->state, &ppid, &flags, &out->threads, &ticks) != 5)
		return false;
	out->start = ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
	out->kernel = flags & PF_KTHREAD;
	return true;
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
static uint32_t query_id(struct opener *opener, int fd, const struct procmap_query *of, uint8_t *id, uint32_t cap)
{
	struct procmap_query q = { .size = sizeof(q), .query_flags = QUERY_EXEC, .query_addr = of->vma_start,
				   .build_id_size = cap, .build_id_addr = (uintptr_t)id };

	if (of->inode == 0 || (opener && !opener_is_local(opener, of->dev_major, of->dev_minor)) ||
	    ioctl(fd, QUERY, &q) < 0 || q.vma_start != of->vma_start || q.inode != of->inode)
		return 0;
	return q.build_id_size;
}

/*
 * The same, from memory if another process maps the file. Inode numbers tell files apart on block devices
 * alone: the subvolumes of btrfs share one device, which has no major number.
 */
static uint32_t find_id(struct proc_scan *s, int fd, const struct procmap_query *of, uint8_t *id,
			uint32_t cap)
{
	struct proc_scan_known *k = s->known && of->dev_major ? &s->known[of->inode % PROC_SCAN_KNOWN] : NULL;
	uint32_t n;

	if (k && k->inode == of->inode && k->major == of->dev_major && k->minor == of->dev_minor) {
		memcpy(id, k->id, k->n);
		return k->n;
	}
	n = query_id(s->opener, fd, of, id, cap);
	if (k && n <= sizeof(k->id)) {
		*k = (struct proc_scan_known){ of->inode, of->dev_major, of->dev_minor, n, { 0 } };
		memcpy(k->id, id, n);
	}
	return n;
}

/*
 * Reads the mappings by ioctl, which gives build IDs without opening a file. False: this kernel has no such
 * ioctl. bare: without names and build IDs, which takes 1 µs a mapping instead of 40.
 */
static bool query_maps(struct proc_scan *s, int fd, bool bare, bool *any, proc_scan_mapping *found, void *arg)
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
		c.build_id = (struct slice){ id, bare ? 0 : find_id(s, fd, &q, id, sizeof(id)) };
		found(arg, &c);
		*any = true;
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

bool proc_scan_ask_identity(struct opener *o, uint32_t pid, const struct change *c, uint32_t id,
			    uint64_t place)
{
	struct opener_question q;

	if (!o || !is_file(c))
		return false;
	q = question_of(pid, c);
	q.id = id;
	q.place = place;
	return opener_ask(o, &q);
}

/* Waits for the answer, before there are samples: the side-band names the same files by their build IDs. */
static void identify_now(struct proc_scan *s, uint32_t pid, const struct change *c, struct buf *id)
{
	struct opener_question q;
	struct opener_answer a;

	if (!s->opener || !s->patient || !is_file(c))
		return;
	q = question_of(pid, c);
	if (opener_wait(s->opener, &q, &a)) {
		buf_bytes(id, a.build_id.p, a.build_id.n);
		s->patient -= a.said == OPENER_SILENT;
	}
}

bool proc_scan_ask_file(struct opener *o, uint32_t pid, const struct change *c, uint32_t id, uint64_t place)
{
	struct opener_question q;

	if (!o || !is_path(c->text))
		return false;
	q = question_of(pid, c);
	q.want = OPENER_FILE;
	q.build_id = c->build_id;
	q.id = id;
	q.place = place;
	return opener_ask(o, &q);
}

static void parse_map(struct proc_scan *s, uint32_t pid, char *line, bool bare, proc_scan_mapping *found,
		      void *arg)
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
		identify_now(s, pid, &c, &id);
	c.build_id = buf_view(&id);
	found(arg, &c);
	buf_release(&id);
}

/* Reads the mappings that a thread shows. Returns false if it shows none. */
static bool scan_thread(struct proc_scan *s, uint32_t tid, bool bare, proc_scan_mapping *found, void *arg)
{
	char path[64], *line = NULL;
	bool any = false;
	size_t cap = 0;
	ssize_t n;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/maps", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (query_maps(s, fd, bare, &any, found, arg)) {
		close(fd);
		return any;
	}
	f = fdopen(fd, "r");
	while (f && (n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		parse_map(s, tid, line, bare, found, arg);
		any = true;
	}
	free(line);
	if (f)
		fclose(f);
	else
		close(fd);
	return any;
}

/* Most main threads still run: the search for another thread would cost each process a look-up. */
void proc_scan_maps(struct proc_scan *s, uint32_t pid, bool bare, proc_scan_mapping *found, void *arg)
{
	uint32_t tid;

	if (scan_thread(s, pid, bare, found, arg))
		return;
	tid = task_with_memory(pid);
	if (tid != pid)
		scan_thread(s, tid, bare, found, arg);
}

static void read_task(uint32_t pid, uint32_t tid, proc_scan_task *found, void *arg)
{
	char path[64], comm[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, comm, sizeof(comm));
	close(fd);
	if (n > 0)
		found(arg, tid, (struct slice){ (uint8_t *)comm, (size_t)n - (comm[n - 1] == '\n') });
}

void proc_scan_tasks(uint32_t pid, proc_scan_task *found, void *arg)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (tid && tid != pid)
			read_task(pid, tid, found, arg);
	}
	if (d)
		closedir(d);
}

void proc_scan_pids(void (*found)(void *arg, uint32_t pid), void *arg)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			found(arg, (uint32_t)strtoul(e->d_name, NULL, 10));
	if (d)
		closedir(d);
}
