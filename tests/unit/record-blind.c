/*
 * One user's lookups wait for a file system that is not known yet, and does not answer: then that user's files
 * rest, and no other user's. Users are chosen by the test.
 *	record-blind ROOT FILE
 * ROOT: a directory whose /tmp leads to the file system. FILE: a file on another one of the kind, which answers.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/opener.h"
#include "cmd/cprof-record/host/host.h"
#include "tests/lib/check.h"

enum { CHILDREN = 20, GREEDY = 1000, MODEST = 1001, WAITS = 6 /* as in opener.c */ };

static pid_t children[CHILDREN];

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid);

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid)
{
	*uid = MODEST;
	*nspid = pid;
	for (int i = 0; i < CHILDREN; i++)
		if (children[i] == pid)
			*uid = GREEDY;
	return true;
}

static bool begin_child(const char *root, pid_t *pid)
{
	char byte;
	int ends[2];

	if (pipe(ends) != 0)
		return false;
	*pid = fork();
	if (*pid == 0) {
		if (chroot(root) == 0 && chdir("/") == 0)
			(void)!write(ends[1], "", 1);
		close(ends[1]);
		pause();
		_exit(0);
	}
	close(ends[1]);
	if (*pid > 0 && read(ends[0], &byte, 1) != 1)
		*pid = 0;
	close(ends[0]);
	return *pid > 0;
}

static void take(struct opener *o, struct opener_answer *a)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	while (!opener_take(o, host_mono_ns(), a))
		nanosleep(&pause, NULL);
	if (a->fd >= 0)
		close(a->fd);
}

static void check_users(struct opener *o, const char *name)
{
	struct opener_question q = { .want = OPENER_FILE, .id = CHILDREN + 1, .pid = (uint32_t)getpid(),
				     .path = slice_of(name) };
	unsigned int silent = 0;
	struct opener_answer a;
	struct stat st;

	for (uint32_t i = 0; i < CHILDREN; i++) {
		opener_ask(o, &(struct opener_question){ .want = OPENER_PERF_MAP, .id = i + 1, .nspid = 1,
							 .pid = (uint32_t)children[i] });
		take(o, &a);
		silent += a.said == OPENER_SILENT;
	}
	check_is(silent, CHILDREN, "none of the user's questions has an answer");
	check_is(opener_silent(o), WAITS, "... and few are waited for");
	if (stat(name, &st) != 0)
		abort();
	q.major = major(st.st_dev);
	q.minor = minor(st.st_dev);
	q.inode = st.st_ino;
	opener_ask(o, &q);
	take(o, &a);
	check(a.said == OPENER_OPENED, "another user's file is opened, on a file system that answers");
}

int main(int argc, char **argv)
{
	struct opener *o = argc == 3 ? opener_new() : NULL;
	bool all = o;

	for (int i = 0; all && i < CHILDREN; i++)
		all = begin_child(argv[1], &children[i]);
	if (check(all, "the processes begin"))
		check_users(o, argv[2]);
	for (int i = 0; i < CHILDREN; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	opener_free(o);
	return checks_done();
}
