#include "cmd/cprof-record/host/cgroup_names.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "bpf/groups.h"
#include "bpf/groups.skel.h"
#include "cmd/cprof-record/host/btf.h"

struct cgroup_names {
	struct groups_bpf *bpf;
};

static bool load_groups(struct cgroup_names *g)
{
	struct btf_place places[] = { { "cgroup", "kn", 0 }, { "cgroup", "root", 0 }, { "kernfs_node", "id", 0 },
				      { "cgroup_root", "hierarchy_id", 0 } };

	if (!btf_find(BTF_KERNEL, places, sizeof(places) / sizeof(places[0])))
		return false;
	g->bpf = groups_bpf__open();
	if (!g->bpf)
		return false;
	g->bpf->rodata->kn_at = places[0].at;
	g->bpf->rodata->root_at = places[1].at;
	g->bpf->rodata->id_at = places[2].at;
	g->bpf->rodata->hierarchy_at = places[3].at;
	return groups_bpf__load(g->bpf) == 0;
}

struct cgroup_names *cgroup_names_new(void)
{
	struct cgroup_names *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	if (load_groups(g) && groups_bpf__attach(g->bpf) == 0)
		return g;
	cgroup_names_free(g);
	return NULL;
}

void cgroup_names_free(struct cgroup_names *g)
{
	if (!g)
		return;
	groups_bpf__destroy(g->bpf);
	free(g);
}

/* The kernel may overwrite the path during the read: the id is then another one afterwards. */
static bool read_path(const struct cgroup_names *g, uint32_t at, uint64_t id, struct group_path *path)
{
	const volatile unsigned long long *ids = g->bpf->bss->ids;

	return ids[at] == id && bpf_map_lookup_elem(bpf_map__fd(g->bpf->maps.paths), &at, path) == 0 && ids[at] == id;
}

bool cgroup_names_find(const struct cgroup_names *g, uint64_t id, struct buf *path, bool *cut)
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
