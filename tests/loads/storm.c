/*
 * Stress loads for the recorder, for tests/cmd/record-soak.t. Each prints "ready" when it is under way.
 *
 *	storm map N		maps and unmaps executable memory N times, at new addresses, of new files
 *	storm remap SECONDS	maps and unmaps its own file as executable memory, as fast as possible
 *	storm jit BYTES SECONDS	a perf map of BYTES, and code of its own that runs
 *	storm deep SECONDS	maps a file whose path is longer than 4095 bytes, then runs in far_work; fills
 *				the current directory
 *	storm exec N		N processes whose second thread calls exec; the new image runs in new_work
 *	storm late map|exec PATH SECONDS
 *				waits until the file PATH exists; then maps its own code a second time and
 *				runs in late_work there, or executes itself again and runs in far_work
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/loads/attributes.h"

enum { PAGE = 4096, LINE = 64, CODE = 1 << 16 };

static volatile uint32_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) int spin(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1664525 + 1013904223;
	return 0;
}

static AS_WRITTEN int far_work(double seconds)
{
	return spin(seconds) + (int)(sink & 0);
}

static AS_WRITTEN int new_work(void)
{
	return spin(0.02) + (int)(sink & 0);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static int remap(double seconds)
{
	double until = now() + seconds;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 1;
	ready();
	while (now() < until) {
		for (int i = 0; i < 1000; i++) {
			void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

			if (p == MAP_FAILED || munmap(p, PAGE) < 0)
				return 1;
		}
	}
	return 0;
}

static int map(long n)
{
	ready();
	for (long i = 0; i < n; i++) {
		void *at = (void *)(0x200000000000 + (uintptr_t)i * 16 * PAGE), *p;
		char name[32];
		int fd;

		snprintf(name, sizeof(name), "new-%ld", i);
		fd = memfd_create(name, MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, PAGE) < 0)
			return 1;
		p = mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED || munmap(p, PAGE) < 0)
			return 1;
		close(fd);
		if (i % 1000 == 0) /* runs long enough to be sampled */
			spin(0.01);
	}
	return 0;
}

static int jit(long bytes, double seconds)
{
	uint8_t *code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double end = now() + seconds;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f || code == MAP_FAILED)
		return 1;
	for (long i = 0; i < bytes / LINE; i++)
		fprintf(f, "%012lx 40 %-*ld\n", 0x10000000 + i * 64, LINE - 17, i);
	fprintf(f, "%lx %x jitted\n", (unsigned long)(uintptr_t)code, CODE);
	fclose(f);
#if defined(__x86_64__)
	/* mov %edi,%ecx; 1: dec %ecx; jnz 1b; ret */
	memcpy(code, (const uint8_t[]){ 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3 }, 7);
#elif defined(__aarch64__)
	/* 1: subs w0, w0, #1; b.ne 1b; ret */
	memcpy(code, (const uint32_t[]){ 0x71000400, 0x54ffffe1, 0xd65f03c0 }, 12);
	__builtin___clear_cache((char *)code, (char *)code + 12);
#endif
	ready();
	while (now() < end)
		((void (*)(int))(uintptr_t)code)(1000000);
	unlink(path);
	return 0;
}

static int deep(double seconds)
{
	char name[201];
	int fd;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 25; i++)
		if (mkdir(name, 0700) < 0 || chdir(name) < 0)
			return 1;
	fd = open("file", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, PAGE) < 0 ||
	    mmap((void *)0x08000000, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ||
	    mmap((void *)0x10000000, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	ready();
	return far_work(seconds);
}

static void *call_exec(void *self)
{
	execl(self, self, "new", (char *)NULL);
	_exit(1);
}

static int exec_from_threads(long n, char *self)
{
	ready();
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		pthread_t t;
		int status;

		if (pid == 0) {
			if (pthread_create(&t, NULL, call_exec, self))
				_exit(1);
			pthread_exit(NULL); /* the leader is dead when the other thread takes its place */
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

/* Uses nothing outside itself: it runs at an address other than the linked one. */
static AS_WRITTEN __attribute__((aligned(64))) uint32_t late_work(uint32_t n)
{
	uint32_t x = n;

	while (n--) {
		x = x * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Returns the offset in our own file of the code at an address. */
static long offset_of(uintptr_t address, unsigned long *start)
{
	char line[4352];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long end, offset;
	long found = -1;

	while (f && found < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", start, &end, &offset) == 3 && address >= *start && address < end)
			found = (long)offset;
	if (f)
		fclose(f);
	return found;
}

static int late(const char *how, const char *path, const char *seconds, char *self)
{
	uintptr_t work = (uintptr_t)late_work;
	unsigned long start = 0;
	long offset = offset_of(work, &start);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	double end;
	uint8_t *at;

	if (offset < 0 || fd < 0)
		return 1;
	spin(0.01);
	ready();
	while (access(path, F_OK) < 0)
		spin(0.01);
	if (strcmp(how, "exec") == 0) {
		execl(self, self, "far", seconds, (char *)NULL);
		return 1;
	}
	at = mmap(NULL, work - start + PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);
	if (at == MAP_FAILED)
		return 1;
	ready();
	for (end = now() + strtod(seconds, NULL); now() < end;)
		sink += ((uint32_t (*)(uint32_t))(at + (work - start)))(1000000);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "new") == 0)
		return new_work();
	if (argc == 3 && strcmp(argv[1], "far") == 0) {
		ready();
		return far_work(strtod(argv[2], NULL));
	}
	if (argc == 5 && strcmp(argv[1], "late") == 0)
		return late(argv[2], argv[3], argv[4], argv[0]);
	if (argc == 3 && strcmp(argv[1], "remap") == 0)
		return remap(strtod(argv[2], NULL));
	if (argc == 3 && strcmp(argv[1], "map") == 0)
		return map(atol(argv[2]));
	if (argc == 4 && strcmp(argv[1], "jit") == 0)
		return jit(atol(argv[2]), strtod(argv[3], NULL));
	if (argc == 3 && strcmp(argv[1], "deep") == 0)
		return deep(strtod(argv[2], NULL));
	if (argc == 3 && strcmp(argv[1], "exec") == 0)
		return exec_from_threads(atol(argv[2]), argv[0]);
	fprintf(stderr, "usage: storm map N | storm jit BYTES SECONDS | storm deep SECONDS | storm exec N |\n"
		"       storm late map|exec PATH SECONDS | storm remap SECONDS\n");
	return 2;
}
