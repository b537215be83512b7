/*
 * Checks the worker with files that take it over: the inode of a file, an ELF header in a memfd, tells the
 * builder here, which runs before the real one, how to misbehave.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/sandbox.h"
#include "cmd/cprof-record/host/vdso.h"
#include "cmd/cprof-record/unwind/table_worker.h"
#include "common/base/le.h"
#include "tests/lib/check.h"

/* HEAD: 16 bytes, then a word and an image */
enum { MAGIC = 0x74777063, HEAD = 20 + sizeof(struct lang_image), ANSWER_FD = 3, LONG = 60000, PLAIN_USER = 1234 };

enum deed {
	ABORT, TRAP, SPIN, WAIT, EXIT, GREEDY, SHORT, MAGICLESS, LONGER, SHORTER, UNKNOWN, WITH_BYTES, WITHOUT_BYTES, HUGE_FILE,
	ESCAPE, DEEDS,
};

static int deed_fds[DEEDS];
static uint64_t deed_inodes[DEEDS];

static void answer_raw(uint32_t magic, uint32_t result, uint64_t length, const void *bytes, size_t n)
{
	struct lang_image image = { .language = 99 }; /* there is no such language */
	uint8_t head[HEAD];

	le32_store(head, magic);
	le32_store(head + 4, result);
	le64_store(head + 8, length);
	le32_store(head + 16, 1);
	memcpy(head + 20, &image, sizeof(image));
	if (write(ANSWER_FD, head, HEAD) != HEAD || write(ANSWER_FD, bytes, n) != (ssize_t)n)
		_exit(99);
	_exit(0);
}

/* Tries each way out of a process; reports those that are not refused. */
static void escape(void)
{
	char said[1024] = "";
	char *const args[] = { (char *)(uintptr_t)"true", NULL };
	int pair[2];

#define TRY(what) (errno = 0, (long)(what) >= 0 || errno != EPERM ? (void)strcat(said, #what "\n") : (void)0)
	TRY(open("/", O_RDONLY));
	TRY(open("/dev/null", O_RDONLY));
	TRY(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0));
	TRY(socket(AF_UNIX, SOCK_STREAM, 0));
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	TRY(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	TRY(execve("/bin/true", args, NULL));
	TRY(kill(getppid(), 0));
	TRY(kill(getpid(), 0));
	TRY(syscall(SYS_tgkill, 1, 1, 0));
	TRY(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	TRY(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
	TRY(setuid(0));
	TRY(chroot("."));
	TRY(mkdir("/x", 0700));
	TRY(unlink("/x"));
	TRY(ftruncate(ANSWER_FD, 1 << 30));
	TRY(fchmod(ANSWER_FD, 0777));
	TRY(fcntl(ANSWER_FD, F_SETFL, 0));
	TRY(dup(ANSWER_FD));
	TRY(syscall(SYS_bpf, 0, NULL, 0));
	TRY(syscall(SYS_memfd_create, "x", 0));
	TRY(syscall(SYS_setrlimit, RLIMIT_CORE, NULL));
	TRY(syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0));
#undef TRY
	answer_raw(MAGIC, UNWIND_BUILT, strlen(said) + 1, said, strlen(said) + 1);
}

static void eat_memory(void)
{
	volatile char *p;
	size_t got = 0;

	while ((p = malloc(1 << 20))) {
		got += 1 << 20;
		*p = 1;
	}
	answer_raw(MAGIC, UNWIND_BUILT, sizeof(got), &got, sizeof(got));
}

static void do_deed(enum deed d)
{
	int word = 0;

	switch (d) {
	case ABORT:
		abort();
	case TRAP:
		__builtin_trap();
	case SPIN:
		for (;;)
			*(volatile int *)&word = 1;
	case WAIT:
		for (;;)
			syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	case EXIT:
		_exit(7);
	case GREEDY:
		eat_memory();
		break;
	case SHORT:
		_exit(write(ANSWER_FD, "cpwt", 4) != 4);
	case MAGICLESS:
		answer_raw(MAGIC + 1, UNWIND_BUILT, 4, "rows", 4);
		break;
	case LONGER:
		answer_raw(MAGIC, UNWIND_BUILT, UINT64_MAX - 8, "rows", 4);
		break;
	case SHORTER:
		answer_raw(MAGIC, UNWIND_BUILT, 3, "rows", 4);
		break;
	case UNKNOWN:
		answer_raw(MAGIC, 5, 0, "", 0);
		break;
	case WITH_BYTES:
		answer_raw(MAGIC, UNWIND_NOTHING, 4, "rows", 4);
		break;
	case WITHOUT_BYTES:
		answer_raw(MAGIC, UNWIND_BUILT, 0, "", 0);
		break;
	case HUGE_FILE:
		lseek(ANSWER_FD, (off_t)1 << 40, SEEK_SET);
		answer_raw(MAGIC, UNWIND_BUILT, 4, "rows", 4);
		break;
	case ESCAPE:
		escape();
		break;
	case DEEDS:
		break;
	}
}

static enum unwind_built build(struct elf_file *f, struct unwind_table *t)
{
	for (int d = 0; d < DEEDS; d++) {
		if (deed_inodes[d] == f->inode)
			do_deed(d);
	}
	return unwind_build(f, t);
}

/* Files. */

static int memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
		exit(1);
	return fd;
}

/* Makes a file with a program header and no more: elf_open accepts it. */
static int small_elf(void)
{
	uint8_t e[64 + 56] = "\177ELF\2\1\1";

	e[16] = 2, e[18] = 62, e[20] = 1, e[32] = 64, e[52] = 64, e[54] = 56, e[56] = 1;
	e[64] = 1, e[68] = 5, le64_store(e + 64 + 32, sizeof(e)), le64_store(e + 64 + 40, sizeof(e));
	return memory_file(e, sizeof(e));
}

static void make_deeds(void)
{
	struct stat st;

	for (int d = 0; d < DEEDS; d++) {
		deed_fds[d] = small_elf();
		fstat(deed_fds[d], &st);
		deed_inodes[d] = st.st_ino;
	}
}

static int file_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd;
}

/* Opens the file of a mapping of ours whose path contains part. */
static int mapped_file(const char *part)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	int fd = -1;

	while (fd < 0 && maps && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path && strstr(path, part))
			fd = file_of(path);
	}
	if (maps)
		fclose(maps);
	return fd;
}

/* Processes. */

static void nap(void)
{
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
}

static pid_t child_of(pid_t parent)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (d && !found && (e = readdir(d))) {
		char path[300], stat[512] = "", state;
		int ppid = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		if (atoi(e->d_name) <= 0 || !(f = fopen(path, "re")))
			continue;
		if (fgets(stat, sizeof(stat), f) && strrchr(stat, ')') &&
		    sscanf(strrchr(stat, ')') + 1, " %c %d", &state, &ppid) == 2 && ppid == parent)
			found = atoi(e->d_name);
		fclose(f);
	}
	if (d)
		closedir(d);
	return found;
}

static pid_t await_child_of(pid_t parent)
{
	pid_t pid = 0;

	for (int i = 0; i < 5000 && !(pid = child_of(parent)); i++)
		nap();
	return pid;
}

static bool await_end(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	for (int i = 0; i < 5000; i++) {
		if (access(path, F_OK) != 0)
			return true;
		nap();
	}
	return false;
}

/* Returns the rest of the line of /proc/PID/NAME that begins with word, or "". Valid until the next call. */
static const char *proc_line(pid_t pid, const char *name, const char *word)
{
	static char line[512];
	char path[64];
	size_t n = strlen(word);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, word, n) == 0 && strchr(": ", line[n])) {
			fclose(f);
			line[strcspn(line, "\n")] = '\0';
			return line + n + strspn(line + n, ": \t");
		}
	}
	if (f)
		fclose(f);
	return "";
}

static const char *status_of(pid_t pid, const char *field)
{
	return proc_line(pid, "status", field);
}

/* Returns the hard limit; ULONG_MAX if there is none. */
static unsigned long limit_of(pid_t pid, const char *limit)
{
	char soft[32] = "", hard[32] = "";

	sscanf(proc_line(pid, "limits", limit), "%31s %31s", soft, hard);
	return *hard >= '0' && *hard <= '9' ? strtoul(hard, NULL, 10) : ULONG_MAX;
}

static uint64_t bits_of(pid_t pid, const char *field)
{
	return strtoull(status_of(pid, field), NULL, 16);
}

static bool status_is(pid_t pid, const char *field, const char *value)
{
	const char *got = status_of(pid, field);
	bool same = strcmp(got, value) == 0;

	if (!same)
		printf("# %s is %s\n", field, got);
	return same;
}

static int count_fds(pid_t pid)
{
	char path[64];
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Returns false in a user namespace that maps only one user. */
static bool may_become(uid_t user)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0);
	waitpid(pid, &status, 0);
	return status == 0;
}

/* Questions. */

static struct worker *start(unsigned int cpu_s, unsigned int wall_ms)
{
	struct worker *w = table_worker_new_as(&(struct table_worker_setup){ .build = build, .cpu_s = cpu_s, .wall_ms = wall_ms });

	if (!w) {
		perror("table_worker_new_as");
		exit(1);
	}
	return w;
}

static bool dies(struct worker *w, enum deed d, const char *why)
{
	struct table_worker_answer a;
	bool good = table_worker_ask(w, 100 + d, deed_fds[d]) && table_worker_take(w, LONG, &a) == TABLE_WORKER_DIED && a.id == 100U + d &&
		    a.why && strcmp(a.why, why) == 0 && a.table.n == 0;

	if (!good)
		printf("# %s\n", a.why ? a.why : "(nothing)");
	return good;
}

/* Checks that the answer is the same table as the one built here. */
static bool right(struct worker *w, uint32_t id, int fd)
{
	struct unwind_table t = { 0 }, got = { 0 };
	struct table_worker_answer a;
	struct elf_file *f;
	struct buf want = { 0 };
	enum unwind_built result = UNWIND_DAMAGED;
	bool good;

	if (elf_open(dup(fd), &f) == ELF_OPENED) {
		result = unwind_build(f, &t);
		elf_close(f);
	}
	if (result == UNWIND_BUILT)
		unwind_table_write(&t, &want);
	good = table_worker_ask(w, id, fd) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == id && a.result == result &&
	       slice_equal(a.table, buf_view(&want)) && (result == UNWIND_BUILT) == !a.why;
	if (good && result == UNWIND_BUILT)
		good = unwind_table_read(&got, a.table);
	unwind_table_release(&t);
	unwind_table_release(&got);
	buf_release(&want);
	return good;
}

static bool built(struct worker *w, uint32_t id, int fd)
{
	struct table_worker_answer a;

	return table_worker_ask(w, id, fd) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == id && a.result == UNWIND_BUILT;
}

static bool not_built(struct worker *w, int fd, enum unwind_built result, const char *why)
{
	struct table_worker_answer a;

	return table_worker_ask(w, 9, fd) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == 9 && a.result == result &&
	       a.table.n == 0 && strcmp(a.why, why) == 0;
}

static void test_answers(void)
{
	int true_fd = file_of("/bin/true"), libc = mapped_file("libc"), fd;
	struct buf image = { 0 }, id = { 0 };
	struct worker *w = table_worker_new(false);
	struct table_worker_answer a;
	char bytes[4096] = "\177ELF\2\1\1";

	check(w && table_worker_fd(w) >= 0, "a worker");
	check_is(table_worker_take(w, -1, &a), TABLE_WORKER_NOTHING,
		 "nothing was asked, and nothing is waited for");
	check(right(w, 1, true_fd), "/bin/true");
	check_is(lseek(true_fd, 0, SEEK_CUR), 0, "the place in our descriptor does not move");
	check(right(w, UINT32_MAX, libc), "libc");
	if (vdso_image(&image, &id)) {
		fd = memory_file(image.p, image.n);
		check(right(w, 3, fd), "the vDSO, an image");
		close(fd);
	}
	fd = memory_file("#!/bin/sh\n", 10);
	check(not_built(w, fd, UNWIND_NOTHING, "no unwind information"), "a script");
	close(fd);
	fd = memory_file(bytes, 20);
	check(not_built(w, fd, UNWIND_DAMAGED, "damaged"), "half a header");
	close(fd);
	fd = file_of("/");
	check(not_built(w, fd, UNWIND_NOTHING, "no unwind information"), "a directory");
	close(fd);
	check(!table_worker_ask(w, 4, -1) && errno == EBADF && !table_worker_ask(w, 4, 1 << 20), "no descriptor, no question");
	check(built(w, 5, libc) && built(w, 5, libc), "once more, by the same number");
	table_worker_ask(w, 6, libc);
	check_is(poll(&(struct pollfd){ table_worker_fd(w), POLLIN, 0 }, 1, LONG), 1,
		 "the descriptor tells that there is an answer");
	check(table_worker_take(w, 0, &a) == TABLE_WORKER_ANSWER && a.id == 6 && a.cpu_ns > 0, "it is there at once, and what it cost");
	table_worker_free(w);
	table_worker_free(NULL);
	buf_release(&image);
	buf_release(&id);
	close(true_fd);
	close(libc);
}

static void test_deaths(struct worker *w, int good)
{
	struct table_worker_answer a;
	bool all = true;

	check(dies(w, ABORT, "killed by signal 6 (Aborted)"), "a question that aborts");
	check(dies(w, TRAP, "killed by signal 4 (Illegal instruction)"), "one that crashes");
	check(dies(w, EXIT, "ended with status 7"), "one that ends");
	check(right(w, 1, good), "the next is answered");
	check(dies(w, SPIN, "used more than 1 s of CPU time"), "one that computes for ever");

	for (uint32_t i = 0; i < 20; i++)
		all &= table_worker_ask(w, i, i % 3 ? good : deed_fds[TRAP]);
	for (uint32_t i = 0; i < 20; i++)
		all &= table_worker_take(w, LONG, &a) == (i % 3 ? TABLE_WORKER_ANSWER : TABLE_WORKER_DIED) && a.id == i;
	check(all && table_worker_take(w, 0, &a) == TABLE_WORKER_NOTHING, "good and bad ones under way together");
}

/* The limit is so short that other questions may exceed it too, if the machine is busy. */
static void test_waiting(int good)
{
	struct worker *w = start(1, 500), *sized;
	struct table_worker_answer a;

	check(dies(w, WAIT, "took more than 0.5 s"), "a question that waits for ever");
	sized = table_worker_new_as(&(struct table_worker_setup){ .build = build, .cpu_s = 10, .wall_ms = 60000, .by_size = true });
	check(sized && dies(sized, SPIN, "used more CPU time than a file of its size may"), "one that computes for longer than its size allows");
	table_worker_free(sized);
	check(table_worker_ask(w, 1, good) && table_worker_take(w, LONG, &a) != TABLE_WORKER_NOTHING && a.id == 1, "it is the next one's turn");
	table_worker_free(w);
}

static void test_lies(struct worker *w, int good)
{
	static const struct { enum deed deed; const char *why, *what; } lies[] = {
		{ SHORT, "the helper's answer is damaged", "half a header" },
		{ MAGICLESS, "the helper's answer is damaged", "another magic" },
		{ LONGER, "the helper's answer is damaged", "a length of more than there is" },
		{ SHORTER, "the helper's answer is damaged", "a length of less than there is" },
		{ UNKNOWN, "the helper's answer is damaged", "a result that there is not" },
		{ WITH_BYTES, "the helper's answer is damaged", "no table, and bytes" },
		{ WITHOUT_BYTES, "the helper's answer is damaged", "a table of no bytes" },
		{ HUGE_FILE, "killed by signal 25 (File size limit exceeded)", "a file of a terabyte" },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		check(dies(w, lies[i].deed, lies[i].why), lies[i].what);
	check(right(w, 1, good), "the next is answered");
}

/* Checks the kernel's status of a process that may do nothing; user: the expected owner. */
static void test_status(pid_t pid, const char *user, bool worker)
{
	const uint64_t ignored = 1 << (SIGINT - 1) | 1 << (SIGTERM - 1) | 1 << (SIGHUP - 1) | 1 << (SIGQUIT - 1);
	char uids[64];

	snprintf(uids, sizeof(uids), "%s\t%s\t%s\t%s", user, user, user, user);
	check(status_is(pid, "Uid", uids) && status_is(pid, "Gid", uids), "user and group");
	check(bits_of(pid, "CapEff") == 0 && bits_of(pid, "CapPrm") == 0 && bits_of(pid, "CapInh") == 0 &&
	      bits_of(pid, "CapAmb") == 0, "no capabilities");
	check(status_is(pid, "NoNewPrivs", "1"), "none to be had");
	check(bits_of(pid, "SigBlk") == (worker ? 0 : 1 << (SIGCHLD - 1)) && bits_of(pid, "SigCgt") == 0 &&
	      (bits_of(pid, "SigIgn") & ignored) == ignored, "signals");
	check(status_is(pid, "Name", "cprof-tables"), "the name");
	if (!SANDBOX_SANITIZED && worker)
		check(status_is(pid, "Seccomp", "2"), "a filter");
	check(limit_of(pid, "Max core file size") == 0 && (!worker || limit_of(pid, "Max open files") <= 16) &&
	      limit_of(pid, "Max file size") < 1 << 28 && (limit_of(pid, "Max processes") == 0) == worker &&
	      (limit_of(pid, "Max cpu time") == 2) == worker, "limits");
}

static void test_root(pid_t pid)
{
	char path[64], target[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (readlink(path, target, sizeof(target) - 1) > 0)
		check(strcmp(target, "/") != 0, "another root directory");
	check_is(bits_of(pid, "CapBnd"), 0, "no capability to be had by exec");
	if (count_fds(pid) >= 0)
		check(count_fds(pid) == 2 + 5, "three for nothing, the answer and the file are all that is open");
}

static void test_confined(struct worker *w)
{
	pid_t server = child_of(getpid()), worker;
	struct table_worker_answer a;

	table_worker_ask(w, 1, deed_fds[WAIT]);
	worker = await_child_of(server);
	for (int i = 0; i < 1000 && bits_of(worker, "SigBlk"); i++)
		nap();
	if (!SANDBOX_SANITIZED)
		for (int i = 0; i < 1000 && !status_is(worker, "Seccomp", "2"); i++)
			nap();
	if (may_become(SANDBOX_USER)) {
		test_root(worker);
		test_status(server, "4294705153", false);
		test_status(worker, "4294705153", true);
	}
	kill(server, SIGTERM);
	kill(worker, SIGINT);
	kill(worker, SIGKILL);
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_DIED && strcmp(a.why, "killed by signal 9 (Killed)") == 0,
	      "Ctrl-C does not end it, kill -9 does");
	if (SANDBOX_SANITIZED)
		return;
	table_worker_ask(w, 2, deed_fds[ESCAPE]);
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.table.n == 1, "there is no way out");
	check(!a.has_image, "an image that cannot be is not taken");
	if (a.table.n > 1)
		printf("# %s\n", (const char *)a.table.p);
	table_worker_ask(w, 3, deed_fds[GREEDY]);
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.table.n == 8 && le64_load(a.table.p) > 100 << 20 &&
	      le64_load(a.table.p) <= 1 << 30, "memory has an end");
}

/* Tests a recorder that is not root and has its file's capabilities. */
static void test_capable(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct some[2] = { { .effective = 1 << CAP_SYS_PTRACE | 1 << CAP_SYS_ADMIN } };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid > 0) {
		waitpid(pid, &status, 0);
		check_is(status, 0, "a recorder that is not root and has capabilities keeps them from it");
		return;
	}
	some[0].permitted = some[0].inheritable = some[0].effective;
	checks_failed = 0;
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (setresgid(PLAIN_USER, PLAIN_USER, PLAIN_USER) == 0 && setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) == 0 && syscall(SYS_capset, &head, some) == 0 &&
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_PTRACE, 0, 0) == 0) {
		struct worker *w = start(1, LONG);
		pid_t worker;

		table_worker_ask(w, 1, deed_fds[WAIT]);
		worker = await_child_of(child_of(getpid()));
		for (int i = 0; i < 1000 && bits_of(worker, "SigBlk"); i++)
			nap();
		checks_failed += !status_is(worker, "Uid", "1234\t1234\t1234\t1234") || bits_of(worker, "CapEff") ||
				 bits_of(worker, "CapPrm") || bits_of(worker, "CapAmb") || bits_of(worker, "CapInh");
		table_worker_free(w);
		_exit(checks_failed != 0);
	}
	_exit(2);
}

/* Checks that no process is left, however the recorder ends. */
static void test_recorder_dies(void)
{
	int pids[2][2];
	pid_t found[2] = { 0 }, recorder;

	fflush(stdout);
	if (pipe(pids[0]) < 0)
		exit(1);
	recorder = fork();
	if (recorder == 0) {
		struct worker *w = start(1, LONG);

		table_worker_ask(w, 1, deed_fds[WAIT]);
		found[0] = child_of(getpid());
		found[1] = await_child_of(found[0]);
		if (write(pids[0][1], found, sizeof(found)) != sizeof(found))
			_exit(1);
		for (;;)
			pause();
	}
	close(pids[0][1]);
	check(read(pids[0][0], found, sizeof(found)) == sizeof(found) && found[1] > 0, "a recorder that asks");
	close(pids[0][0]);
	kill(recorder, SIGKILL);
	waitpid(recorder, NULL, 0);
	check(await_end(found[0]) && await_end(found[1]), "is killed, and nobody is left");
}

static void test_server_dies(int good)
{
	struct worker *w = start(1, LONG);
	uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct table_worker_answer a;
	int fd = table_worker_fd(w);
	bool all = true;
	char line[256], path[64];
	FILE *maps;

	for (uint32_t i = 0; i < 300; i++)
		all &= table_worker_ask(w, i, i == 0 ? deed_fds[WAIT] : good);
	await_child_of(child_of(getpid()));
	kill(child_of(getpid()), SIGKILL);
	for (uint32_t i = 0; i < 300; i++)
		all &= table_worker_take(w, LONG, &a) == TABLE_WORKER_LOST && a.id == i && a.why && strstr(a.why, "was lost");
	check(all && table_worker_take(w, -1, &a) == TABLE_WORKER_NOTHING, "where the process that forks is lost each question is told");
	while (!(all = table_worker_ask(w, 1, good)) && errno == EPIPE)
		nap();
	check(all && table_worker_losses(w) == 1 && table_worker_fd(w) == fd, "another one is there soon");
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == 1 && a.result == UNWIND_BUILT, "and answers");
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)child_of(getpid()));
	maps = fopen(path, "re");
	all = maps && shared != MAP_FAILED;
	while (all && fgets(line, sizeof(line), maps))
		all = !strstr(line, "s 0");
	check(all, "without the memory that is shared");
	if (maps)
		fclose(maps);
	/* If a fork server is lost over a second after its start, waiting questions go to the next one. */
	for (time_t until = time(NULL) + 2; time(NULL) < until;)
		nap();
	for (uint32_t i = 0; i < 300; i++)
		table_worker_ask(w, i, i == 0 ? deed_fds[WAIT] : good);
	await_child_of(child_of(getpid()));
	kill(child_of(getpid()), SIGKILL);
	uint32_t lost = 0, answered = 0;
	for (uint32_t i = 0; i < 300; i++) {
		enum table_worker_said said = table_worker_take(w, LONG, &a);

		lost += said == TABLE_WORKER_LOST && a.id == i;
		answered += said == TABLE_WORKER_ANSWER && a.id == i;
	}
	check(lost > 0 && lost < 100 && lost + answered == 300, "those that wait are asked of the next one");
	table_worker_free(w);
	munmap(shared, 4096);
}

static void test_many(int good)
{
	struct worker *w = start(1, LONG);
	pid_t server = child_of(getpid());
	struct table_worker_answer a;
	int ours;
	bool all = true;
	long before;

	built(w, 1, good);
	ours = count_fds(getpid());
	before = strtol(status_of(server, "VmSize"), NULL, 10);
	for (int half = 0; half < 2; half++) {
		for (uint32_t i = 0; i < 500; i++)
			all &= table_worker_ask(w, i, good);
		for (uint32_t i = 0; i < 500; i++)
			all &= table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == i && a.result == UNWIND_BUILT;
	}
	check(all, "1,000 questions, 500 of them at once, are answered in their order");
	check_is(count_fds(getpid()), ours, "no descriptor is left of them");
	for (int i = 0; i < 1000 && count_fds(server) > 2 + 5; i++) /* the last is closed after its answer */
		nap();
	check(count_fds(server) <= 2 + 5, "nor with the process that forks");
	if (!SANDBOX_SANITIZED)
		check_is(strtol(status_of(server, "VmSize"), NULL, 10), before, "nor memory");
	check_is(child_of(server), 0, "nor a zombie");
	for (uint32_t i = 0; i < 500; i++)
		table_worker_ask(w, i, i == 0 ? deed_fds[WAIT] : good);
	table_worker_free(w);
	check(access("/proc/self", F_OK) == 0 && child_of(getpid()) == 0 && await_end(server),
	      "nobody is left");
}

int main(void)
{
	int fds = count_fds(getpid()), good;
	struct worker *w;
	sigset_t taken;

	/* Blocks the signals for a signalfd, as the recorder does. */
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGCHLD);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	test_answers();
	good = file_of("/bin/true");
	make_deeds();
	w = start(1, LONG);
	test_deaths(w, good);
	test_waiting(good);
	test_lies(w, good);
	test_confined(w);
	table_worker_free(w);
	test_recorder_dies();
	test_server_dies(good);
	test_many(good);
	if (may_become(SANDBOX_USER))
		test_capable();
	for (int d = 0; d < DEEDS; d++)
		close(deed_fds[d]);
	close(good);
	check_is(count_fds(getpid()), fds, "no descriptor is left");
	check(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
	return checks_done();
}
