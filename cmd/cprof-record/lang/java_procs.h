/*
 * Processes with a JVM: reads how each one is laid out, and publishes that to the BPF programs.
 *
 *	struct java_procs *js = java_procs_new(bpf);	// lent
 *
 *	java_procs_add(js, p, &image, bias);		// libjvm was mapped
 *	...when java_procs_fd(js) is readable, and at each drain...
 *	java_procs_step(js, now, &complaint);
 *	java_procs_gone(js, p);
 *	java_procs_free(js);
 *
 * A layout is published once for all processes that have it. Each process is read on its own all the same:
 * one that lies is wrong about itself only.
 */
#ifndef CPROF_RECORD_LANG_JAVA_PROCS_H
#define CPROF_RECORD_LANG_JAVA_PROCS_H

#include "cmd/cprof-record/process/procs.h"
#include "cmd/cprof-record/programs/bpf_lang.h"

struct java_procs;

/* Returns NULL with errno. */
struct java_procs *java_procs_new(struct bpf_lang *bpf);
/* Returns a descriptor that is readable when java_procs_step has something to do. It never changes. */
int java_procs_fd(const struct java_procs *js);
/* libjvm of this image is mapped in the process, or now elsewhere. bias: run-time address less linked one. */
void java_procs_add(struct java_procs *js, const struct proc *p, const struct lang_image *image,
		    uint64_t bias);
/* The child has its parent's memory. */
void java_procs_forked(struct java_procs *js, const struct proc *parent, const struct proc *child);
/* The process, or this image of it, is gone. */
void java_procs_gone(struct java_procs *js, const struct proc *p);
/* All functions were forgotten: the programs send those that still run again. */
void java_procs_restart(struct java_procs *js);
/*
 * Asks due questions, and publishes answers. Never waits. If a JVM is refused for a new reason, and
 * complaint is empty, appends a sentence.
 */
void java_procs_step(struct java_procs *js, uint64_t now, struct buf *complaint);

/* Returns why the programs did not know the JVM of this process at that time; LANG_OK: they did. */
enum lang_state java_procs_state(const struct java_procs *js, const struct proc *p, uint64_t time);

/* Returns the CPU time of the processes that read, in ns. */
uint64_t java_procs_cpu_ns(const struct java_procs *js);

void java_procs_free(struct java_procs *js);

#endif
