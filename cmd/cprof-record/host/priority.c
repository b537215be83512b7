#include "cmd/cprof-record/host/priority.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	RAISED = -10,  /* beside twenty processes at 0, the recorder can get half of a CPU */
	HIGHEST = -20, /* likewise nine tenths */
};

static bool raised, session_raised;
static char own_score[8]; /* oom_score_adj */

/*
 * With sched_autogroup_enabled, sessions share the CPUs equally, and a nice value counts in its session only:
 * beside four processes in sessions of their own the recorder had a tenth of a CPU. A service is the leader of
 * a session that has nothing but the recorder and the command that it records; any other session has the
 * user's programs as well, and stays as it is. Nor does the recorder leave it, because ^C and job control are
 * the session's. It gets no real-time priority either, by which it would go on while others wait: it needs
 * little time, and a per-CPU ring has the samples of many seconds. More time is needed by processes that
 * make tables and read mappings, and these can leave.
 */
static bool raise_session(void)
{
	char text[8];
	int n = snprintf(text, sizeof(text), "%d", RAISED);
	int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, (size_t)n) == n;

	if (fd >= 0)
		close(fd);
	return ok;
}

void priority_raise(bool alone)
{
	errno = 0;
	raised = getpriority(PRIO_PROCESS, 0) == 0 && !errno && setpriority(PRIO_PROCESS, 0, RAISED) == 0;
	session_raised = raised && alone && getsid(0) == getpid() && raise_session();
}

void priority_apart(void)
{
	if (raised && !session_raised && setsid() >= 0)
		raise_session();
}

void priority_highest(bool highest)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, highest ? HIGHEST : RAISED);
}

int priority_open_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, own_score, sizeof(own_score)) : -1;

	if (fd >= 0 && n <= 0) {
		close(fd);
		fd = -1;
	}
	own_score[n > 0 ? n - 1 : 0] = '\0';
	return fd;
}

void priority_first(int fd, bool first)
{
	const char *score = first ? "1000" : own_score;

	if (fd >= 0)
		(void)!pwrite(fd, score, strlen(score), 0);
}

void priority_reset(void)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, 0);
	if (session_raised)
		setsid();
}
