/*
 * The opener's processes, which look up, open and copy files that other users chose. See opener.h.
 *
 *	opener_process_run(&own, sock, parent, again, remote);	// in the forked process; does not return
 *
 * A question is a struct opener_process_ask followed by its path and build ID. The answer is a struct
 * opener_process_report with the descriptor. Both sides are this program, so the messages need no stable format.
 */
#ifndef CPROF_RECORD_HELPER_OPENER_PROCESS_H
#define CPROF_RECORD_HELPER_OPENER_PROCESS_H

#include "cmd/cprof-record/host/build_id.h"
#include "cmd/cprof-record/helper/opener.h"
#include "cmd/cprof-record/helper/silent_devices.h"

enum { OPENER_PROCESS_PATH = 4095 };

struct opener_process_ask {
	enum opener_want want;
	uint32_t id;
	uint64_t place;
	uint32_t pid, nspid;
	uint64_t start, end, major, minor, inode, from;
	uint32_t path_n, id_n;
	uint8_t bytes[];
};

enum opener_process_kind {
	OPENER_PROCESS_TOUCHES, /* the process is about to access this device, or any (0); it may never answer */
	OPENER_PROCESS_ELSEWHERE, /* this process opens only local files, and the file may not be local */
	OPENER_PROCESS_ANSWER,
};

struct opener_process_report {
	enum opener_process_kind kind;
	uint32_t id;
	uint64_t major, minor; /* for OPENER_PROCESS_TOUCHES */
	enum opener_said said;
	int error;
	bool copied;
	uint64_t from;
	uint64_t dev, inode, size;
	uid_t uid;
	int64_t written;
	uint64_t cpu_ns; /* CPU time of this process so far */
	uint32_t id_n;
	uint8_t build_id[ELF_ID_MAX];
};

/* Knowledge about file systems, which the recorder and its processes have. */
struct opener_process {
	struct mounts mounts;
	struct silent_devices silent;
};

void opener_process_release(struct opener_process *o);
void opener_process_run(struct opener_process *o, int sock, pid_t parent, bool again, bool remote);

#endif
