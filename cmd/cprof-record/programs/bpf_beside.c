#include "cmd/cprof-record/programs/bpf_beside.h"

#include <bpf/libbpf.h>

bool bpf_beside_reuse(const struct bpf_beside_map *maps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bpf_map__reuse_fd(maps[i].own, bpf_map__fd(maps[i].its)) != 0)
			return false;
	}
	return true;
}
