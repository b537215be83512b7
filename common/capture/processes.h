/*
 * Processes, their threads with command names, and their control groups.
 *
 *	wrong = process_apply(c, &r->process);	// NULL, or "a process defined twice"
 *
 * For capture_apply (see capture_internal.h). A forked process has its parent's mappings and control group until a
 * record changes them.
 */
#ifndef CPROF_CAPTURE_PROCESSES_H
#define CPROF_CAPTURE_PROCESSES_H

#include "common/capture/capture.h"

const char *process_apply(struct capture *c, const struct record_process *r);
const char *thread_apply(struct capture *c, const struct record_thread *r);
const char *comm_apply(struct capture *c, const struct record_comm *r);
const char *cgroup_apply(struct capture *c, const struct record_cgroup *r);
const char *member_apply(struct capture *c, const struct record_member *r);
const char *user_apply(struct capture *c, const struct record_user *r);
const char *owner_apply(struct capture *c, const struct record_owner *r);
/* Only checks the record: tools that show running time add it up themselves. */
const char *ran_apply(const struct capture *c, const struct record_ran *r);
const char *lock_apply(struct capture *c, const struct record_lock *r);
/* Checks the record, and gives the frames of its stack their places. */
const char *woken_apply(struct capture *c, const struct record_woken *r);
const char *parallel_apply(struct capture *c, const struct record_parallel *r);
const char *outside_apply(const struct capture *c, const struct record_outside *r);

#endif
