#include "cmd/cprof-record/programs/bpf_clear.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>

/* A program may remove the entry first: an LRU map evicts entries when another is added. */
static int remove_entry(int fd, const void *key)
{
	return bpf_map_delete_elem(fd, key) == 0 || errno == ENOENT;
}

void bpf_clear_map(int fd)
{
	uint64_t key[BPF_CLEAR_KEY / sizeof(uint64_t)];

	while (fd >= 0 && bpf_map_get_next_key(fd, NULL, key) == 0 && remove_entry(fd, key))
		;
}
