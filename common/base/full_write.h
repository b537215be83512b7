/*
 * write(2) until all bytes are written.
 *
 *	if (!full_write(fd, buf.p, buf.n))
 *		...strerror(errno)...
 */
#ifndef CPROF_BASE_FULL_WRITE_H
#define CPROF_BASE_FULL_WRITE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes n bytes, in as many calls as the file takes: pipes and full disks take a part, and a signal ends a
 * call early. Returns false with errno of the call that failed; the bytes before it have been written. EINTR
 * is not a failure. EAGAIN is one: a descriptor that does not block needs a caller that waits. A call that
 * takes nothing fails with ENOSPC.
 */
bool full_write(int fd, const void *bytes, size_t n);

#endif
