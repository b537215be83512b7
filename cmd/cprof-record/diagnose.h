/*
 * Why the kernel refused: one sentence that names what is missing, after a look at the real state
 * (capabilities, sysctls, seccomp, lockdown, kernel release), not a list of what it might be.
 *
 *	struct buf why = { 0 };
 *
 *	if (bpf_object__load(obj) < 0) {
 *		diagnose_bpf(errno, &why);
 *		...buf_cstr(&why)...
 *	}
 *
 * A sentence begins with what was refused and ends without a full stop.
 */
#ifndef CPROF_RECORD_DIAGNOSE_H
#define CPROF_RECORD_DIAGNOSE_H

#include "common/base/buf.h"

/* Is this capability (CAP_BPF, …) effective, and are we in the namespace where it counts? */
bool have_capability(int cap);

/*
 * Is the kernel locked down so far that BPF programs may not read its memory ("confidentiality")? Then the program that
 * walks by tables is refused, whatever the kernel.
 */
bool locked_confidential(void);

/* BPF programs or maps could not be loaded or attached; err is errno. */
void diagnose_bpf(int err, struct buf *sentence);
/*
 * perf_event_open failed. system_wide: a CPU was asked for, whatever runs on it; else processes were.
 */
void diagnose_perf(int err, bool system_wide, struct buf *sentence);
/* All addresses in /proc/kallsyms are zero. */
void diagnose_kallsyms(struct buf *sentence);

#endif
