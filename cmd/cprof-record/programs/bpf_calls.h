/*
 * The programs of call probes, which keep the stack of calls of each thread.
 *
 *	struct bpf_calls *c = bpf_calls_open(options, sample, &error);
 *
 *	bpf_lang_calls(lang, bpf_calls_maps(c));	// samples get these stacks
 *	if (!bpf_calls_begin(c, &error))		// before the command starts
 *		...
 *	bpf_calls_counts(c, &counts);
 *	bpf_calls_close(c);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_CALLS_H
#define CPROF_RECORD_PROGRAMS_BPF_CALLS_H

#include "bpf/usdt_stacks.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/programs/bpf_lang.h"
#include "cmd/cprof-record/programs/uprobe.h"

struct bpf_calls;

/*
 * Loads the programs, and measures the cost of a hit. The options, which have call probes, and sample are lent.
 * NULL: error is a sentence.
 */
struct bpf_calls *bpf_calls_open(const struct options *o, const struct sample_bpf *sample, struct buf *error);
const struct bpf_lang_calls *bpf_calls_maps(const struct bpf_calls *c);
/* Sets the probes. cpu: any that is online. */
bool bpf_calls_begin(struct bpf_calls *c, unsigned int cpu, struct buf *error);
/* Removes them; the counts remain. */
void bpf_calls_stop(struct bpf_calls *c);
void bpf_calls_close(struct bpf_calls *c);

/* Cumulative. */
struct bpf_calls_counts {
	uint64_t n[USDT_COUNTS];
	/* Time of traps and programs, in ns, without the runtime's own work: of recorded processes, of all. */
	uint64_t added_ns, spent_ns;
};
void bpf_calls_counts(const struct bpf_calls *c, struct bpf_calls_counts *counts);
struct uprobe_cost bpf_calls_cost(const struct bpf_calls *c);

#endif
