/*
 * The names of control groups that are made while we record.
 *
 * A sample has the number of its group, and the name is asked for when the sample is written, up to a second later. A
 * group that lived for less, as a build's or a test's does, is gone by then, and nobody knows its name. So the newest ones
 * are kept here, the oldest of them overwritten; user space looks when it meets a number that it does not know. Nobody is
 * woken, and where no group is made nothing runs.
 *
 * It reads a group, whose members are where BTF has them: without BTF names are asked for as ever. By offsets rather than
 * relocations, for which libbpf would read all of BTF.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/groups.h"

/* Where they are: in struct cgroup, struct kernfs_node and struct cgroup_root. */
const volatile unsigned int kn_at = 0, root_at = 0, id_at = 0, hierarchy_at = 0;

/* The one that was made as the nth is at n % GROUPS_KEPT, in both. Its id is 0 while the path is written. */
unsigned long long made = 0;
unsigned long long ids[GROUPS_KEPT] = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROUPS_KEPT);
	__type(key, unsigned int);
	__type(value, struct group_path);
} paths SEC(".maps");

/* What is so far into the structure that is pointed to from there. */
static __always_inline long read_behind(void *to, unsigned int n, unsigned long pointer_at, unsigned int at)
{
	unsigned long structure = 0;

	if (bpf_probe_read_kernel(&structure, sizeof(structure), (void *)pointer_at))
		return -1;
	return bpf_probe_read_kernel(to, n, (void *)(structure + at));
}

/*
 * include/trace/events/cgroup.h: TP_PROTO(struct cgroup *cgrp, const char *path). The kernel makes one group at a time, and
 * its path is from the root of all, not of a namespace.
 */
SEC("raw_tracepoint/cgroup_mkdir")
int on_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned long group = ctx->args[0];
	unsigned int hierarchy = 0, at = made & (GROUPS_KEPT - 1);
	volatile unsigned long long *id = &ids[at];
	unsigned long long number = 0;
	struct group_path *path;

	if (read_behind(&hierarchy, sizeof(hierarchy), group + root_at, hierarchy_at) || hierarchy != 0) /* version 1 */
		return 0;
	path = bpf_map_lookup_elem(&paths, &at);
	if (!path)
		return 0;
	*id = 0;
	if (bpf_probe_read_kernel_str(path->text, sizeof(path->text), (void *)ctx->args[1]) <= 0)
		return 0;
	if (read_behind(&number, sizeof(number), group + kn_at, id_at))
		return 0;
	*id = number;
	made++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
