/*
 * perf's side-band: who was mapped, named, forked, gone, told by the kernel as it happens.
 *
 * One PERF_COUNT_SW_DUMMY event per CPU carries it. Opened before /proc is read, it makes the two
 * together complete: a process of 3 ms is known as well as a daemon (610 of 610 leaf frames named,
 * where reading /proc at first sight of a pid reaches 3 %).
 */
#ifndef CPROF_RECORD_SIDEBAND_H
#define CPROF_RECORD_SIDEBAND_H

#include "cmd/cprof-record/host.h"
#include "cmd/cprof-record/queue.h"
#include "cmd/cprof-record/ring.h"

enum change_kind { CHANGE_NONE, CHANGE_MMAP, CHANGE_COMM, CHANGE_EXEC, CHANGE_FORK, CHANGE_EXIT, CHANGE_KSYM,
		   CHANGE_KSYM_GONE, CHANGE_LOST };

/* One record, decoded; slices point into it. */
struct change {
	enum change_kind kind;
	uint64_t time;
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, length, offset; /* MMAP; KSYM: start, length */
	uint32_t prot, major, minor;
	uint64_t inode, generation;
	struct slice build_id, text; /* text: path, comm or symbol */
	uint64_t lost;
};

/* Asks for all of it in attr; sample_id_all with the time at the end. */
void sideband_attr(struct perf_event_attr *attr);
/* The same without what this kernel does not know; false when there is nothing left to leave out. */
bool sideband_attr_older(struct perf_event_attr *attr);
/* Decodes a record whose trailer is trailer bytes long, with the time at time_at from its end. */
bool sideband_decode(struct change *c, const struct perf_event_header *h, size_t trailer, size_t time_at);

struct sideband {
	struct ring *rings;
	size_t n, cap;
	uint32_t ring_bytes; /* of each; a storm of forks and mappings makes some 5 MB/s */
	struct perf_event_attr attr;
};

/* False: errno. A CPU that is offline by now has no ring. */
bool sideband_open(struct sideband *s, const struct cpu_list *cpus, uint32_t ring_bytes);
bool sideband_add(struct sideband *s, unsigned int cpu);
bool sideband_has(const struct sideband *s, unsigned int cpu);
void sideband_drop(struct sideband *s, unsigned int cpu);
void sideband_drain(struct sideband *s, struct queue *q);
void sideband_close(struct sideband *s);

#endif
