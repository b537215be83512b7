/*
 * A child process that decompresses a file into a pipe.
 *
 *	pid = unpack_child_start(fd, PACKED_ZSTD, &from);	// -1: errno
 *	...read from, close(from)...
 *	unpack_child_wait(pid, &result);
 */
#ifndef CPROF_CMD_UNPACK_CHILD_H
#define CPROF_CMD_UNPACK_CHILD_H

#include <sys/types.h>

#include "common/compress/unpack.h"

enum unpack_ended {
	UNPACKED_WHOLE, /* or the reader had enough */
	UNPACKED_CUT,
	UNPACKED_DAMAGED,
	UNPACKED_LARGE,
	UNPACKED_SYSTEM, /* see error */
	UNPACKED_KILLED,
};

struct unpack_result {
	enum unpack_ended ended;
	int error; /* errno */
};

/*
 * Starts a child that reads fd, and sets *from to the descriptor to read. Returns -1 with errno on failure.
 */
pid_t unpack_child_start(int fd, enum packing packing, int *from);
void unpack_child_wait(pid_t pid, struct unpack_result *result);

#endif
