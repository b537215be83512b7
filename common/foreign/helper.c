#include "common/foreign/helper.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	AGAIN_MS = 1000, /* between two starts */
	END_MS = 4000,   /* from closing the socket until the helper is killed */
};

uint64_t helper_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool helper_send(int sock, const void *p, size_t n, int fd, int flags)
{
	union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct iovec v = { (void *)p, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL | flags) == (ssize_t)n;
}

bool helper_take(int sock, void *p, size_t *n, int *fd, int flags)
{
	union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct iovec v = { p, *n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t got;

	*fd = -1;
	got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | flags);
	c = got >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	if (got == 0)
		errno = 0;
	*n = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* A fork inherits the rings and tables that the recorder shares with the kernel. */
bool helper_unmap_shared(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[PATH_MAX + 128], prot[5];
	bool good = maps;

	while (good && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, prot) == 3 && prot[3] == 's')
			good = munmap((void *)start, end - start) == 0;
	}
	if (maps)
		fclose(maps);
	return good;
}

bool helper_begin(struct helper *h, helper_run *run, void *arg)
{
	bool again = h->began;
	pid_t self = getpid();
	int pair[2];

	h->began = helper_mono_ns();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	h->sock = pair[0];
	h->pid = fork();
	if (h->pid == 0) {
		run(arg, pair[1], self, again);
		_exit(1);
	}
	close(pair[1]);
	return h->pid > 0;
}

bool helper_may_begin(const struct helper *h)
{
	return helper_mono_ns() - h->began >= AGAIN_MS * (uint64_t)1000000;
}

static void hang_up(struct helper *h)
{
	if (h->sock < 0)
		return;
	shutdown(h->sock, SHUT_RDWR); /* a forked command that does not run yet has it open, too */
	close(h->sock);
	h->sock = -1;
}

void helper_end(struct helper *h)
{
	uint64_t until = helper_mono_ns() + END_MS * (uint64_t)1000000;

	hang_up(h);
	for (useconds_t pause = 50; h->pid > 0; pause = pause < 10000 ? pause * 2 : pause) {
		pid_t got = waitpid(h->pid, NULL, WNOHANG);

		if (got != 0) { /* reaped here, or by the kernel because SIGCHLD is ignored */
			h->pid = -1;
		} else if (helper_mono_ns() > until) {
			kill(h->pid, SIGKILL);
			waitpid(h->pid, NULL, 0);
			h->pid = -1;
		} else {
			usleep(pause);
		}
	}
}

pid_t helper_kill(struct helper *h)
{
	pid_t pid = h->pid;

	hang_up(h);
	h->pid = -1;
	if (pid <= 0)
		return 0;
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, WNOHANG) == 0 ? pid : 0;
}

bool helper_is_running(const struct helper *h)
{
	char path[64], text[512] = "";
	const char *after;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)h->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	after = strrchr(text, ')');
	return after && strncmp(after, ") R", 3) == 0;
}
