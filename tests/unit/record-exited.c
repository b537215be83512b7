/* Targets that have exited: a process that nobody waits for, and main threads that exit before the others. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "cmd/cprof-record/process/targets.h"
#include "tests/lib/check.h"
#include "tests/lib/processes.h"

static void *sleep_on(void *arg)
{
	pause();
	return arg;
}

/* Starts a process whose main thread exits, and a second thread before that if wanted. */
static pid_t start_child(bool thread)
{
	pid_t pid = fork();
	pthread_t t;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!thread)
		_exit(0);
	pthread_create(&t, NULL, sleep_on, NULL);
	pthread_exit(NULL);
}

/* Returns the state of /proc/PID/stat. */
static char state_of(pid_t pid)
{
	char path[64], text[512] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	end = strrchr(text, ')');
	return end ? end[2] : '\0';
}

static size_t left_after(struct options *o, size_t looks)
{
	struct targets t;
	size_t left;

	if (!targets_init(&t, o))
		return SIZE_MAX;
	while (looks-- > 0)
		targets_look(&t);
	left = t.n;
	targets_release(&t);
	return left;
}

int main(void)
{
	enum { MANY = 100 };
	pid_t ids[MANY], exited = start_child(false), lives = start_child(true);
	struct options of_processes = { .pids = ids, .n_pids = 1 }, of_threads = { .tids = ids, .n_tids = 1 };

	while (state_of(exited) != 'Z' || state_of(lives) != 'Z')
		nap();
	ids[0] = exited;
	check(targets_exited(exited, false), "a process that nobody waited for has exited");
	check_is(left_after(&of_processes, 1), 0, "it is no target any more");
	ids[0] = lives;
	check(!targets_exited(lives, false), "a process without its main thread has not");
	check_is(left_after(&of_processes, 1), 1, "it stays a target");
	check(targets_exited(lives, true), "its main thread has");
	check_is(left_after(&of_threads, 1), 0, "that thread is no target any more");
	ids[0] = getpid();
	check_is(left_after(&of_processes, 1), 1, "a process that runs stays");
	check_is(left_after(&of_threads, 1), 1, "a thread that runs stays");
	for (int i = 0; i < MANY; i++) {
		ids[i] = fork();
		if (ids[i] == 0)
			_exit(0);
		while (state_of(ids[i]) != 'Z')
			nap();
	}
	of_processes.n_pids = MANY;
	check(left_after(&of_processes, 1) > 0, "with many targets, a look is not at all of them");
	check_is(left_after(&of_processes, MANY), 0, "later ones are at the others");
	kill(lives, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	check(targets_exited(exited, false), "an id that nobody has is that of an exited process");
	return checks_done();
}
