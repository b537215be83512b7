#include "cmd/cprof-record/process/proc_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PF_KTHREAD = 0x200000 };

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

bool proc_scan_is_file(const struct change *c)
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

	if (!o || !proc_scan_is_file(c))
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

	if (!s->opener || !s->patient || !proc_scan_is_file(c))
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

struct scan {
	struct proc_scan *s;
	uint32_t pid;
	bool bare;
	proc_scan_mapping *found;
	void *arg;
};

static void take_mapping(void *arg, const struct maps_reader_mapping *m)
{
	struct scan *scan = arg;
	struct change c = { .kind = CHANGE_MMAP, .start = m->start, .length = m->end - m->start,
			    .offset = m->offset, .prot = m->prot, .major = m->major, .minor = m->minor,
			    .inode = m->inode, .text = m->path, .build_id = m->build_id };
	struct buf id = { 0 };

	if (!m->by_query && !scan->bare) {
		identify_now(scan->s, scan->pid, &c, &id);
		c.build_id = buf_view(&id);
	}
	scan->s->pending.found++;
	scan->found(scan->arg, &c);
	buf_release(&id);
}

/* Most main threads still run: the search for another thread would cost each process a look-up. */
void proc_scan_maps(struct proc_scan *s, uint32_t pid, bool bare, proc_scan_mapping *found, void *arg)
{
	struct scan scan = { s, pid, bare, found, arg };

	if (maps_reader_read(&s->maps, pid, bare, take_mapping, &scan))
		return;
	scan.pid = task_with_memory(pid);
	if (scan.pid != pid)
		maps_reader_read(&s->maps, scan.pid, bare, take_mapping, &scan);
}

bool proc_scan_ask_maps(struct proc_scan *s, uint32_t pid, bool bare)
{
	s->pending = (struct proc_scan_pending){ .pid = pid, .bare = bare };
	return maps_reader_ask(&s->maps, pid, bare);
}

enum maps_reader_said proc_scan_take_maps(struct proc_scan *s, uint64_t now, proc_scan_mapping *found,
					  void *arg, uint64_t *until)
{
	struct scan scan = { s, s->pending.pid, s->pending.bare, found, arg };
	enum maps_reader_said said = maps_reader_take(&s->maps, now, take_mapping, &scan, until);
	uint32_t other;

	if (said != MAPS_READER_READ || s->pending.found || s->pending.again)
		return said;
	other = task_with_memory(s->pending.pid);
	s->pending.again = true;
	return other != s->pending.pid && maps_reader_ask(&s->maps, other, s->pending.bare)
		       ? MAPS_READER_NOTHING
		       : said;
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
