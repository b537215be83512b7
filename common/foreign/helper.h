/*
 * A process for work that the caller, mostly the recorder, must not do in its own process. The caller
 * forks it, sends requests over a socket, and replaces it when it is lost.
 *
 *	struct helper h = HELPER_NONE;
 *
 *	if (helper_begin(&h, run, arg))		// in the child: run(arg, sock, parent, again), which does not return
 *		helper_send(h.sock, &question, sizeof(question), fd, MSG_DONTWAIT);
 *	...
 *	helper_take(h.sock, &answer, sizeof(answer), &n, &fd, MSG_DONTWAIT);
 *	helper_end(&h);
 */
#ifndef CPROF_FOREIGN_HELPER_H
#define CPROF_FOREIGN_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct helper {
	pid_t pid;      /* -1: none */
	int sock;       /* -1: no helper can be reached */
	uint64_t began; /* CLOCK_MONOTONIC of the last start, ns; 0: none was started */
};

#define HELPER_NONE { -1, -1, 0 }
/* For a helper that is first forked while the recorder is already recording. */
#define HELPER_LATER { -1, -1, 1 }

/* again: it was forked during the work, and inherits all memory that the caller has by then. */
typedef void helper_run(void *arg, int sock, pid_t parent, bool again);

/* Forks; the sockets preserve message boundaries. False: errno. */
bool helper_begin(struct helper *h, helper_run *run, void *arg);
/* Returns true if the last start was long enough ago for another one. */
bool helper_may_begin(const struct helper *h);
/* Closes the socket and waits for the helper to exit; kills it after some seconds. */
void helper_end(struct helper *h);
/*
 * Kills it without waiting: a file system that does not answer may hold it. Returns its pid, which the caller
 * reaps later with WNOHANG; 0: it is gone already.
 */
pid_t helper_kill(struct helper *h);

/* Returns true if it runs or waits for a CPU, rather than for a file system or a lock. */
bool helper_is_running(const struct helper *h);

/* Sends a message with one descriptor; fd -1: with none. False: errno. */
bool helper_send(int sock, const void *p, size_t n, int fd, int flags);
/*
 * Receives a message of up to *n bytes; *n becomes its length, and *fd its descriptor, which the caller owns,
 * or -1. False: errno; 0 if the other side is gone.
 */
bool helper_take(int sock, void *p, size_t *n, int *fd, int flags);

/* In a child that was forked during recording: unmaps the memory that the recorder shares with the kernel. */
bool helper_unmap_shared(void);

/* Returns the time of CLOCK_MONOTONIC in ns, by which helpers are given up. */
uint64_t helper_mono_ns(void);

#endif
