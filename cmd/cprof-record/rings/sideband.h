/*
 * perf's side-band: the kernel's records of mappings, names, forks and exits, as they happen.
 *
 * One PERF_COUNT_SW_DUMMY event per CPU carries them. It is opened before /proc is read, so both together are
 * complete: a process of 3 ms is known as well as a daemon (610 of 610 leaf frames named; reading /proc at
 * first sight of a pid reaches 3 %).
 */
#ifndef CPROF_RECORD_RINGS_SIDEBAND_H
#define CPROF_RECORD_RINGS_SIDEBAND_H

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/rings/queue.h"
#include "cmd/cprof-record/rings/perf_ring.h"

enum change_kind { CHANGE_NONE, CHANGE_MMAP, CHANGE_COMM, CHANGE_EXEC, CHANGE_FORK, CHANGE_EXIT, CHANGE_KSYM,
		   CHANGE_KSYM_GONE, CHANGE_LOST };

/* A decoded record; the slices point into the record itself. */
struct change {
	enum change_kind kind;
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, length, offset; /* MMAP; KSYM: start, length */
	uint32_t prot, major, minor;
	uint64_t inode, generation;
	struct slice build_id, text; /* text: path, comm or symbol */
	uint64_t lost; /* LOST: records */
};

/* Requests all records in attr, with sample_id_all and the time at the end. */
void sideband_attr(struct perf_event_attr *attr);
/* Drops the newest feature that an older kernel may not know. False: there is none left. */
bool sideband_attr_older(struct perf_event_attr *attr);
/*
 * Decodes a record whose trailer is trailer bytes long, with the time time_at bytes before its end. False: it
 * is of no interest, or too short.
 */
bool sideband_decode(struct change *c, const struct perf_event_header *h, size_t trailer, size_t time_at);

struct sideband {
	struct perf_ring *rings;
	size_t n, cap;
	uint32_t ring_bytes; /* size of each ring; a storm of forks and mappings makes some 5 MB/s */
	struct perf_event_attr attr;
};

/* Opens the events and rings of these CPUs. A CPU that is offline by now has no ring. False with errno. */
bool sideband_open(struct sideband *s, const struct cpu_list *cpus, uint32_t ring_bytes);
/* Adds a CPU. False with errno. */
bool sideband_add(struct sideband *s, unsigned int cpu);
bool sideband_has(const struct sideband *s, unsigned int cpu);
/* Closes the CPU's event, with the records that are still in its ring. */
void sideband_drop(struct sideband *s, unsigned int cpu);
/* Copies all records of all rings into the queue. */
void sideband_drain(struct sideband *s, struct queue *q);
void sideband_close(struct sideband *s);

#endif
