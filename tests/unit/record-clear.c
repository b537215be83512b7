/* A map is emptied although entries vanish meanwhile. This program is the kernel. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "cmd/cprof-record/programs/bpf_clear.h"
#include "tests/lib/check.h"

enum { MAP = 7, ENTRIES = 10 };

static uint64_t next;	 /* the first entry that is left */
static uint64_t vanish;	 /* evict every nth entry after its key was read; 0: none */
static int refusal;	 /* the error of each removal, or 0 */
static int removals;

/* As libbpf's functions of this name. */
int bpf_map_get_next_key(int fd, const void *key, void *next_key);
int bpf_map_delete_elem(int fd, const void *key);

static int fail(int error)
{
	errno = error;
	return -error;
}

int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	uint64_t first[2] = { next, 0 };

	if (fd != MAP || key)
		return fail(EBADF);
	if (next == ENTRIES)
		return fail(ENOENT);
	memcpy(next_key, first, sizeof(first));
	if (vanish && next % vanish == 0)
		next++;
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	uint64_t n;

	removals++;
	memcpy(&n, key, sizeof(n));
	if (refusal || fd != MAP)
		return fail(refusal ? refusal : EBADF);
	if (n != next)
		return fail(ENOENT);
	next++;
	return 0;
}

static uint64_t clear(int fd, uint64_t every, int error)
{
	next = 0;
	removals = 0;
	vanish = every;
	refusal = error;
	bpf_clear_map(fd);
	return ENTRIES - next;
}

int main(void)
{
	check_is(clear(MAP, 0, 0), 0, "nothing is left");
	check_is(clear(MAP, 3, 0), 0, "nothing is left if other entries are evicted meanwhile");
	check_is(clear(MAP, 1, 0), 0, "nothing is left if each entry is evicted first");
	check_is(clear(MAP, 0, EPERM), ENTRIES, "a kernel that refuses keeps its entries");
	check_is(removals, 1, "  and is asked once");
	check_is(clear(-1, 0, 0), ENTRIES, "no map is asked for nothing");
	check_is(removals, 0, "  at all");
	return checks_done();
}
