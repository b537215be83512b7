#include "cmd/cprof-record/helper/maps_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/foreign/helper.h"
#include "cmd/cprof-record/helper/sandbox.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/priority.h"
#include "common/base/buf.h"
#include "common/foreign/mounts.h"

/* include/uapi/linux/fs.h, 6.11: declared here, so that older headers will do. */
struct procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define QUERY _IOWR('f', 17, struct procmap_query)
enum { QUERY_READ = 1, QUERY_WRITE = 2, QUERY_EXEC = 4, QUERY_NEXT = 16 };

enum { KEEP_BYTES = 1 << 20, KNOWN = 256 };

/* The build ID of a file that another process maps, too. */
struct known_id {
	uint64_t inode; /* 0: none */
	uint32_t major, minor, n;
	uint8_t id[20];
};

struct maps_process {
	struct known_id known[KNOWN]; /* by inode, for one scan of all processes */
	bool all;
	struct mounts mounts;
	struct buf out;
	bool bare;
	size_t n;                /* mappings in out */
	size_t looked;           /* mappings that were read, also those that are not executable */
	uint64_t deadline, until; /* until: as in the answer */
};

static void put_mapping(struct maps_process *p, struct maps_process_mapping *m, const char *path,
			const uint8_t *id)
{
	static const uint8_t padding[8];

	m->path_n = p->bare ? 0 : (uint32_t)strnlen(path, MAPS_PROCESS_PATH);
	buf_bytes(&p->out, m, sizeof(*m));
	buf_bytes(&p->out, path, m->path_n);
	buf_bytes(&p->out, id, m->id_n);
	buf_bytes(&p->out, padding, -(m->path_n + m->id_n) % sizeof(padding));
	p->n++;
}

/* Is this enough of the process? Then the rest, from this address on, is left out. */
static bool is_enough(struct maps_process *p, uint64_t at)
{
	bool late = p->looked >= MAPS_PROCESS_LEAST && p->looked % 64 == 0 && host_mono_ns() > p->deadline;

	if (!late && p->n < MAPS_PROCESS_MAPPINGS && p->out.n < MAPS_PROCESS_MOST)
		return false;
	p->until = at;
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
	q->vma_name_size = (uint32_t)snprintf(name, MAPS_PROCESS_PATH, "//toolong");
	return true;
}

/* Reads the build ID of a file, if the kernel can read the file without waiting for another process. */
static uint32_t query_id(struct maps_process *p, int fd, const struct procmap_query *of, uint8_t *id)
{
	struct procmap_query q = { .size = sizeof(q), .query_flags = QUERY_EXEC, .query_addr = of->vma_start,
				   .build_id_size = MAPS_PROCESS_ID, .build_id_addr = (uintptr_t)id };

	if (of->inode == 0 || !mounts_is_local(&p->mounts, of->dev_major, of->dev_minor) ||
	    ioctl(fd, QUERY, &q) < 0 || q.vma_start != of->vma_start || q.inode != of->inode)
		return 0;
	return q.build_id_size <= MAPS_PROCESS_ID ? q.build_id_size : 0;
}

/*
 * The same, from memory if another process maps the file. Inode numbers tell files apart on block devices
 * alone: the subvolumes of btrfs share one device, which has no major number.
 */
static uint32_t find_id(struct maps_process *p, int fd, const struct procmap_query *of, uint8_t *id)
{
	struct known_id *k = p->all && of->dev_major ? &p->known[of->inode % KNOWN] : NULL;
	uint32_t n;

	if (k && k->inode && k->inode == of->inode && k->major == of->dev_major &&
	    k->minor == of->dev_minor) {
		memcpy(id, k->id, k->n);
		return k->n;
	}
	n = query_id(p, fd, of, id);
	if (k && n <= sizeof(k->id)) {
		*k = (struct known_id){ of->inode, of->dev_major, of->dev_minor, n, { 0 } };
		memcpy(k->id, id, n);
	}
	return n;
}

/*
 * Reads the mappings by ioctl, which gives build IDs without opening a file. False: this kernel has no such
 * ioctl. Without names and build IDs a mapping takes 1 µs instead of 40.
 */
static bool query_maps(struct maps_process *p, int fd)
{
	char name[MAPS_PROCESS_PATH];
	uint8_t id[MAPS_PROCESS_ID];
	struct procmap_query q;

	for (uint64_t at = 0; !is_enough(p, at); at = q.vma_end) {
		struct maps_process_mapping m = { .by_query = true };

		name[0] = '\0';
		q = (struct procmap_query){ .size = sizeof(q), .query_flags = QUERY_EXEC | QUERY_NEXT,
					    .query_addr = at, .vma_name_size = p->bare ? 0 : sizeof(name),
					    .vma_name_addr = p->bare ? 0 : (uintptr_t)name };
		if (ioctl(fd, QUERY, &q) < 0 && !(errno == ENAMETOOLONG && query_unnamed(fd, &q)))
			return errno == ENOENT || errno == ESRCH || at != 0;
		m.start = q.vma_start;
		m.end = q.vma_end;
		m.offset = q.vma_offset;
		m.prot = (uint32_t)q.vma_flags & 7;
		m.major = q.dev_major;
		m.minor = q.dev_minor;
		m.inode = q.inode;
		if (q.vma_name_size == 0)
			name[0] = '\0';
		m.id_n = p->bare ? 0 : find_id(p, fd, &q, id);
		p->looked++;
		put_mapping(p, &m, name, id);
	}
	return true;
}

/* A path in /proc/PID/maps has its newlines as \012. */
static void unescape(char *s)
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
}

/* Returns the end of the mapping. */
static uint64_t parse_map(struct maps_process *p, char *line)
{
	struct maps_process_mapping m = { 0 };
	char prot[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start, &m.end,
		   prot, &m.offset, &m.major, &m.minor, &m.inode, &name) != 7 || prot[2] != 'x')
		return m.end;
	m.prot = 4 | (prot[0] == 'r') | (prot[1] == 'w') << 1;
	unescape(line + name);
	put_mapping(p, &m, line + name, NULL);
	return m.end;
}

/* Takes over the descriptor. */
static void parse_maps(struct maps_process *p, int fd)
{
	FILE *f = fdopen(fd, "r");
	uint64_t at = 0;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (f && !is_enough(p, at) && (n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		at = parse_map(p, line);
		p->looked++;
	}
	free(line);
	if (f)
		fclose(f);
	else
		close(fd);
}

static void read_maps(struct maps_process *p, const struct maps_process_question *q)
{
	char path[64];
	int fd;

	if (p->out.cap > KEEP_BYTES)
		buf_release(&p->out);
	buf_clear(&p->out);
	p->bare = q->bare;
	p->n = p->looked = 0;
	p->deadline = host_mono_ns() + (q->all ? MAPS_PROCESS_ALL_MS : MAPS_PROCESS_MS) * UINT64_C(1000000);
	p->until = UINT64_MAX;
	if (p->all && !q->all)
		memset(p->known, 0, sizeof(p->known));
	p->all = q->all;
	snprintf(path, sizeof(path), "/proc/%u/maps", q->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (query_maps(p, fd))
		close(fd);
	else
		parse_maps(p, fd);
}

/* Without memory or room in the memfd, there are no mappings. */
static bool answer_question(struct maps_process *p, int sock, int memory,
			    const struct maps_process_question *q)
{
	struct maps_process_answer a = { .id = q->id };
	uint64_t begun = host_mono_ns();

	read_maps(p, q);
	if (!p->out.failed && ftruncate(memory, 0) == 0 &&
	    pwrite(memory, p->out.p, p->out.n, 0) == (ssize_t)p->out.n)
		a.bytes = p->out.n;
	a.until = p->until;
	a.took = host_mono_ns() - begun;
	p->out.failed = false;
	a.cpu_ns = host_cpu_ns();
	return helper_send(sock, &a, sizeof(a), -1, 0);
}

void maps_process_run(int memory, int sock, pid_t parent, bool again)
{
	struct maps_process p = { 0 };
	struct maps_process_question q;
	int keep[] = { sock, memory }, none;
	size_t n = sizeof(q);

	prctl(PR_SET_NAME, "cprof-maps");
	priority_apart();
	sandbox_signals();
	if ((again && !helper_unmap_shared()) || !sandbox_descriptors(keep, 2) || !sandbox_parent(parent) ||
	    !sandbox_limit(RLIMIT_CORE, 0, 0))
		_exit(1);
	while (helper_take(SANDBOX_FIRST, &q, &n, &none, 0) && n == sizeof(q)) {
		if (!answer_question(&p, SANDBOX_FIRST, SANDBOX_FIRST + 1, &q))
			break;
	}
	_exit(0);
}
