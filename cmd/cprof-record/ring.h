/*
 * A perf event and its ring, read by whole records; perf_event_open(2), "MMAP layout".
 */
#ifndef CPROF_RECORD_RING_H
#define CPROF_RECORD_RING_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "common/base/buf.h"

struct ring {
	int fd; /* -1: none */
	unsigned int cpu;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;
};

/* perf_event_open with close-on-exec; -1 and errno. */
int event_open(struct perf_event_attr *attr, pid_t pid, int cpu);
/* Maps a ring of so many bytes, a power of two, to fd; of fewer if the kernel's limit on locked memory is reached. */
bool ring_map(struct ring *r, int fd, unsigned int cpu, size_t bytes);
/* Each record in the ring, in one piece and lent for the call. */
void ring_drain(struct ring *r, void (*each)(void *arg, unsigned int cpu, const struct perf_event_header *h),
		void *arg);
/* Has epoll tell, with data.fd, when much waits in the ring. */
void ring_watch(const struct ring *r, int epoll);
void ring_close(struct ring *r);

#endif
