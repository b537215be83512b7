/* One recording: what was asked for, what it consists of, how far it has come. */
#ifndef CPROF_RECORD_RECORDER_H
#define CPROF_RECORD_RECORDER_H

#include "cmd/cprof-record/command.h"
#include "cmd/cprof-record/emit.h"
#include "cmd/cprof-record/ledger.h"
#include "cmd/cprof-record/notify.h"
#include "cmd/cprof-record/output.h"
#include "cmd/cprof-record/promise.h"
#include "cmd/cprof-record/targets.h"

struct recorder {
	struct options o;
	struct engine *engine;
	struct procs procs;
	struct queue queue;
	struct emit emit;
	struct opener *opener;
	struct tables tables;
	struct spaces spaces;
	struct ledger ledger;
	struct cpu_list online, cpus; /* those that the engine has; of those, the sampled ones */
	struct cpu_list unsampled;    /* online, but the engine could not be attached at the last look */
	bool unsampled_said;
	struct buf command_line;
	struct command command;
	struct targets targets;
	sigset_t mask_before;
	struct output output;
	int epoll, signals;
	int descriptors; /* the most that we may have */
	bool interrupted;
	uint64_t started, stopped;
	uint64_t own_started, own_stopped; /* CPU time of our own until recording had begun, and until it began to end */
	uint64_t hung_up; /* an event of a task ended then */
	uint64_t opened;  /* the engine: just before that */
	uint64_t settle_next; /* waits that go on are told of then, at the latest */
	uint64_t settled[2];  /* when that was begun last, and the time before */
	uint64_t settled_end[2]; /* and when it was done: what it told of ended until then */
	uint64_t settle_used; /* ns of CPU time, when a segment ended last */
	uint64_t stirred; /* a process did something that tells of mappings or names, or had a stack that is to be gone on with here */
	bool roused;      /* from a rest */
	uint64_t looked; /* which CPUs are online: then */
	bool progress;
	struct promise promise; /* of --max-cost */
	struct notify notify;
	struct held {
		bool is;
		uint64_t time;
		uint32_t pid;
		uint64_t start;
	} held; /* a mapping that was taken in, and waits in the queue to be told of */
	bool hurry; /* nothing waits for an unwind table */
	uint64_t metrics_written; /* when */
	bool metrics_failed;
	int metrics_dir; /* that the file is in; -1: none */
};

#endif
