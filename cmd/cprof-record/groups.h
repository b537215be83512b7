/*
 * The names of control groups that are made from now on, kept by bpf/groups.bpf.c.
 *
 *	struct groups *g = groups_new();
 *	if (g && groups_find(g, id, &path, &cut))	// "/build/job-7", though it may be gone
 */
#ifndef CPROF_RECORD_GROUPS_H
#define CPROF_RECORD_GROUPS_H

#include "common/base/buf.h"

struct groups;

/* NULL where the kernel does not let us hear of them: it takes BPF and its type information. */
struct groups *groups_new(void);
void groups_free(struct groups *g); /* NULL is fine */
/*
 * Appends the path of a group of version 2 in the hierarchy; cut: it is longer than there is room for, and ends in "...". False where
 * the group is not among the newest GROUPS_KEPT (bpf/groups.h).
 */
bool groups_find(const struct groups *g, uint64_t id, struct buf *path, bool *cut);

#endif
