/* Mappings that were read again: which of them mean an exec, and readings that were cut. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/maps_process.h"
#include "cmd/cprof-record/process/procs_exes.h"
#include "cmd/cprof-record/process/reread.h"
#include "tests/lib/check.h"

uint64_t __real_host_mono_ns(void);
uint64_t __wrap_host_mono_ns(void);
int __real_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg);

enum { PID = 1 << 23, LINES = 8 * MAPS_PROCESS_LEAST }; /* PID: of no process */

static pid_t self;

/* In the process that reads, each look at the clock takes its whole time. */
uint64_t __wrap_host_mono_ns(void)
{
	static uint64_t looks;

	return __real_host_mono_ns() + (getpid() == self ? 0 : looks++ * MAPS_PROCESS_MS * 1000000);
}

/* The kernel is older than Linux 6.11: it has only text. */
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	return getpid() == self ? __real_ioctl(fd, request, arg) : -1;
}

static struct procs ps;

static void map_at(struct maps *maps, uint64_t start, uint32_t file)
{
	bool changed = false;

	maps_add(maps, &(struct map){ .start = start, .end = start + 0x1000, .file = file }, &changed);
}

/* Has the reading of a process, which mapped file 1 at an address, been taken for another image? */
static bool is_exec(uint64_t mapped, uint64_t read, uint32_t file, uint64_t until)
{
	struct proc *p = procs_new(&ps, PID);
	struct change_effect effect;
	uint64_t serial = p->serial;
	struct change c = { 0 };
	bool exec = false;

	map_at(&p->maps, mapped, 1);
	ps.rereads = calloc(1, sizeof(*ps.rereads));
	ps.n_rereads = ps.cap_rereads = 1;
	ps.rereads[0] = (struct reread){ .time = 5, .pid = PID, .serial = serial };
	ps.rereads[0].until = until;
	ps.rereads[0].again = true;
	map_at(&ps.rereads[0].maps, read, file);
	while (reread_next(&ps, 10, &c, &effect))
		exec = exec || c.kind == CHANGE_EXEC;
	free(ps.rereads);
	ps.rereads = NULL;
	return exec;
}

static void check_exec(void)
{
	check(!is_exec(0x7000, 0x7000, 1, UINT64_MAX), "a file that is where it was is of the same image");
	check(is_exec(0x7000, 0x7000, 2, UINT64_MAX), "another file there is of another image");
	check(is_exec(0x7000, 0x9000, 1, UINT64_MAX), "so is a file elsewhere");
	check(!is_exec(0x7000, 0x3000, 0, 0x4000), "a reading that ended before the file says nothing of it");
	check(is_exec(0x7000, 0x3000, 0, 0x8000), "... and one that ended after it does");
}

static void count_mapping(void *arg, const struct maps_reader_mapping *m)
{
	(void)m;
	++*(size_t *)arg;
}

static void check_time(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	char *area = mmap(NULL, LINES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct maps_reader m;

	for (size_t i = 0; area != MAP_FAILED && i < LINES; i += 2)
		mprotect(area + i * page, page, PROT_READ | PROT_WRITE);
	maps_reader_init(&m);
	check(maps_reader_read(&m, (uint32_t)self, true, count_mapping, &n),
	      "a process with very many mappings is read");
	check(m.cut == 1, "... for a limited time, although few are executable");
	maps_reader_release(&m);
	munmap(area, LINES * page);
}

int main(void)
{
	self = getpid();
	procs_init(&ps);
	procs_exe_of(&ps, PID, &(struct change){ .text = slice_of("/bin/one"), .inode = 1 });
	procs_exe_of(&ps, PID, &(struct change){ .text = slice_of("/bin/two"), .inode = 2 });
	check_exec();
	check_time();
	procs_release(&ps);
	return checks_done();
}
