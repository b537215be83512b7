/*
 * The names of control groups that are made while we record.
 *
 * A sample has the number of its group, and the name is asked for when the sample is written, up to a second later. A
 * group that lived for less, as a build's or a test's does, is gone by then, and nobody knows its name. So the newest ones
 * are kept here, the oldest of them overwritten; user space looks when it meets a number that it does not know. Nobody is
 * woken, and where no group is made nothing runs.
 *
 * It reads a group, so it needs BTF, and lives in an object of its own: without it names are asked for as ever.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/groups.h"

struct kernfs_node {
	unsigned long long id;
} __attribute__((preserve_access_index));

struct cgroup_root {
	int hierarchy_id;
} __attribute__((preserve_access_index));

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
} __attribute__((preserve_access_index));

/* The one that was made as the nth is at n % GROUPS_KEPT, in both. Its id is 0 while the path is written. */
unsigned long long made = 0;
unsigned long long ids[GROUPS_KEPT] = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROUPS_KEPT);
	__type(key, unsigned int);
	__type(value, struct group_path);
} paths SEC(".maps");

/*
 * include/trace/events/cgroup.h: TP_PROTO(struct cgroup *cgrp, const char *path). The kernel makes one group at a time, and
 * its path is from the root of all, not of a namespace.
 */
SEC("raw_tracepoint/cgroup_mkdir")
int on_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *group = (void *)ctx->args[0];
	unsigned int at = made & (GROUPS_KEPT - 1);
	volatile unsigned long long *id = &ids[at];
	struct group_path *path;

	if (BPF_CORE_READ(group, root, hierarchy_id) != 0) /* version 1 */
		return 0;
	path = bpf_map_lookup_elem(&paths, &at);
	if (!path)
		return 0;
	*id = 0;
	if (bpf_probe_read_kernel_str(path->text, sizeof(path->text), (void *)ctx->args[1]) <= 0)
		return 0;
	*id = BPF_CORE_READ(group, kn, id);
	made++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
