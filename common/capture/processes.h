/*
 * Who runs: processes, their threads with the commands of those, and the control groups that they are members of.
 *
 *	wrong = process_apply(c, &r->process);	// NULL, or "a process defined twice"
 *
 * For capture_apply. A process that was forked has its parent's mappings and control group until it is told otherwise.
 */
#ifndef CPROF_CAPTURE_PROCESSES_H
#define CPROF_CAPTURE_PROCESSES_H

#include "common/capture/capture.h"

const char *process_apply(struct capture *c, const struct record_process *r);
const char *thread_apply(struct capture *c, const struct record_thread *r);
const char *comm_apply(struct capture *c, const struct record_comm *r);
const char *cgroup_apply(struct capture *c, const struct record_cgroup *r);
const char *member_apply(struct capture *c, const struct record_member *r);
/* Changes nothing: what a thread ran is for those to add up who show it. */
const char *ran_apply(const struct capture *c, const struct record_ran *r);

#endif
