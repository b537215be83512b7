/*
 * A process that does for the recorder what must not be done in it: forked from it, asked over a socket, replaced when it
 * is lost.
 *
 *	struct helper h = HELPER_NONE;
 *
 *	if (helper_begin(&h, run, arg))		// in the child: run(arg, sock, parent, again), which does not return
 *		helper_send(h.sock, &question, sizeof(question), fd, MSG_DONTWAIT);
 *	...
 *	helper_take(h.sock, &answer, sizeof(answer), &n, &fd, MSG_DONTWAIT);
 *	helper_end(&h);
 */
#ifndef CPROF_RECORD_HELPER_H
#define CPROF_RECORD_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct helper {
	pid_t pid;      /* -1: none */
	int sock;       /* -1: there is none that could be asked */
	uint64_t began; /* host_mono_ns; 0: the first one has not */
};

#define HELPER_NONE { -1, -1, 0 }
/* The first one is forked while the recorder records already. */
#define HELPER_LATER { -1, -1, 1 }

/* again: it is not the first one, and begins with all that the recorder has by then. */
typedef void helper_run(void *arg, int sock, pid_t parent, bool again);

/* Forks; the sockets keep the borders of messages. False: errno. */
bool helper_begin(struct helper *h, helper_run *run, void *arg);
/* Was the last one begun long enough ago for another one? */
bool helper_may_begin(const struct helper *h);
/* Ends it in peace, and waits for that: some seconds at most, then it is killed. */
void helper_end(struct helper *h);
/*
 * Kills it, and waits for nothing: it may be in the hands of a file system that does not answer. What is returned is its
 * pid, to be reaped with WNOHANG some time; 0: it is gone already.
 */
pid_t helper_kill(struct helper *h);

/* A message with one descriptor, or with none where fd is -1. */
bool helper_send(int sock, const void *p, size_t n, int fd, int flags);
/* A message of up to *n bytes; *n becomes its length. False with errno; 0 where the other side is gone. */
bool helper_take(int sock, void *p, size_t *n, int *fd, int flags);

/* In a child that was forked later: takes out of its memory what the recorder shares with the kernel. */
bool helper_unmap_shared(void);

#endif
