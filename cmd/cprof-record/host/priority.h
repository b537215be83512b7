/*
 * The priority of the recorder and of the processes that it forks. On a machine whose CPUs are all busy, the
 * recorder must run briefly whenever a ring fills, and unwind tables must be ready while the process that
 * needs them exists.
 */
#ifndef CPROF_RECORD_HOST_PRIORITY_H
#define CPROF_RECORD_HOST_PRIORITY_H

#include <stdbool.h>

/*
 * Raises it if permitted (CAP_SYS_NICE, RLIMIT_NICE); alone: no command is recorded; then that of the session,
 * too, if the recorder leads it. A recorder under nice(1) keeps its priority.
 */
void priority_raise(bool alone);
/*
 * In a process that the recorder has forked for work of its own: leaves a session that could not be raised,
 * in which its nice value would count little, for a new one, which is raised.
 */
void priority_apart(void);
/*
 * Gives a process that makes unwind tables the highest priority, or the recorder's again, if that was raised:
 * stacks of a large program are cut until it has tables, but other users' files must not get the whole CPU.
 */
void priority_highest(bool highest);
/*
 * The kernel's choice when memory is out: a child that is forked between priority_first(fd, true) and
 * priority_first(fd, false) is taken before all other processes. The descriptor is for the process that
 * opened it, which must do so while it sees /proc; -1: it cannot, and the calls do nothing.
 */
int priority_open_score(void);
void priority_first(int fd, bool first);
/*
 * Restores the recorder's initial priority, in a process that runs a program for the user: in a new session
 * if that of the recorder was raised.
 */
void priority_reset(void);

#endif
