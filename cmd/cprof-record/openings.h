/*
 * The opener's processes: here files that other users chose are looked at, opened, and copied. See opener.h.
 *
 *	openings_run(&own, sock, parent, again, remote);	// in a process that was forked for it
 *
 * A question is a struct openings_ask with its path and build ID behind it, the answer a struct openings_report, with the
 * descriptor. Both are of our own making, as their processes are.
 */
#ifndef CPROF_RECORD_OPENINGS_H
#define CPROF_RECORD_OPENINGS_H

#include "cmd/cprof-record/elfid.h"
#include "cmd/cprof-record/opener.h"

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
	OPENINGS_TOUCHES, /* it is about to ask this device; the answer follows, or nothing any more */
	OPENINGS_ELSEWHERE, /* local files alone are opened here, and this may be none */
	OPENINGS_ANSWER,
};

struct openings_report {
	enum openings_kind kind;
	uint32_t id;
	uint64_t major, minor; /* touched */
	enum opener_said said;
	int error;
	bool copied;
	uint64_t from;
	uint64_t dev, inode, size;
	uid_t uid;
	int64_t written;
	uint64_t cpu_ns; /* of this process so far */
	uint32_t id_n;
	uint8_t build_id[ELF_ID_MAX];
};

/* Knowledge of file systems, which both have. */
struct openings {
	struct mounts mounts;
	struct mount_device *silent; /* never to be asked again */
	size_t n_silent, cap;
};

bool openings_is_silent(const struct openings *o, uint64_t major, uint64_t minor);
void openings_set_silent(struct openings *o, uint64_t major, uint64_t minor);
void openings_release(struct openings *o);
void openings_run(struct openings *o, int sock, pid_t parent, bool again, bool remote);

#endif
