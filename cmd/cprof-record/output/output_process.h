/*
 * A process for an output whose file system may not answer. A server or a user's process (NFS, FUSE) may hold
 * each call for ever, and no signal ends it then.
 *
 *	struct output_process p = OUTPUT_PROCESS_NONE;
 *	struct output_work w = { path, begin_it, serve_it, arg };
 *
 *	if (output_process_begin(&p, &w) && output_process_take(&p, &answer, &fd, ms))
 *		...if answer.stays, the process has the output; otherwise fd is the caller's...
 *	output_process_ask(&p, &question, n, -1);
 *	while (output_process_take(&p, &answer, &fd, ms) && answer.more)
 *		...
 *	output_process_end(&p);
 *
 * A question has one last answer, and answers with more set before it. Until the last one, no other question
 * is asked. So the caller may stop waiting, and take the answer later.
 */
#ifndef CPROF_RECORD_OUTPUT_OUTPUT_PROCESS_H
#define CPROF_RECORD_OUTPUT_OUTPUT_PROCESS_H

#include <limits.h>
#include <sys/types.h>

#include "common/foreign/helper.h"

enum {
	OUTPUT_PROCESS_PIECE = 64 << 10, /* bytes of a message: a socket's buffer takes some 200 kB */
	OUTPUT_PROCESS_MS = 2000, /* a process that is silent for that long waits for its file system */
};

struct output_answer {
	bool more;
	bool stays;       /* to the opening: the process goes on, because its file system may not answer */
	int error;        /* 0: none */
	uint64_t done;    /* result of the call */
	uint64_t removed; /* files removed so far, by a series of files */
	bool unnamed;     /* as in struct rotate */
	char path[PATH_MAX + NAME_MAX + 2]; /* a file has got this name; "": none has */
};

struct output_process {
	struct helper h;
	bool busy;      /* the last answer to a question has not come yet */
	uint64_t heard; /* since then it is silent, CLOCK_MONOTONIC ns */
};

#define OUTPUT_PROCESS_NONE { HELPER_NONE, false, 0 }

/* Both run in the process, with the user's rights. */
struct output_work {
	const char *path; /* a name in /dev or /proc may be that of a descriptor, so these stay open for it */
	/* Returns a descriptor, or -1 with errno. *done is passed to the caller. */
	int (*begin)(const struct output_work *w, uint64_t *done);
	/* Answers questions until the socket is closed. */
	void (*serve)(const struct output_work *w, int sock, int fd);
	void *arg;
};

/* Returns true for a file or a directory on such a file system. No file system is accessed for that. */
bool output_process_may_stall(int fd);
/* Forks. The first answer is about the opening. False: errno. */
bool output_process_begin(struct output_process *p, const struct output_work *w);
/* fd: passed with the question; -1: none. False: the process was lost, and errno is ECONNRESET. */
bool output_process_ask(struct output_process *p, const void *question, size_t n, int fd);
/*
 * Takes the next answer, for which it waits this long. *fd: passed with it, or -1. False: errno is ETIMEDOUT,
 * or ECONNRESET if the process was lost.
 */
bool output_process_take(struct output_process *p, struct output_answer *a, int *fd, int ms);
/* Returns true if it has not answered for OUTPUT_PROCESS_MS. */
bool output_process_is_silent(const struct output_process *p);
/* Ends the process; one that is still busy is killed, and ends once its file system answers. */
void output_process_end(struct output_process *p);
/* For the process: sends an answer. */
bool output_process_answer(int sock, const struct output_answer *a);
/* Returns a sentence for an error, those above among them. */
const char *output_process_error(int error);

#endif
