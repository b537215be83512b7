/*
 * The sampling object (bpf/sample.bpf.c), loaded in the best way that the options allow and this kernel
 * accepts, with its per-CPU rings and its unwind tables.
 *
 *	if (!bpf_sampler_load(&s, options, &idle))
 *		...errno...
 *	...attach s.ticks to the perf event of each CPU...
 *	bpf_sampler_release(&s);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_SAMPLER_H
#define CPROF_RECORD_PROGRAMS_BPF_SAMPLER_H

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/programs/bpf_percpu.h"
#include "cmd/cprof-record/programs/bpf_tables.h"

struct bpf_program;

struct bpf_sampler {
	struct sample_bpf *bpf;
	struct bpf_program *ticks; /* called at each tick */
	struct percpu percpu;
	struct bpf_tables tables;
	struct store *store; /* backed by tables; NULL: user stacks are unwound by frame pointers alone */
	bool walks;          /* ticks walks by tables itself; otherwise bpf_tables_load_walk adds the walk */
	int walk_errno;      /* from loading the program that walks by tables; 0: none, or it is not wanted */
	bool walk_refused;   /* by the verifier */
};

/* The sampler is zeroed before; release it in any case. False: errno. */
bool bpf_sampler_load(struct bpf_sampler *s, const struct options *o, const struct idle_ranges *idle);
/* Sets the group at an index of the options, by its descriptor, for all objects. False: errno. */
bool bpf_sampler_group(const struct bpf_sampler *s, size_t place, int fd);
void bpf_sampler_release(struct bpf_sampler *s);

#endif
