/*
 * Facts about the machine that is recorded, and lists of its CPUs.
 *
 *	struct cpu_list cpus = { 0 };
 *	struct buf error = { 0 };
 *
 *	if (!cpu_list_parse(&cpus, "0-3,8", &error))
 *		...buf_cstr(&error) is a sentence...
 *	for (size_t i = 0; i < cpus.n; i++)
 *		...cpus.items[i]...
 *	cpu_list_release(&cpus);
 */
#ifndef CPROF_RECORD_HOST_HOST_H
#define CPROF_RECORD_HOST_HOST_H

#include "common/base/buf.h"

enum { CPU_MAX = 65535 }; /* the highest CPU number that is accepted */

/* The two ranges of kernel addresses in which the idle loop waits; 0: unknown. */
struct idle_ranges {
	unsigned long start[2], end[2];
};

struct cpu_list {
	unsigned int *items; /* ascending, each once */
	size_t n, cap;
};

/*
 * Passes each known fact to say: host, boot-id, machine-id (derived, see machineid.h), kernel-release, arch,
 * cpus-online (as "0-3,8"), cpus-possible (their number) and start-realtime-ns, which is real. Leaves out
 * facts that it cannot read.
 */
void host_facts(void (*say)(void *arg, const char *key, const char *value), void *arg, uint64_t real);

/* Adds the CPUs of a list like "0-3,8" to cpus. False: error is a sentence; empty: out of memory. */
bool cpu_list_parse(struct cpu_list *cpus, const char *text, struct buf *error);
bool cpu_list_has(const struct cpu_list *cpus, unsigned int cpu);
void cpu_list_release(struct cpu_list *cpus);

/* Replaces the list by the CPUs that are online now. Returns false if they cannot be read. */
bool host_online_cpus(struct cpu_list *cpus);
/*
 * Returns a number that is another one after the CPU was offline, if only for a moment; 0: unknown. It is the
 * inode of a directory that the kernel makes again when it starts the CPU, also after a suspend to memory:
 * drivers/base/topology.c, CPUHP_TOPOLOGY_PREPARE.
 */
uint64_t host_cpu_start(unsigned int cpu);
/*
 * Parses the argument of -C, a list of CPUs that must all be online. False: error is a sentence that names
 * the CPU which is offline, or the invalid list.
 */
bool host_choose_cpus(struct cpu_list *cpus, const char *text, struct buf *error);

/* Reports for each of these CPUs that is online its idle time since boot, in ns, from /proc/stat. */
void host_idle_each(const struct cpu_list *cpus, void (*each)(void *arg, unsigned int cpu, uint64_t ns), void *arg);

/* CLOCK_MONOTONIC in ns, the clock of all records. */
uint64_t host_mono_ns(void);
/* CPU time of this process so far, in ns. */
uint64_t host_cpu_ns(void);
/* CLOCK_BOOTTIME in ns: unlike CLOCK_MONOTONIC, it goes on while the machine is suspended. */
uint64_t host_boot_ns(void);
/* CLOCK_REALTIME in ns when CLOCK_MONOTONIC, or CLOCK_BOOTTIME, was 0, computed from the current values. */
uint64_t host_epoch_ns(void);
uint64_t host_boot_epoch_ns(void);

/*
 * Between these two calls only the user's rights count, for paths that the user gave. With file capabilities,
 * /proc/PID/root would lead into directories that the user may not enter. Root keeps its own rights.
 */
void host_user_begin(void);
void host_user_end(void);

/* Raises the soft limit of open files to the hard one. Returns the limit. */
int host_raise_files(void);
/*
 * Appends the contents of a small file of /proc or /sys, at most 1 MiB, without white space at the end.
 * False: errno.
 */
bool host_read(const char *path, struct buf *text);

#endif
