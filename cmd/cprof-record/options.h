/* What the command line asks for. */
#ifndef CPROF_RECORD_OPTIONS_H
#define CPROF_RECORD_OPTIONS_H

#include <sys/types.h>

#include "cmd/cprof-record/host.h"

enum engine_kind { ENGINE_AUTO, ENGINE_BPF, ENGINE_PERF };

struct options {
	bool all, user_only, kernel_only, quiet, cycles, depth_asked;
	pid_t *pids, *tids; /* of -p and -t */
	size_t n_pids, n_tids;
	unsigned int hertz;
	double seconds;     /* 0: until interrupted */
	unsigned int depth; /* addresses of each half of a stack */
	enum engine_kind engine;
	struct cpu_list cpus; /* of -C; n is 0 where none were chosen */
	const char *output;   /* NULL: standard output */
	char **command;       /* NULL: none */
};

/* Reads the command line; ends the program where it makes no sense. */
void options_parse(struct options *o, int argc, char **argv);
/* Is this CPU to be sampled? All are listened to: what runs here may have been mapped there. */
bool options_samples(const struct options *o, unsigned int cpu);
/* Are single processes or threads meant, and not the system? */
bool options_targeted(const struct options *o);

#endif
