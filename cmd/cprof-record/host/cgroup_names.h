/*
 * Keeps the names of newly created control groups, by bpf/groups.bpf.c.
 *
 *	struct cgroup_names *g = cgroup_names_new();
 *	if (g && cgroup_names_find(g, id, &path, &cut))	// "/build/job-7", though it may be gone
 */
#ifndef CPROF_RECORD_HOST_CGROUP_NAMES_H
#define CPROF_RECORD_HOST_CGROUP_NAMES_H

#include "common/base/buf.h"

struct cgroup_names;

/* Starts keeping names. Returns NULL if the kernel does not allow it: it requires BPF and BTF. */
struct cgroup_names *cgroup_names_new(void);
void cgroup_names_free(struct cgroup_names *g); /* NULL is fine */
/*
 * Appends the path of a version 2 group in the hierarchy. cut: the path was too long for GROUP_PATH, and ends
 * in "...". Returns false if the group is not among the newest GROUPS_KEPT (bpf/groups.h).
 */
bool cgroup_names_find(const struct cgroup_names *g, uint64_t id, struct buf *path, bool *cut);

#endif
