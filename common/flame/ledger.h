/*
 * What a picture says of its own worth: samples expected, got and lost, truncated stacks, code without a name.
 *
 *	ledger_add(&picture, &(struct ledger){ .totals = &totals, .sums = &sums, .lost = "", .captures = true });
 *
 * The words are those of cprof-top's header.
 */
#ifndef CPROF_FLAME_LEDGER_H
#define CPROF_FLAME_LEDGER_H

#include "common/flame/picture.h"
#include "common/profile/gather.h"

struct ledger {
	const char *side; /* "Before", "After"; NULL: there is one */
	const struct capture_totals *totals;
	const struct gather_sums *sums;
	const char *lost; /* what was lost and why, "" if nothing was */
	bool captures, texts; /* what was read: of folded text nothing is known */
};

/* Adds its lines to the picture's facts; picture->failed without memory. */
void ledger_add(struct picture *pic, const struct ledger *l);

#endif
