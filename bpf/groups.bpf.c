/*
 * Names of control groups that are created during the recording.
 *
 * A sample carries the number of its group. The recorder looks up the name when it writes the sample, up to a
 * second later. A group that lived for less, as those of builds and tests do, is gone by then, and its name
 * is lost. So this program keeps the newest groups and overwrites the oldest. User space looks here when it
 * meets an unknown number. Nobody is woken, and nothing runs while no group is created.
 *
 * The program reads a struct cgroup, whose layout comes from BTF: without BTF names are only looked up late.
 * It uses offsets rather than relocations, for which libbpf would read all of BTF.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/groups.h"

/* Offsets: kn and root in struct cgroup, id in struct kernfs_node, hierarchy_id in struct cgroup_root. */
const volatile unsigned int kn_at = 0, root_at = 0, id_at = 0, hierarchy_at = 0;

/* The nth group created is at n % GROUPS_KEPT of ids and of paths. Its id is 0 while the path is written. */
unsigned long long made = 0;
unsigned long long ids[GROUPS_KEPT] = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROUPS_KEPT);
	__type(key, unsigned int);
	__type(value, struct group_path);
} paths SEC(".maps");

/* Reads n bytes at offset `at` of the structure that the pointer at pointer_at leads to. */
static __always_inline long read_member(void *to, unsigned int n, unsigned long pointer_at, unsigned int at)
{
	unsigned long structure = 0;

	if (bpf_probe_read_kernel(&structure, sizeof(structure), (void *)pointer_at))
		return -1;
	return bpf_probe_read_kernel(to, n, (void *)(structure + at));
}

/*
 * include/trace/events/cgroup.h: TP_PROTO(struct cgroup *cgrp, const char *path). The kernel creates one
 * group at a time. The path starts at the root of the hierarchy, not of a namespace.
 */
SEC("raw_tracepoint/cgroup_mkdir")
int on_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned long group = ctx->args[0];
	unsigned int hierarchy = 0, at = made & (GROUPS_KEPT - 1);
	volatile unsigned long long *id = &ids[at];
	unsigned long long number = 0;
	struct group_path *path;

	if (read_member(&hierarchy, sizeof(hierarchy), group + root_at, hierarchy_at) || hierarchy != 0) /* version 1 */
		return 0;
	path = bpf_map_lookup_elem(&paths, &at);
	if (!path)
		return 0;
	*id = 0;
	if (bpf_probe_read_kernel_str(path->text, sizeof(path->text), (void *)ctx->args[1]) <= 0)
		return 0;
	if (read_member(&number, sizeof(number), group + kn_at, id_at))
		return 0;
	*id = number;
	made++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
