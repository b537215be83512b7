/*
 * Explains why the kernel refused: one sentence that names the missing right or feature, found by looking at
 * the real state (capabilities, sysctls, seccomp, lockdown, kernel release), not a list of possible causes.
 *
 *	struct buf why = { 0 };
 *
 *	if (bpf_object__load(obj) < 0) {
 *		diagnose_bpf(errno, &why);
 *		...buf_cstr(&why)...
 *	}
 *
 * The sentence is appended. It begins with the refused call and ends without a full stop.
 */
#ifndef CPROF_RECORD_HOST_DIAGNOSE_H
#define CPROF_RECORD_HOST_DIAGNOSE_H

#include "common/base/buf.h"

/* Returns true if this capability (CAP_BPF, …) is effective, and in the user namespace where it counts. */
bool have_capability(int cap);

/*
 * Returns true if the kernel is locked down so far that BPF programs may not read its memory
 * ("confidentiality"). Any kernel then refuses the program that walks by tables.
 */
bool locked_confidential(void);

/* BPF programs or maps could not be loaded or attached; err is errno. */
void diagnose_bpf(int err, struct buf *sentence);
/* perf_event_open failed with err. system_wide: the event was to count a whole CPU, otherwise processes. */
void diagnose_perf(int err, bool system_wide, struct buf *sentence);
/* All addresses in /proc/kallsyms are zero. */
void diagnose_kallsyms(struct buf *sentence);

#endif
