#include "cmd/cprof-record/groups.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "bpf/groups.h"
#include "bpf/groups.skel.h"

struct groups {
	struct groups_bpf *bpf;
};

struct groups *groups_new(void)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->bpf = groups_bpf__open_and_load();
	if (g->bpf && groups_bpf__attach(g->bpf) == 0)
		return g;
	groups_free(g);
	return NULL;
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	groups_bpf__destroy(g->bpf);
	free(g);
}

/* It is written over meanwhile, perhaps; then its id is another one afterwards. */
static bool read_path(const struct groups *g, uint32_t at, uint64_t id, struct group_path *path)
{
	const volatile unsigned long long *ids = g->bpf->bss->ids;

	return ids[at] == id && bpf_map_lookup_elem(bpf_map__fd(g->bpf->maps.paths), &at, path) == 0 && ids[at] == id;
}

bool groups_find(const struct groups *g, uint64_t id, struct buf *path, bool *cut)
{
	static const char dots[] = "...";
	struct group_path got;

	for (uint32_t at = 0; id && at < GROUPS_KEPT; at++) {
		if (!read_path(g, at, id, &got))
			continue;
		got.text[GROUP_PATH - 1] = '\0';
		*cut = strlen(got.text) == GROUP_PATH - 1;
		if (*cut)
			memcpy(got.text + GROUP_PATH - sizeof(dots), dots, sizeof(dots));
		buf_text(path, got.text);
		return !path->failed;
	}
	return false;
}
