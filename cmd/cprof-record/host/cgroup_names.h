/*
 * Keeps the names of newly created control groups, by bpf/groups.bpf.c.
 *
 *	struct groups *g = groups_new();
 *	if (g && groups_find(g, id, &path, &cut))	// "/build/job-7", though it may be gone
 */
#ifndef CPROF_RECORD_HOST_CGROUP_NAMES_H
#define CPROF_RECORD_HOST_CGROUP_NAMES_H

#include "common/base/buf.h"

struct groups;

/* Starts keeping names. Returns NULL if the kernel does not allow it: it requires BPF and BTF. */
struct groups *groups_new(void);
void groups_free(struct groups *g); /* NULL is fine */
/*
 * Appends the path of a version 2 group in the hierarchy. cut: the path was too long for GROUP_PATH, and ends
 * in "...". Returns false if the group is not among the newest GROUPS_KEPT (bpf/groups.h).
 */
bool groups_find(const struct groups *g, uint64_t id, struct buf *path, bool *cut);

#endif
