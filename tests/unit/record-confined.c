/* Checks that the processes which build unwind tables may do nothing else. */
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/processes.h"
#include "tests/unit/record-deeds.h"

enum { PLAIN_USER = 1234 };

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
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_DIED && a.passing &&
		      strcmp(a.why, "killed by signal 9 (Killed)") == 0,
	      "Ctrl-C does not end it, kill -9 does, and the file may be asked for again");
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

int main(void)
{
	struct worker *w;
	sigset_t taken;

	/* Blocks the signals for a signalfd, as the recorder does. */
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGCHLD);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	make_deeds();
	w = start(1, LONG);
	test_confined(w);
	table_worker_free(w);
	if (may_become(SANDBOX_USER))
		test_capable();
	return checks_done();
}
