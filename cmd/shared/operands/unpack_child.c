#include "cmd/shared/operands/unpack_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/full_write.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9, on all architectures */
#endif

enum { ROOM = 256 << 10, PIPE_SIZE = 1 << 20 };
enum { EXIT_ERRNO = 16 }; /* exit statuses: enum unpack_ended, and from here on errno */

/*
 * Closes the pipes of other children: a child that held the end from which another one is read would keep
 * that one from noticing that its reader is gone.
 */
static void close_others(void)
{
	struct rlimit l = { .rlim_cur = 1024 };

	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &l);
	for (int fd = STDERR_FILENO + 1; fd < (int)l.rlim_cur; fd++)
		close(fd);
}

static void write_or_exit(const uint8_t *p, size_t n)
{
	if (!full_write(STDOUT_FILENO, p, n))
		_exit(EXIT_ERRNO + errno);
}

static int state_status(enum unpack_state state)
{
	switch (state) {
	case UNPACK_GOOD:
		return UNPACKED_WHOLE;
	case UNPACK_DAMAGED:
		return UNPACKED_DAMAGED;
	case UNPACK_LARGE:
		return UNPACKED_LARGE;
	default:
		return EXIT_ERRNO + ENOMEM;
	}
}

static int unpack_input(enum packing packing)
{
	static uint8_t from[ROOM], to[ROOM];
	struct unpack *u = unpack_new(packing);
	ssize_t got;

	if (!u)
		return EXIT_ERRNO + ENOMEM;
	while ((got = read(STDIN_FILENO, from, sizeof(from))) != 0) {
		struct slice in = { from, got > 0 ? (size_t)got : 0 };
		size_t n = sizeof(to);

		if (got < 0 && errno == EAGAIN) /* another process that shares it made it non-blocking */
			poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1, -1);
		else if (got < 0 && errno != EINTR)
			return EXIT_ERRNO + errno;
		while (n == sizeof(to) && unpack_step(u, &in, to, sizeof(to), &n))
			write_or_exit(to, n);
		if (unpack_state(u) != UNPACK_GOOD) {
			write_or_exit(to, n);
			return state_status(unpack_state(u));
		}
	}
	return unpack_ended(u) ? UNPACKED_WHOLE : UNPACKED_CUT;
}

pid_t unpack_child_start(int fd, enum packing packing, int *from)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* if allowed: fewer changes of process */
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		dup2(fd, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close_others();
		_exit(unpack_input(packing));
	}
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	*from = ends[0];
	return pid;
}

void unpack_child_wait(pid_t pid, struct unpack_result *result)
{
	int status = 0;

	*result = (struct unpack_result){ UNPACKED_WHOLE, 0 };
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		result->ended = UNPACKED_KILLED;
	else if (WIFEXITED(status) && WEXITSTATUS(status) >= EXIT_ERRNO)
		*result = (struct unpack_result){ UNPACKED_SYSTEM, WEXITSTATUS(status) - EXIT_ERRNO };
	else if (WIFEXITED(status))
		result->ended = (enum unpack_ended)WEXITSTATUS(status);
}
