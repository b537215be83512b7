/*
 * The opener's processes, which look up, open and copy files that other users chose. See opener.h.
 *
 *	openings_run(&own, sock, parent, again, remote);	// in the forked process; does not return
 *
 * A question is a struct openings_ask followed by its path and build ID. The answer is a struct
 * openings_report with the descriptor. Both sides are this program, so the messages need no stable format.
 */
#ifndef CPROF_RECORD_HELPER_OPENER_PROCESS_H
#define CPROF_RECORD_HELPER_OPENER_PROCESS_H

#include "cmd/cprof-record/host/build_id.h"
#include "cmd/cprof-record/helper/opener.h"

enum { OPENINGS_PATH = 4095 };

struct openings_ask {
	enum opener_want want;
	uint32_t id;
	uint64_t place;
	uint32_t pid, nspid;
	uint64_t start, end, major, minor, inode, from;
	uint32_t path_n, id_n;
	uint8_t bytes[];
};

enum openings_kind {
	OPENINGS_TOUCHES, /* the process is about to access this device, and may never answer */
	OPENINGS_ELSEWHERE, /* this process opens only local files, and the file may not be local */
	OPENINGS_ANSWER,
};

struct openings_report {
	enum openings_kind kind;
	uint32_t id;
	uint64_t major, minor; /* for OPENINGS_TOUCHES */
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
struct openings {
	struct mounts mounts;
	struct mount_device *silent; /* devices that are never accessed again */
	size_t n_silent, cap;
};

bool openings_is_silent(const struct openings *o, uint64_t major, uint64_t minor);
void openings_set_silent(struct openings *o, uint64_t major, uint64_t minor);
void openings_release(struct openings *o);
void openings_run(struct openings *o, int sock, pid_t parent, bool again, bool remote);

#endif
