#include "common/base/full_write.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

bool full_write(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done == 0)
			errno = ENOSPC;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}
