/*
 * The process that reads executable mappings from /proc, for maps_reader.h. It writes them into a memfd that
 * the recorder has open as well.
 *
 *	maps_process_run(memory, sock, parent, again);	// in the forked process; does not return
 *
 * Both sides are this program, so questions, answers and mappings need no stable format.
 */
#ifndef CPROF_RECORD_HELPER_MAPS_PROCESS_H
#define CPROF_RECORD_HELPER_MAPS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MAPS_PROCESS_PATH = 4096,
	MAPS_PROCESS_ID = 64,
	MAPS_PROCESS_MOST = 256 << 20, /* bytes of one process's mappings */
	/* A reading ends with this many, or after this many ms if it has LEAST: a process can have 65,000, and
	 * hold their lock most of the time. Before Linux 6.11, all mappings count for LEAST: each is a line
	 * of text. */
	MAPS_PROCESS_MAPPINGS = 32768,
	MAPS_PROCESS_LEAST = 4096,
	MAPS_PROCESS_MS = 200,
	MAPS_PROCESS_ALL_MS = 1000, /* likewise, at the start, when no samples are taken */
};

struct maps_process_question {
	uint32_t id, pid;
	bool bare; /* addresses alone */
	bool all;  /* a part of a scan of all processes */
};

struct maps_process_answer {
	uint32_t id;
	uint64_t bytes;  /* in the memfd, from its beginning */
	uint64_t until;  /* mappings from this address on were not read; UINT64_MAX: all were */
	uint64_t took;   /* ns */
	uint64_t cpu_ns; /* CPU time of this process so far */
};

/* In the memfd: this, the path, the build ID, and padding to 8 bytes. */
struct maps_process_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor, prot;
	uint32_t path_n, id_n;
	bool by_query; /* the kernel was asked for the build ID */
};

void maps_process_run(int memory, int sock, pid_t parent, bool again);

#endif
