/*
 * The priority of the recorder and of the processes that it forks: on a machine whose CPUs are all busy it must run for a
 * moment whenever a ring fills, and tables for unwinding must come while the process that needs them is there.
 */
#ifndef CPROF_RECORD_PRIORITY_H
#define CPROF_RECORD_PRIORITY_H

/* Raises it, where that is allowed (CAP_SYS_NICE, RLIMIT_NICE) and nobody chose another: a recorder under nice(1) keeps that. */
void priority_raise(void);
/* In a process that runs a program for the user: has what the recorder began with. */
void priority_reset(void);

#endif
