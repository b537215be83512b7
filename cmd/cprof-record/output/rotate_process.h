/*
 * The files of --rotate and --ring: the functions of rotate.h. A process opens the directory, and calls these
 * functions itself if the directory's file system may not answer.
 *
 *	struct rotate_process p = { .rotate = { .mode = 0600 }, .named = named, .arg = r };
 *
 *	rotate_process_init(&p, path, wait, r, &error);
 *	rotate_process_adopt(&p);		// calls named for each file that a killed recorder left
 *	if (!rotate_process_open(&p)) ...errno...
 *	while (rotate_process_reserve(&p, bytes, full))
 *		...rotate_process_write(&p, bytes, n)...
 *	rotate_process_close(&p, bytes);	// calls named with the file's name
 *	rotate_process_release(&p);
 *
 * A call waits for at most OUTPUT_PROCESS_MS without an answer; errno is then ETIMEDOUT. Until the process
 * answers, all further calls fail at once. A process that is lost is replaced by rotate_process_open. A file
 * that could not be closed meanwhile is closed before the next one is opened.
 */
#ifndef CPROF_RECORD_OUTPUT_ROTATE_PROCESS_H
#define CPROF_RECORD_OUTPUT_ROTATE_PROCESS_H

#include "cmd/cprof-record/output/flight_buffer.h"
#include "cmd/cprof-record/output/output_process.h"
#include "cmd/cprof-record/output/rotate.h"

struct rotate_process {
	struct rotate rotate; /* without a local directory, only its pattern and its counts are used */
	void (*named)(void *arg, const char *path);
	void *arg;
	const char *path; /* as the user gave it */
	struct output_process process;
	bool remote;     /* the process works on the files */
	bool opening;    /* the process has not answered about the directory yet */
	bool closes;     /* a file is to be closed with close_bytes */
	uint64_t close_bytes;
	struct rotate_copy {
		bool asked, ended; /* ended: the caller has not seen it yet */
		int error;         /* 0: the file is complete */
		uint64_t bytes, until; /* until: when the last part in it began */
	} copy;
};

/*
 * Opens the directory of the path. wait(wait_arg, fd) returns NULL once fd is readable, or a sentence that
 * says why it gave up. False: error is a sentence, or empty if out of memory; usage: the path is invalid.
 */
bool rotate_process_init(struct rotate_process *p, const char *path, const char *(*wait)(void *arg, int fd),
			 void *wait_arg, struct buf *error, bool *usage);
void rotate_process_release(struct rotate_process *p);
/* These are the functions of rotate.h, and return false with errno. */
bool rotate_process_adopt(struct rotate_process *p);
bool rotate_process_open(struct rotate_process *p);
/* Reports the bytes written since the last call, and reserves; full: there was no room for further ones. */
bool rotate_process_reserve(struct rotate_process *p, uint64_t bytes, bool full);
/* Closes the file, and removes files beyond the limits. */
bool rotate_process_close(struct rotate_process *p, uint64_t bytes);
/* Returns the bytes written, at least one; -1 with errno. */
ssize_t rotate_process_write(struct rotate_process *p, const void *bytes, size_t n);
/*
 * Writes the flight buffer to a file of its own. Without a local directory, the copy goes on in the process,
 * and p->copy has its result once rotate_process_is_ready.
 */
bool rotate_process_copy(struct rotate_process *p, const struct flight_buffer *m);
/* Returns true if the process has answered all questions. Takes answers for which no call waits any more. */
bool rotate_process_is_ready(struct rotate_process *p);
/*
 * At the end: the same, but waits for answers unless the process has been silent, and closes a file that is
 * still to be closed.
 */
bool rotate_process_finish(struct rotate_process *p);

#endif
