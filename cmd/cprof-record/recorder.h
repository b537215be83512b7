/* One recording: its options, its parts and its progress. Times are CLOCK_MONOTONIC, ns. */
#ifndef CPROF_RECORD_RECORDER_H
#define CPROF_RECORD_RECORDER_H

#include "cmd/cprof-record/process/command.h"
#include "cmd/cprof-record/encode/emit.h"
#include "cmd/cprof-record/encode/ledger.h"
#include "cmd/cprof-record/host/notify.h"
#include "cmd/cprof-record/output/metrics_file.h"
#include "cmd/cprof-record/output/output.h"
#include "cmd/cprof-record/cost_limit.h"
#include "cmd/cprof-record/process/targets.h"

struct recorder {
	struct options o;
	struct engine *engine;
	unsigned int hertz; /* the engine's rate; metrics and status need it after the engine is closed */
	struct procs procs;
	struct queue queue;
	struct emit emit;
	struct opener *opener;
	struct table_cache tables;
	struct user_walk user_walk;
	struct runtimes runtimes;
	struct ledger ledger;
	struct cpu_list online, cpus; /* CPUs that the engine has; the sampled ones of them */
	struct cpu_list unsampled;    /* online, but the engine could not be attached when last tried */
	uint64_t *cpu_starts;         /* by CPU: host_cpu_start before the engine was attached */
	size_t n_cpu_starts, cap_cpu_starts;
	bool unsampled_said;
	struct buf command_line;
	struct command command;
	struct targets targets;
	sigset_t mask_before;
	struct output output;
	int epoll, signals;
	int descriptors; /* limit of open descriptors */
	bool interrupted;
	uint64_t started, stopped;
	uint64_t own_started, own_stopped; /* the recorder's CPU time after the start, and before the end */
	uint64_t hung_up; /* when an event of a task ended */
	uint64_t opened;  /* just before the engine was opened */
	/* Reports of the waits that are still in progress: */
	uint64_t report_due;      /* when the next one is due */
	uint64_t reported[2];     /* when the last one began, and the one before */
	uint64_t reported_end[2]; /* when these ended: the reported waits end before that */
	uint64_t report_used;     /* CPU time of the one at the last end of a segment, ns */
	uint64_t last_change; /* when mappings or names last changed, or a stack had to be finished here */
	bool rest_ended;      /* early: there is something to read */
	uint64_t looked; /* when the online CPUs were last checked */
	bool progress;
	struct cost_limit cost_limit; /* --max-cost */
	struct notify notify;
	struct held {
		bool is;
		uint64_t time;
		uint32_t pid;
		uint64_t start;
	} held; /* a mapping that is applied, but waits in the queue to be written */
	bool dont_wait; /* nothing waits for an unwind table */
	bool overdue;   /* the last flush left items in the queue that wait */
	uint64_t metrics_written; /* when */
	bool metrics_failed;
	struct metrics_file metrics_file;
};

#endif
