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
#ifndef CPROF_RECORD_HOST_H
#define CPROF_RECORD_HOST_H

#include "common/base/buf.h"

enum { CPU_MAX = 65535 }; /* the highest number that is taken for a CPU's */

struct cpu_list {
	unsigned int *items; /* ascending, each once */
	size_t n, cap;
};

/*
 * Says each fact that there is: host, boot-id, machine-id (derived, see machineid.h), kernel-release, arch, cpus-online (as
 * "0-3,8"), cpus-possible (their number) and start-realtime-ns: CLOCK_REALTIME at the time mono of
 * CLOCK_MONOTONIC. What cannot be read is left out.
 */
void host_facts(void (*say)(void *arg, const char *key, const char *value), void *arg, uint64_t mono);

/* Adds the CPUs of a list like "0-3,8" to cpus. False: error is a sentence (or is empty: no memory). */
bool cpu_list_parse(struct cpu_list *cpus, const char *text, struct buf *error);
bool cpu_list_has(const struct cpu_list *cpus, unsigned int cpu);
void cpu_list_release(struct cpu_list *cpus);

/* The CPUs that are online now, replacing what is in cpus. */
bool host_online_cpus(struct cpu_list *cpus);
/*
 * For -C: the list of the option's argument, of CPUs that are online all. False: error is a sentence
 * that names the CPU which is not.
 */
bool host_choose_cpus(struct cpu_list *cpus, const char *text, struct buf *error);

/* For each of these CPUs that is online: how long it has been idle since the machine started, by /proc/stat. */
void host_idle_each(const struct cpu_list *cpus, void (*each)(void *arg, unsigned int cpu, uint64_t ns), void *arg);

/* CLOCK_MONOTONIC, the time of all records. */
uint64_t host_mono_ns(void);
/* CLOCK_REALTIME when CLOCK_MONOTONIC was 0, by what both are now. */
uint64_t host_epoch_ns(void);

/*
 * Between these the user's rights alone count, for paths that the user gave: where capabilities came with the program's file,
 * /proc/PID/root would lead into what the user may not enter. Root keeps its own.
 */
void host_user_begin(void);
void host_user_end(void);

/*
 * The contents of a small file of /proc or /sys without white space at its end; errno is set on
 * false. At most 1 MiB is read.
 */
/* Lets us open as many files as we may; how many that is. */
int host_raise_files(void);
bool host_read(const char *path, struct buf *text);

#endif
