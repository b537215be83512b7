/*
 * Reads the executable mappings of processes, without waiting for what a process may do to its memory.
 *
 *	struct maps_reader m;
 *
 *	maps_reader_init(&m);
 *	maps_reader_read(&m, pid, false, found, arg);	// found(arg, &mapping) for each
 *	...
 *	maps_reader_ask(&m, pid, false);			// the same without waiting
 *	maps_reader_take(&m, now, found, arg, &until);	// now and then, until there is an answer
 *	maps_reader_release(&m);
 *
 * To read /proc/PID/maps, the kernel takes the lock of the process's memory. The process can hold it for
 * ever: it maps over a written page of a file system that does not answer. The reader would wait in the
 * kernel, where only SIGKILL ends the wait. So a helper process reads (maps_process.c), and is replaced after
 * MAPS_READER_WAIT.
 */
#ifndef CPROF_RECORD_HELPER_MAPS_READER_H
#define CPROF_RECORD_HELPER_MAPS_READER_H

#include "common/foreign/helper.h"
#include "cmd/cprof-record/helper/silent_users.h"
#include "common/base/buf.h"

enum {
	MAPS_READER_WAIT = 250,    /* ms */
	MAPS_READER_HURRY = 25,    /* the same, after MAPS_READER_PATIENT vain waits */
	MAPS_READER_PATIENT = 16,
	MAPS_READER_KILLED = 64,
};

struct maps_reader {
	struct helper h;
	int memory; /* the memfd of the helper's answers; -1: none */
	uint32_t questions;
	bool all; /* set by the caller during a scan of all processes */
	uint64_t helper_ns, cpu_ns; /* CPU time of the present helper, and of all */
	uint64_t silent;   /* vain waits */
	uint64_t left_out; /* processes that were not read */
	uint64_t cut; /* likewise, that were read in part: they have too many, or hold the lock too often */
	struct maps_pending {
		uint32_t pid; /* 0: nothing is asked */
		uint64_t asked, look; /* look: time of the next look whether the helper runs */
		uint64_t took;        /* how long the last one took */
	} pending;
	struct silent_users users;
	pid_t killed[MAPS_READER_KILLED];
	size_t n_killed;
	struct buf bytes;
	struct buf complaint; /* a sentence that is not printed yet, or empty */
};

/* Lent for the call. */
struct maps_reader_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor, prot;
	struct slice path, build_id;
	bool by_query; /* the kernel was asked for the build ID, which is missing if the file is not local */
};

typedef void maps_reader_found(void *arg, const struct maps_reader_mapping *m);

void maps_reader_init(struct maps_reader *m);
/* Starts the helper early, while the recorder is small. False: errno. */
bool maps_reader_begin(struct maps_reader *m);
void maps_reader_release(struct maps_reader *m);
/*
 * bare: addresses alone, without paths and build IDs, which takes 1 µs a mapping instead of 40. False: the
 * process has no mappings, or is gone. True: there were some, or it does not let itself be read.
 */
bool maps_reader_read(struct maps_reader *m, uint32_t pid, bool bare, maps_reader_found *found, void *arg);

enum maps_reader_said {
	MAPS_READER_NOTHING, /* there is no answer yet */
	MAPS_READER_READ,
	MAPS_READER_LOST,    /* there will be none */
};

/* Asks without waiting. One question can be asked at a time, and none by maps_reader_read meanwhile. */
bool maps_reader_ask(struct maps_reader *m, uint32_t pid, bool bare);
/* *until: mappings from this address on were left out; UINT64_MAX: none were. */
enum maps_reader_said maps_reader_take(struct maps_reader *m, uint64_t now, maps_reader_found *found,
				       void *arg, uint64_t *until);

#endif
