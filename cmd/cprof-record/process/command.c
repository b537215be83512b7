#include "cmd/cprof-record/process/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "common/base/buf.h"

/* Searches as execvp(3) will, so that a mistyped command starts nothing and empties no file. */
static bool is_there(const char *name)
{
	const char *path = getenv("PATH");
	struct buf at = { 0 };
	bool found = false;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	if (!path)
		return true; /* execvp knows a default */
	while (!found) {
		size_t n = strcspn(path, ":");

		at.n = 0;
		buf_printf(&at, "%.*s%s%s", (int)n, path, n ? "/" : "", name);
		found = access(buf_cstr(&at), X_OK) == 0;
		if (!path[n])
			break;
		path += n + 1;
	}
	if (!found)
		errno = ENOENT;
	buf_release(&at);
	return found;
}

static void exec_command(char **argv, const sigset_t *mask, bool own_output, int ready, int failed)
{
	char c;
	int error;

	if (read(ready, &c, 1) != 1)
		_exit(STATUS_SYSTEM); /* the recorder gave up */
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGXFSZ, SIG_DFL);
	if (!own_output)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) != sizeof(error))
		_exit(STATUS_SYSTEM);
	_exit(127);
}

void command_prepare(struct command *c, char **argv, const sigset_t *mask, bool own_output)
{
	int ready[2], failed[2];

	if (!is_there(argv[0]))
		cli_die(STATUS_SYSTEM, "%s: %s", argv[0], strerror(errno));
	if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
		cli_die(STATUS_SYSTEM, "pipe: %s", strerror(errno));
	c->argv = argv;
	c->pid = fork();
	if (c->pid < 0)
		cli_die(STATUS_SYSTEM, "fork: %s", strerror(errno));
	if (c->pid == 0) {
		close(ready[1]);
		exec_command(argv, mask, own_output, ready[0], failed[1]);
	}
	close(ready[0]);
	close(failed[1]);
	c->go = ready[1];
	c->failed = failed[0];
}

void command_go(struct command *c)
{
	int error = EPIPE;

	if (write(c->go, "", 1) != 1 || read(c->failed, &error, sizeof(error)) == sizeof(error))
		cli_die(STATUS_SYSTEM, "%s: %s", c->argv[0], strerror(error));
	close(c->go);
	close(c->failed);
}

void command_reap(struct command *c)
{
	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->pid = 0;
}
