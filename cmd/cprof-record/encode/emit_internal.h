/*
 * For the parts of emit.h only: emit_definitions.c writes definitions, emit_waits.c waits and run time, and
 * emit.c everything else.
 */
#ifndef CPROF_RECORD_ENCODE_EMIT_INTERNAL_H
#define CPROF_RECORD_ENCODE_EMIT_INTERNAL_H

#include "cmd/cprof-record/encode/emit.h"

/* The id of a process in perf_maps and jit_dumps: its address, which does not move until emit_gone. */
static inline uint64_t emit_watch_id(const struct proc *p)
{
	return (uintptr_t)p;
}

/* emit_definitions.c. Each definition is written once a segment, before its first use. */
void emit_record(struct emit *e, struct record r);
/* Writes a mapping of a process that the segment has. Watches the files of a JIT compiler that it shows. */
void emit_mapping(struct emit *e, struct proc *p, const struct map *m, uint64_t time);
/* The same for one that the process has added, if the stream needs it. */
void emit_mapped(struct emit *e, struct proc *p, const struct map *m, uint64_t time);
/* The process with its mappings; the thread with its process and its name. */
void emit_process(struct emit *e, struct proc *p);
void emit_task(struct emit *e, struct task *t, uint64_t time);
/*
 * Returns the id of the thread that samples outside of the recording are of: the first one of their process,
 * without mappings. If the segment has the process for another reason, it is the thread. 0: out of memory.
 */
uint64_t emit_outsider(struct emit *e, uint32_t pid, uint32_t tid, uint64_t cgroup, uint64_t time);
/* The control group of a process, if it is another one than before. 0: unknown. */
void emit_cgroup(struct emit *e, struct proc *p, uint64_t cgroup, uint64_t time);
/* The user of a process, likewise. owner: uid + 1. */
void emit_owner(struct emit *e, struct proc *p, uint32_t owner, uint64_t time);
/*
 * The new frames and nodes of the call tree, with kernel symbols, and mappings that the stack needs. user: its
 * node; p: its process, which added the frames.
 */
void emit_tree(struct emit *e, struct proc *p, uint64_t user, uint64_t time);
/* Writes a sample of any event, after its definitions. */
void emit_put_sample(struct emit *e, const struct record *r);

/* emit_waits.c */
/* Writes the events of waiting time, one for each enum wait_reason. */
void emit_wait_events(struct emit *e);
/* Notes what ended a wait, and the lock that it was for. */
void emit_waker(struct emit *e, const struct waker *w);
/* Writes a wait as one sample per reason, with the last stack of its wait site. The segment must have t. */
enum emitted emit_wait(struct emit *e, const struct wait *w, struct task *t);
/* Returns the time of the first sample that emit_wait may write. */
uint64_t emit_wait_time(const struct wait *w);
/* Writes how long a thread ran. The segment must have t. */
enum emitted emit_ran(struct emit *e, const struct ran *r, const struct task *t);

#endif
