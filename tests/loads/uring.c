/*
 * Work in io_uring's kernel threads, which have no user stack: uring SECONDS reads random bytes there, by
 * requests marked not to be tried in the submitting thread. Exits with 77 if io_uring is not available.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 4, BYTES = 1 << 18 };

static char bytes[BYTES];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *map(int ring, size_t n, off_t at)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, ring, at);

	if (p == MAP_FAILED) {
		perror("uring: mmap");
		exit(1);
	}
	return p;
}

static uint32_t *member(void *ring, uint32_t at)
{
	return (uint32_t *)(void *)((char *)ring + at);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);
	int fd = open("/dev/urandom", O_RDONLY);
	struct io_uring_params p = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
	struct io_uring_sqe *requests;
	void *sq, *cq;

	if (ring < 0 || fd < 0) {
		perror("uring");
		return 77;
	}
	sq = map(ring, p.sq_off.array + p.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	cq = map(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	requests = map(ring, p.sq_entries * sizeof(*requests), IORING_OFF_SQES);
	while (now() < end) {
		uint32_t tail = *member(sq, p.sq_off.tail), at = tail & *member(sq, p.sq_off.ring_mask);

		requests[at] = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .flags = IOSQE_ASYNC, .fd = fd,
						      .addr = (uintptr_t)bytes, .len = BYTES };
		member(sq, p.sq_off.array)[at] = at;
		atomic_store((_Atomic uint32_t *)member(sq, p.sq_off.tail), tail + 1);
		if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0) {
			perror("uring: io_uring_enter");
			return 1;
		}
		atomic_fetch_add((_Atomic uint32_t *)member(cq, p.cq_off.head), 1);
	}
	return 0;
}
