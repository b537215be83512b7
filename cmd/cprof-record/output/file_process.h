/*
 * The file of -o: a process opens it, and writes it if its file system may not answer.
 *
 *	struct file_process p = { OUTPUT_PROCESS_NONE, .wait = wait, .arg = r };
 *	struct buf error = { 0 };
 *
 *	if (!file_process_open(&p, path, mode, &fd, &error))
 *		...error is a sentence...
 *	if (fd >= 0)
 *		...a local file, a pipe or a device: the process has ended, and fd is the caller's...
 *	file_process_truncate(&p, &why);
 *	n = file_process_write(&p, bytes, n, &why);
 *	file_process_close(&p, &why);
 *
 * The caller waits in p.wait, and may give up there. The process is then killed, and ends once its file
 * system answers.
 */
#ifndef CPROF_RECORD_OUTPUT_FILE_PROCESS_H
#define CPROF_RECORD_OUTPUT_FILE_PROCESS_H

#include <sys/types.h>

#include "cmd/cprof-record/output/output_process.h"
#include "common/base/buf.h"

struct file_process {
	struct output_process process;
	/* Waits until the socket is readable. Returns NULL, or a sentence that says why it gave up. */
	const char *(*wait)(void *arg, int sock);
	void *arg;
};

/* path: NULL for standard output. An existing file is not changed. False: error is a sentence. */
bool file_process_open(struct file_process *p, const char *path, mode_t mode, int *fd, struct buf *error);
/* These return false or -1 with a sentence in *why, or NULL there and errno. */
bool file_process_truncate(struct file_process *p, const char **why);
/* Returns the bytes written, at least one. */
ssize_t file_process_write(struct file_process *p, const void *bytes, size_t n, const char **why);
/* Closes the file and ends the process. */
bool file_process_close(struct file_process *p, const char **why);
/* Returns true while the process writes the file. */
bool file_process_has(const struct file_process *p);

#endif
