/* The options of the command line. */
#ifndef CPROF_RECORD_CONFIG_OPTIONS_H
#define CPROF_RECORD_CONFIG_OPTIONS_H

#include <sys/types.h>

#include "cmd/cprof-record/host/cgroup.h"
#include "cmd/cprof-record/config/call_probes.h"
#include "cmd/cprof-record/config/event_spec.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/config/memory_plan.h"
#include "cmd/cprof-record/host/trigger.h"

enum engine_kind { ENGINE_AUTO, ENGINE_BPF, ENGINE_PERF };

/* How user stacks are unwound. The walk chooses between tables and frame pointers for each frame. */
enum unwind_by {
	BY_AUTO,  /* by tables; by frame pointers for code without one, or if none are available */
	BY_TABLE, /* the same, but the recording fails if tables are not available */
	BY_FP,    /* by frame pointers only, as the kernel does */
};

struct options {
	bool all, user_only, kernel_only, quiet, verbose, depth_asked;
	pid_t *pids, *tids; /* from -p and -t */
	size_t n_pids, n_tids;
	struct cgroup_place *groups; /* from --cgroup and --container */
	size_t n_groups, cap_groups;
	const char **labels; /* from -l: "key=value" */
	size_t n_labels, cap_labels;
	unsigned int languages; /* bits by enum lang_kind: frames of these interpreted languages are recorded */
	bool languages_asked;
	const char *calls_text;	   /* from --usdt-stacks; NULL: none */
	struct call_probes *calls; /* the probes of this provider */
	bool ticks;           /* sample by each CPU's clock, or with cycles by that counter instead */
	bool cycles, events_asked;
	struct event events[EVENTS_MAX]; /* further events */
	size_t n_events;
	unsigned int most;    /* samples per event, second and CPU, about; hardware events use hertz */
	unsigned int hertz;   /* rate of the clock; the engine has the current rates */
	bool dither;          /* vary the periods of ticks */
	double max_cost;      /* cost limit, a share of a CPU per CPU; 0: none */
	bool off_cpu;        /* record waiting time */
	bool latency;        /* count at each tick the threads that have a CPU */
	uint64_t off_cpu_ns; /* waits are recorded once they add up to this time */
	double seconds;     /* 0: until interrupted */
	unsigned int depth;       /* addresses of each half of a stack, at most */
	unsigned int chain_depth; /* depth, or less: the kernel's limit, kernel.perf_event_max_stack */
	unsigned int hit_depth;   /* somewhat more, for stacks whose innermost frames are not shown */
	enum engine_kind engine;
	enum unwind_by unwind;
	bool no_tables;      /* unwind tables are not built for this architecture: unwind is BY_FP */
	bool always_copy;    /* copy the stack with each sample, to verify walks; no option sets it */
	uint64_t mem, unwind_mem; /* bytes: all memory; unwind tables; 0: not given */
	struct memory memory;     /* the plan for the opened engine: plan_memory in main.c */
	struct cpu_list cpus; /* from -C; n is 0 without it */
	const char *output;   /* NULL: standard output */
	/* A series of files if one of these is not 0; see output.h. */
	uint64_t rotate_ns, rotate_bytes;
	uint64_t keep_ns, keep_bytes; /* 0: keep all */
	mode_t mode;                  /* for new files, less the umask */
	const char *on_rotate;        /* NULL: no command */
	uint64_t ring_ns, ring_bytes; /* ring_ns 0: no flight buffer */
	struct trigger *whens;           /* any of these conditions makes the flight buffer be written */
	size_t n_whens, cap_whens;
	const char *metrics;          /* file; NULL: none */
	char **command;       /* NULL: none */
	bool exit_status;     /* end with the status of the command */
	bool timed_pids;      /* -p was given: a command only limits the time */
};

/* Parses the command line; ends the program if it is invalid. Strings in o point into argv. */
void options_parse(struct options *o, int argc, char **argv);
/* Returns true if this CPU is sampled. The side-band comes from all CPUs, as processes move between them. */
static inline bool options_samples(const struct options *o, unsigned int cpu)
{
	return o->cpus.n == 0 || cpu_list_has(&o->cpus, cpu);
}

/* Returns true if single processes or threads are recorded rather than the system. */
static inline bool options_targeted(const struct options *o)
{
	return o->n_pids || o->n_tids || (o->command && !o->all);
}

/* Returns true if the command only limits the time of the recording: -a, -p or -t. */
static inline bool options_times_command(const struct options *o)
{
	return o->command && (o->all || o->timed_pids || o->n_tids);
}

#endif
