/*
 * A builder of unwind tables that misbehaves, for tests of the table worker: the inode of a file, an ELF header
 * in a memfd, tells it how. It runs before the real one.
 *
 *	make_deeds();
 *	w = start(1, LONG);
 *	table_worker_ask(w, 1, deed_fds[SPIN]);
 */
#ifndef CPROF_TESTS_RECORD_DEEDS_H
#define CPROF_TESTS_RECORD_DEEDS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
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
#include <unistd.h>

#include "cmd/cprof-record/helper/sandbox.h"
#include "cmd/cprof-record/unwind/table_worker.h"
#include "common/base/le.h"

/* HEAD: 16 bytes, then a word and an image */
enum { MAGIC = 0x74777063, HEAD = 20 + sizeof(struct lang_image), ANSWER_FD = 3, LONG = 60000 };

enum deed {
	ABORT, TRAP, SPIN, WAIT, EXIT, GREEDY, SHORT, MAGICLESS, LONGER, SHORTER, UNKNOWN, WITH_BYTES, WITHOUT_BYTES, HUGE_FILE,
	ESCAPE, DEEDS,
};

static int deed_fds[DEEDS];
static uint64_t deed_inodes[DEEDS];

static inline void answer_raw(uint32_t magic, uint32_t result, uint64_t length, const void *bytes, size_t n)
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
static inline void escape(void)
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

static inline void eat_memory(void)
{
	volatile char *p;
	size_t got = 0;

	while ((p = malloc(1 << 20))) {
		got += 1 << 20;
		*p = 1;
	}
	answer_raw(MAGIC, UNWIND_BUILT, sizeof(got), &got, sizeof(got));
}

static inline void do_deed(enum deed d)
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

static inline enum unwind_built build(struct elf_file *f, struct unwind_table *t)
{
	for (int d = 0; d < DEEDS; d++) {
		if (deed_inodes[d] == f->inode)
			do_deed(d);
	}
	return unwind_build(f, t);
}

static inline int memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
		exit(1);
	return fd;
}

/* Makes a file with a program header and no more: elf_open accepts it. */
static inline int small_elf(void)
{
	uint8_t e[64 + 56] = "\177ELF\2\1\1";

	e[16] = 2, e[18] = 62, e[20] = 1, e[32] = 64, e[52] = 64, e[54] = 56, e[56] = 1;
	e[64] = 1, e[68] = 5, le64_store(e + 64 + 32, sizeof(e)), le64_store(e + 64 + 40, sizeof(e));
	return memory_file(e, sizeof(e));
}

static inline void make_deeds(void)
{
	struct stat st;

	for (int d = 0; d < DEEDS; d++) {
		deed_fds[d] = small_elf();
		fstat(deed_fds[d], &st);
		deed_inodes[d] = st.st_ino;
	}
}

static inline struct worker *start(unsigned int cpu_s, unsigned int wall_ms)
{
	struct worker *w = table_worker_new_as(&(struct table_worker_setup){ .build = build, .cpu_s = cpu_s, .wall_ms = wall_ms });

	if (!w) {
		perror("table_worker_new_as");
		exit(1);
	}
	return w;
}

#endif
