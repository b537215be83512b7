/*
 * A file system that stops answering, and a process that runs code from it.
 *
 *	stallfs serve DIR FILE	mounts a FUSE file system at DIR, in which each NAME looked up is a file
 *				with the bytes of FILE; prints "ready"; after SIGUSR1 it reads requests and
 *				answers none
 *	stallfs run NAME	maps NAME, a copy of this program, and works by turns in mapped_work there
 *				and in local_work; prints "running", and runs until it is killed; if NAME is
 *				"-", the copy is in anonymous memory, like a JIT compiler's code
 *	stallfs lock NAME	like run with a copy in memory, while another thread holds the lock of the
 *				process's memory: it maps over a written page of NAME, and the server never
 *				answers that write
 *
 * When the server ends, pending requests end too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 1 << 17, ROOT = 1, FILE_NODE = 2, FOREVER = 3600 };

static volatile sig_atomic_t stalled;
/* volatile, or the compiler specializes the functions under other names. */
static volatile uint32_t rounds_of_work = 1000000, result;

static void stall(int signal)
{
	(void)signal;
	stalled = 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void reply(int dev, const struct fuse_in_header *in, int error, const void *data, size_t n)
{
	static char bytes[MOST + 4096];
	struct fuse_out_header out = { .len = (uint32_t)(sizeof(out) + n), .error = -error, .unique = in->unique };

	memcpy(bytes, &out, sizeof(out));
	if (n)
		memcpy(bytes + sizeof(out), data, n);
	if (write(dev, bytes, sizeof(out) + n) < 0 && errno != ENOENT)
		fail("write");
}

static struct fuse_attr attr_of(uint64_t node, uint64_t size)
{
	return (struct fuse_attr){
		.ino = node, .size = node == ROOT ? 0 : size, .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755, .nlink = 1,
		.blksize = 4096,
	};
}

static void do_read(int dev, const struct fuse_in_header *in, const struct fuse_read_in *r, int file)
{
	static char bytes[MOST];
	ssize_t n = pread(file, bytes, r->size < MOST ? r->size : MOST, (off_t)r->offset);

	reply(dev, in, n < 0 ? errno : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void answer(int dev, const struct fuse_in_header *in, int file, uint64_t size)
{
	const void *body = in + 1;

	switch (in->opcode) {
	case FUSE_INIT: {
		struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = MOST, .max_write = MOST / 2,
					     .max_background = 16, .congestion_threshold = 12, .time_gran = 1 };

		reply(dev, in, 0, &out, sizeof(out));
		puts("ready");
		fflush(stdout);
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = { .nodeid = FILE_NODE, .entry_valid = FOREVER, .attr_valid = FOREVER,
					      .attr = attr_of(FILE_NODE, size) };

		reply(dev, in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = { .attr_valid = FOREVER, .attr = attr_of(in->nodeid, size) };

		reply(dev, in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN:
	case FUSE_OPENDIR: {
		struct fuse_open_out out = { .open_flags = FOPEN_KEEP_CACHE };

		reply(dev, in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_READ:
		do_read(dev, in, body, file);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
	case FUSE_WRITE: /* see lock_memory */
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
		reply(dev, in, 0, NULL, 0);
		break;
	default:
		reply(dev, in, ENOSYS, NULL, 0);
	}
}

static int serve(const char *dir, const char *name)
{
	static char question[MOST + 4096];
	int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC), file = open(name, O_RDONLY | O_CLOEXEC);
	struct sigaction on_stall = { .sa_handler = stall };
	char options[128];
	struct stat st;

	if (dev < 0 || file < 0 || fstat(file, &st) != 0)
		fail("open");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", dev, getuid(), getgid());
	if (mount("stallfs", dir, "fuse.stallfs", MS_NOSUID | MS_NODEV, options) != 0)
		fail("mount");
	sigaction(SIGUSR1, &on_stall, NULL);
	for (;;) {
		ssize_t n = read(dev, question, sizeof(question));

		if (n < 0 && errno != EINTR && errno != ENOENT)
			return errno == ENODEV ? 0 : 1;
		if (n >= (ssize_t)sizeof(struct fuse_in_header) && !stalled)
			answer(dev, (const struct fuse_in_header *)question, file, (uint64_t)st.st_size);
	}
}

/* Is position-independent. */
static __attribute__((noinline)) uint32_t mapped_work(uint32_t rounds)
{
	volatile uint32_t x = 1;

	for (uint32_t i = 0; i < rounds; i++)
		x = x * 1664525 + 1013904223;
	return x;
}

static __attribute__((noinline)) uint32_t local_work(uint32_t rounds)
{
	volatile uint32_t x = 7;

	for (uint32_t i = 0; i < rounds; i++)
		x = x * 1664525 + 1013904221;
	return x;
}

/* Converts the address of a function of this program to its offset in the file. */
static int find_offset(struct dl_phdr_info *info, size_t n, void *offset)
{
	uintptr_t at = *(uintptr_t *)offset;

	(void)n;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - info->dlpi_addr >= p->p_vaddr && at - info->dlpi_addr - p->p_vaddr < p->p_filesz) {
			*(uintptr_t *)offset = at - info->dlpi_addr - p->p_vaddr + p->p_offset;
			return 1;
		}
	}
	return 0;
}

/* Is a thread of this process in an uninterruptible wait? */
static bool is_waiting(void)
{
	DIR *tasks = opendir("/proc/self/task");
	bool is = false;

	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		char name[300], text[512] = "";
		int fd;

		snprintf(name, sizeof(name), "/proc/self/task/%s/stat", e->d_name);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		is |= fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strstr(text, ") D ");
		if (fd >= 0)
			close(fd);
	}
	if (tasks)
		closedir(tasks);
	return is;
}

static void lock_memory(const char *name);
static const char *locks; /* the file of stallfs lock */

static _Noreturn void run(const char *name)
{
	uintptr_t at = (uintptr_t)mapped_work;
	bool no_file = strcmp(name, "-") == 0;
	int fd = open(no_file ? "/proc/self/exe" : name, O_RDONLY | O_CLOEXEC);
	uint32_t (*work)(uint32_t rounds);
	struct stat st;
	char *image;

	if (!dl_iterate_phdr(find_offset, &at) || fd < 0 || fstat(fd, &st) != 0)
		fail(name);
	image = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC | (no_file ? PROT_WRITE : 0),
		     MAP_PRIVATE | MAP_POPULATE | (no_file ? MAP_ANONYMOUS : 0), no_file ? -1 : fd, 0);
	if (image == MAP_FAILED || (no_file && pread(fd, image, (size_t)st.st_size, 0) != st.st_size))
		fail("mmap");
	memcpy(&work, &(char *){ image + at }, sizeof(work));
	work(1);
	if (locks)
		lock_memory(locks);
	puts("running");
	fflush(stdout);
	for (;;) {
		result = work(rounds_of_work);
		result = local_work(rounds_of_work);
	}
}

static void *map_over(void *page)
{
	mmap(page, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	fail("the write was answered");
	return NULL;
}

/* The kernel writes the page back before it replaces the mapping, and holds the lock meanwhile. */
static void lock_memory(const char *name)
{
	int fd = open(name, O_RDWR | O_CLOEXEC);
	int prot = PROT_READ | PROT_WRITE | PROT_EXEC;
	volatile char *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);
	pthread_t thread;

	if (page == MAP_FAILED)
		fail(name);
	*page = 1;
	if (pthread_create(&thread, NULL, map_over, (void *)page) != 0)
		fail("pthread_create");
	while (!is_waiting())
		usleep(10000);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "lock") == 0) {
		locks = argv[2];
		run("-");
	}
	if (argc == 4 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "run") == 0)
		run(argv[2]);
	fputs("usage: stallfs serve DIR FILE | run NAME | lock NAME\n", stderr);
	return 2;
}
