#include "cmd/cprof-record/rings/perf_ring.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool perf_ring_map(struct perf_ring *r, int fd, unsigned int cpu, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t size = bytes > page ? bytes : page;; size /= 2) {
		void *base = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (base != MAP_FAILED) {
			*r = (struct perf_ring){ fd, cpu, base, (uint8_t *)base + page, size };
			return true;
		}
		if (size <= page)
			return false;
	}
}

bool perf_ring_drain(struct perf_ring *r,
		     void (*each)(void *arg, unsigned int cpu, const struct perf_event_header *h), void *arg)
{
	static uint64_t whole[(1 << 16) / 8]; /* a record's length has 16 bits */
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;

	while (tail < head) {
		size_t at = tail & (r->size - 1), left = r->size - at;
		const struct perf_event_header *h = (const void *)(r->data + at);
		size_t n = h->size;

		if (n < sizeof(*h) || n > head - tail)
			break;
		if (n > left) {
			memcpy(whole, r->data + at, left);
			memcpy((uint8_t *)whole + left, r->data, n - left);
			h = (const void *)whole;
		}
		each(arg, r->cpu, h);
		tail += n;
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return tail == head;
}

void perf_ring_watch(const struct perf_ring *r, int epoll)
{
	epoll_ctl(epoll, EPOLL_CTL_ADD, r->fd, &(struct epoll_event){ EPOLLIN, { .fd = r->fd } });
}

void perf_ring_close(struct perf_ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct perf_ring){ .fd = -1 };
}
