#include "common/elf/mapped.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * READS_MAX is the number of reads of a large part before its pages are released. A read brings in the 16
 * pages around it, so the pages are at most about MAPPED_WINDOW bytes.
 */
enum { PAGE = 4096, READS_MAX = MAPPED_WINDOW / (16 * PAGE) + 1, COPY_MAX = 1 << 29 };

struct mapped_region {
	struct mapped_region *next, *before;
	uint8_t *start;
	size_t length;
	unsigned int reads;
	volatile sig_atomic_t lost;
};

/*
 * The list that the handler searches. The handler only runs when mapped bytes are read, which never happens
 * while the list is being changed.
 */
static struct mapped_region regions = { .next = &regions, .before = &regions };
static bool guarded;

static bool replace_pages(struct mapped_region *r)
{
	r->lost = 1;
	return mmap(r->start, r->length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
	const uint8_t *at = info->si_addr;

	(void)context;
	for (struct mapped_region *r = regions.next; info->si_code > 0 && r != &regions; r = r->next) {
		if (at >= r->start && at < r->start + r->length && replace_pages(r))
			return;
	}
	signal(signal_number, SIG_DFL); /* not in a mapping of ours: behave as without a handler */
	raise(signal_number);
}

bool mapped_guard(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	guarded = sigaction(SIGBUS, &action, NULL) == 0;
	return guarded;
}

void mapped_take(struct mapped *m, char *bytes, size_t n)
{
	*m = (struct mapped){ (const uint8_t *)bytes, n, NULL };
}

static bool read_copy(struct mapped *m, int fd, uint64_t offset, size_t n)
{
	char *bytes = n <= COPY_MAX ? malloc(n + 1) : NULL;
	size_t at = 0;

	while (bytes && at < n) {
		ssize_t got = pread(fd, bytes + at, n - at, (off_t)(offset + at));

		if (got <= 0) {
			free(bytes);
			return false;
		}
		at += (size_t)got;
	}
	if (bytes)
		mapped_take(m, bytes, n);
	return bytes != NULL;
}

static bool map_part(struct mapped *m, int fd, uint64_t offset, size_t n)
{
	size_t skip = offset % PAGE;
	struct mapped_region *r = calloc(1, sizeof(*r));
	/*
	 * A part that is read whole is populated at once: faults cost more, and prefetching needs the pages.
	 */
	int flags = MAP_PRIVATE | (n <= MAPPED_WINDOW ? MAP_POPULATE : 0);
	void *start = r ? mmap(NULL, n + skip, PROT_READ, flags, fd, (off_t)(offset - skip)) : MAP_FAILED;

	if (start == MAP_FAILED) {
		free(r);
		return false;
	}
	*r = (struct mapped_region){ .next = regions.next, .before = &regions, .start = start, .length = n + skip };
	r->next->before = regions.next = r;
	*m = (struct mapped){ r->start + skip, n, r };
	return true;
}

bool mapped_open(struct mapped *m, int fd, uint64_t offset, uint64_t n)
{
	struct stat st;

	*m = (struct mapped){ 0 };
	if (fstat(fd, &st) != 0 || offset > (uint64_t)st.st_size || n > (uint64_t)st.st_size - offset)
		return false;
	return (guarded && n >= MAPPED_LEAST && map_part(m, fd, offset, n)) || read_copy(m, fd, offset, n);
}

void mapped_close(struct mapped *m)
{
	struct mapped_region *r = m->region;

	if (r) {
		r->next->before = r->before;
		r->before->next = r->next;
		munmap(r->start, r->length);
		free(r);
	} else {
		free((void *)(uintptr_t)m->p);
	}
	*m = (struct mapped){ 0 };
}

void mapped_relax(const struct mapped *m)
{
	if (m->region)
		madvise(m->region->start, m->region->length, MADV_DONTNEED);
}

void mapped_count_use(const struct mapped *m)
{
	if (++m->region->reads < READS_MAX)
		return;
	m->region->reads = 0;
	mapped_relax(m);
}

bool mapped_lost(const struct mapped *m)
{
	return m->region && m->region->lost;
}

size_t mapped_bytes(const struct mapped *m)
{
	return m->region && m->n > MAPPED_WINDOW ? MAPPED_WINDOW : m->n;
}
