/* What the command line asks for. */
#ifndef CPROF_RECORD_OPTIONS_H
#define CPROF_RECORD_OPTIONS_H

#include <sys/types.h>

#include "cmd/cprof-record/cgroup.h"
#include "cmd/cprof-record/events.h"
#include "cmd/cprof-record/host.h"
#include "cmd/cprof-record/memory.h"
#include "cmd/cprof-record/when.h"

enum engine_kind { ENGINE_AUTO, ENGINE_BPF, ENGINE_PERF };

/* How user stacks are followed; which of its steps goes by what, the walk finds out by itself. */
enum unwind_by {
	BY_AUTO,  /* by tables, and frame pointers where there is none; where tables cannot be had at all, as BY_FP */
	BY_TABLE, /* the same, but where tables cannot be had at all the recording fails */
	BY_FP,    /* as the kernel does, by frame pointers alone */
};

struct options {
	bool all, user_only, kernel_only, quiet, verbose, depth_asked;
	pid_t *pids, *tids; /* of -p and -t */
	size_t n_pids, n_tids;
	struct cgroup_place *groups; /* of --cgroup and --container */
	size_t n_groups, cap_groups;
	const char **labels; /* of -l: "key=value" */
	size_t n_labels, cap_labels;
	bool ticks;           /* the clock of each CPU samples, or with cycles that counter in its place */
	bool cycles, events_asked;
	struct event events[EVENTS_MAX]; /* further ones */
	size_t n_events;
	unsigned int most;    /* samples of each of those in a second on a CPU, about; hardware has hertz */
	unsigned int hertz;   /* now; it changes with max_cost, as most does */
	bool dither;          /* the periods of ticks move */
	double max_cost;      /* share of a CPU per CPU; 0: whatever it takes */
	bool off_cpu;        /* waiting time, too */
	uint64_t off_cpu_ns; /* waits are told of when they come to so much */
	double seconds;     /* 0: until interrupted */
	unsigned int depth;       /* addresses of each half of a stack */
	unsigned int chain_depth; /* as far as the kernel follows chains: depth, or less; see limit_depth in main.c */
	unsigned int hit_depth;   /* chain_depth and somewhat more, for stacks of which the innermost frames are not shown */
	enum engine_kind engine;
	enum unwind_by unwind;
	bool no_tables;      /* they are not built for this machine's registers: unwind is BY_FP */
	bool always_copy;    /* each stack goes along with its sample, to check what was walked; no option sets it */
	uint64_t mem, unwind_mem; /* bytes: of all that is allocated, and of unwind tables; 0: not given */
	struct memory memory;     /* what follows from that for the engine that is opened, see main.c */
	struct cpu_list cpus; /* of -C; n is 0 where none were chosen */
	const char *output;   /* NULL: standard output */
	/* One file after the other, where one of these is not 0; see output.h. */
	uint64_t rotate_ns, rotate_bytes;
	uint64_t keep_ns, keep_bytes; /* 0: all are kept */
	mode_t mode;                  /* of files that are made, less the umask */
	const char *on_rotate;        /* NULL: no command */
	uint64_t ring_ns, ring_bytes; /* ring_ns 0: nothing is kept in memory */
	struct when *whens;           /* each of them lets it be written */
	size_t n_whens, cap_whens;
	const char *metrics;          /* file; NULL: none */
	char **command;       /* NULL: none */
};

/* Reads the command line; ends the program where it makes no sense. */
void options_parse(struct options *o, int argc, char **argv);
/* Is this CPU to be sampled? All are listened to: what runs here may have been mapped there. */
bool options_samples(const struct options *o, unsigned int cpu);
/* Are single processes or threads meant, and not the system? */
bool options_targeted(const struct options *o);

#endif
