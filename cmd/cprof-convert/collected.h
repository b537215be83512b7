/*
 * All samples that pass the filters, as stacks by address.
 *
 *	struct collected it = { .timed = false };
 *	enum status status = collect_all(&conversion, &it);
 *
 *	...it.traces...
 *	traces_release(&it.traces);
 */
#ifndef CPROF_CONVERT_COLLECTED_H
#define CPROF_CONVERT_COLLECTED_H

#include "cmd/cprof-convert/convert.h"
#include "cmd/shared/input.h"
#include "common/export/collect.h"
#include "common/export/traces.h"

struct collected {
	bool timed; /* set by the caller: single samples are collected, too */
	bool wakers; /* likewise: waits are apart by their wakers */
	struct collect collect;
	struct traces traces;
	struct loaded loaded;
	const struct view *view;
	uint64_t chosen_ns; /* capture time between --from and --to */
};

/*
 * Returns whether the samples' weights count. --weight ns uses the weights of captures, and counted events
 * count as they are. The counts of folded text, read with captures, are such weights then, as in cprof-fold.
 */
bool weight_counts(const struct conversion *c, const struct collected *it);
/* Reads all operands. Returns the status to end with if writing succeeds. */
enum status collect_all(struct conversion *c, struct collected *it);
/* Reports the waits of the captures if neither --wall nor --event chose among them. */
void warn_waits(const struct conversion *c, const struct loaded *l);
/* Returns "cprof-convert 1.2". */
const char *creator_name(void);
void write_stdout(struct slice bytes);
/* Warns of losses, if there are any. */
void warn_losses(const struct loaded *l);

#endif
