/*
 * The program that follows forks (bpf/follow.bpf.c): a child is sampled from its first instruction on, and
 * walked by its parent's mappings. Without it the side-band does so, but only the next time it is read.
 *
 *	bpf_follow_load(&f, options, sample, by_tables);
 *	bpf_follow_release(&f);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_FOLLOW_H
#define CPROF_RECORD_PROGRAMS_BPF_FOLLOW_H

#include <stdbool.h>

struct bpf_link;
struct follow_bpf;
struct options;
struct sample_bpf;

struct bpf_follow {
	struct follow_bpf *bpf;
	struct bpf_link *link; /* NULL: not loaded */
	bool tried;
};

/* Loads it, the first time it is called. Warns if it cannot and samples would be missing. */
void bpf_follow_load(struct bpf_follow *f, const struct options *o, const struct sample_bpf *sample,
		     bool by_tables);
void bpf_follow_release(struct bpf_follow *f);

#endif
