/*
 * A perf event and its ring, read by whole records. Source: perf_event_open(2), "MMAP layout".
 */
#ifndef CPROF_RECORD_RINGS_PERF_RING_H
#define CPROF_RECORD_RINGS_PERF_RING_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "common/base/buf.h"

struct perf_ring {
	int fd; /* -1: none */
	unsigned int cpu;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;
};

/* Calls perf_event_open with close-on-exec. Returns -1 with errno. */
int event_open(struct perf_event_attr *attr, pid_t pid, int cpu);
/*
 * Maps a ring of the given bytes, a power of two, to fd; a smaller one if the kernel's limit on locked memory
 * is reached. The ring takes over fd. False with errno: not even a page could be mapped.
 */
bool perf_ring_map(struct perf_ring *r, int fd, unsigned int cpu, size_t bytes);
/*
 * Calls each for every record in the ring, in one piece and lent for the call. False: a record was damaged,
 * and the records after it are lost.
 */
bool perf_ring_drain(struct perf_ring *r,
		     void (*each)(void *arg, unsigned int cpu, const struct perf_event_header *h), void *arg);
/* Adds the ring to epoll: an event, with data.fd, when much waits in the ring. */
void perf_ring_watch(const struct perf_ring *r, int epoll);
/* Unmaps the ring and closes its descriptor. */
void perf_ring_close(struct perf_ring *r);

#endif
