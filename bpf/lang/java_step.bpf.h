/*
 * Lets the walk call java_step of common/walk/java_walk.h. Include it before percpu.bpf.h or
 * event_ring.bpf.h.
 */
#ifndef CPROF_BPF_LANG_JAVA_STEP_H
#define CPROF_BPF_LANG_JAVA_STEP_H

#include <linux/types.h>

#define WALK_ENV unsigned int
#define WALK_LANG_STEP java_step

__attribute__((noinline, weak)) int java_step(WALK_ENV env, __u64 pc);

#endif
