#include "cmd/cprof-record/helper/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9, on all architectures */
#endif

void sandbox_signals(void)
{
	static const int not_ours[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE };
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	for (size_t i = 0; i < sizeof(not_ours) / sizeof(*not_ours); i++)
		signal(not_ours[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first)
{
	struct rlimit l;
	int end = 1 << 20;

	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < (rlim_t)end)
		end = (int)l.rlim_cur;
	for (int fd = first; fd < end; fd++)
		close(fd);
}

/* First moves all above the numbers to be filled, so that none is overwritten before it is in place. */
bool sandbox_descriptors(const int *keep, size_t n)
{
	enum { MOST = 4 };
	int free_ones = SANDBOX_FIRST + (int)n, nothing[2], moved[MOST];

	if (n > MOST)
		return false;
	for (size_t i = 0; i < n; i++) {
		moved[i] = fcntl(keep[i], F_DUPFD, free_ones);
		if (moved[i] < 0)
			return false;
	}
	/* The read end of a pipe whose write end is closed: reads return end of file, writes fail. */
	if (pipe(nothing) < 0 || (nothing[0] = fcntl(nothing[0], F_DUPFD, free_ones)) < 0)
		return false;
	for (int fd = 0; fd < SANDBOX_FIRST; fd++) {
		if ((fd != STDERR_FILENO || !SANDBOX_SANITIZED) && dup2(nothing[0], fd) < 0)
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (dup2(moved[i], SANDBOX_FIRST + (int)i) < 0)
			return false;
	}
	close_from(free_ones);
	return true;
}

/*
 * /proc/self/fdinfo shows the descriptors of this process, only to its tracer, and nothing once it has
 * exited. Without both directories the root stays as it is: the filter allows no open anyway.
 */
static void leave_root(void)
{
	if (chroot("/proc/self/fdinfo") == 0 || chroot("/var/empty") == 0)
		(void)!chdir("/");
}

bool sandbox_privileges(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (geteuid() == 0)
		leave_root();
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* These fail in a user namespace that maps only one user: root has only that user's rights there. */
	if (geteuid() == 0) {
		(void)!setgroups(0, NULL);
		if (setresgid(SANDBOX_USER, SANDBOX_USER, SANDBOX_USER) != 0)
			(void)!setresgid(SANDBOX_NOBODY, SANDBOX_NOBODY, SANDBOX_NOBODY);
		if (setresuid(SANDBOX_USER, SANDBOX_USER, SANDBOX_USER) != 0)
			(void)!setresuid(SANDBOX_NOBODY, SANDBOX_NOBODY, SANDBOX_NOBODY);
	}
	return syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

bool sandbox_limit(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit l;

	if (getrlimit(resource, &l) != 0)
		return false;
	if (l.rlim_max > hard)
		l.rlim_max = hard;
	if (l.rlim_cur > soft)
		l.rlim_cur = soft;
	if (l.rlim_cur > l.rlim_max)
		l.rlim_cur = l.rlim_max;
	return setrlimit(resource, &l) == 0;
}

uint64_t sandbox_size(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool sandbox_parent(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(ARCHITECTURE) && !SANDBOX_SANITIZED

/* System calls for reading a file, memory, exiting after a fault, and glibc; the most frequent first. */
static const int allowed[] = {
	SYS_pread64, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect,
	SYS_read, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_close, SYS_write,
	SYS_futex, SYS_getrandom, SYS_clock_gettime, SYS_getpid, SYS_gettid,
	SYS_sysinfo, /* qsort asks how much memory there is */
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit, SYS_exit_group,
};

enum { ALLOWED = sizeof(allowed) / sizeof(*allowed), CONDITIONS = 2, PROGRAM = 4 + 2 * ALLOWED + 5 * CONDITIONS + 1 };

/* A call that is allowed if one argument has this value. */
struct condition {
	int call;
	unsigned int argument;
	uint32_t value;
};

static void add_instruction(struct sock_fprog *p, uint16_t code, uint32_t k, uint8_t unless)
{
	p->filter[p->len++] = (struct sock_filter){ code, 0, unless, k };
}

static void add_load(struct sock_fprog *p, size_t at)
{
	add_instruction(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0);
}

static void add_allow(struct sock_fprog *p, uint32_t value)
{
	add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, value, 1);
	add_instruction(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0);
}

bool sandbox_calls(void)
{
	const struct condition conditions[CONDITIONS] = {
		{ SYS_fcntl, 1, F_GETFD },                /* libelf: is this a descriptor? */
		{ SYS_tgkill, 0, (uint32_t)getpid() },    /* abort(3) */
	};
	struct sock_filter filter[PROGRAM];
	struct sock_fprog p = { 0, filter };

	add_load(&p, offsetof(struct seccomp_data, arch));
	add_instruction(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0);
	p.filter[1].jt = 1;
	add_instruction(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0);
	add_load(&p, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ALLOWED; i++)
		add_allow(&p, (uint32_t)allowed[i]);
	for (size_t i = 0; i < CONDITIONS; i++) {
		add_instruction(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)conditions[i].call, 4);
		add_load(&p, offsetof(struct seccomp_data, args) + 8 * conditions[i].argument);
		add_allow(&p, conditions[i].value);
		add_load(&p, offsetof(struct seccomp_data, nr));
	}
	add_instruction(&p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0) == 0;
}

#else

bool sandbox_calls(void)
{
	return SANDBOX_SANITIZED;
}

#endif
