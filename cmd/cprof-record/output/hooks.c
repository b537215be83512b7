#include "cmd/cprof-record/output/hooks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cprof-record/host/priority.h"
#include "common/base/array.h"

static void run_hook(const struct hooks *h, const char *path)
{
	int null = open("/dev/null", O_RDONLY);

	priority_reset();
	setpgid(0, 0); /* so that hooks_stop reaches all its processes */
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, h->mask, NULL);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execl("/bin/sh", "sh", "-c", h->command, "sh", path, (char *)NULL);
	_exit(127);
}

/* Runs the command for the next waiting file, if none is running. */
static void start_next(struct hooks *h)
{
	char *path;

	if (h->pid || !h->n)
		return;
	path = h->waiting[0];
	memmove(h->waiting, h->waiting + 1, --h->n * sizeof(*h->waiting));
	h->pid = fork();
	if (h->pid == 0)
		run_hook(h, path);
	h->run++;
	if (h->pid < 0) {
		h->pid = 0;
		h->failed++;
	}
	free(path);
}

void hooks_add(struct hooks *h, const char *path)
{
	char *copy;

	if (!h->command)
		return;
	copy = h->n < HOOKS_WAITING ? strdup(path) : NULL;
	if (!copy || !grow_array(&h->waiting, &h->cap, h->n, sizeof(*h->waiting))) {
		free(copy);
		h->dropped++;
		return;
	}
	h->waiting[h->n++] = copy;
	start_next(h);
}

static void note_exit(struct hooks *h, int status)
{
	h->pid = 0;
	if (status) {
		h->failed++;
		h->status = status;
	}
	start_next(h);
}

void hooks_reap(struct hooks *h)
{
	int status;

	if (h->pid && waitpid(h->pid, &status, WNOHANG) == h->pid)
		note_exit(h, status);
}

size_t hooks_left(const struct hooks *h)
{
	return h->n + (h->pid != 0);
}

size_t hooks_stop(struct hooks *h)
{
	size_t left = hooks_left(h);

	if (h->pid)
		kill(-h->pid, SIGTERM);
	h->dropped += left;
	h->pid = 0;
	while (h->n)
		free(h->waiting[--h->n]);
	return left;
}

void hooks_release(struct hooks *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->waiting[i]);
	free(h->waiting);
	h->waiting = NULL;
	h->n = h->cap = 0;
}
