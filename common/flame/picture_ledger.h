/*
 * The lines of a picture about its data: samples expected, received and lost, truncated stacks, code without
 * a name.
 *
 *	ledger_add(&picture, &(struct ledger){ .totals = &totals, .sums = &sums, .lost = "", .captures = true });
 *
 * The wording is that of cprof-top's header.
 */
#ifndef CPROF_FLAME_PICTURE_LEDGER_H
#define CPROF_FLAME_PICTURE_LEDGER_H

#include "common/flame/picture.h"
#include "common/gather/gather.h"

struct ledger {
	const char *side; /* "Before", "After"; NULL: there is only one */
	const struct capture_totals *totals;
	const struct gather_sums *sums;
	const char *lost; /* the losses with their reasons, "" if there are none */
	bool captures, texts; /* kinds of input; folded text has no such data */
};

/* Adds the lines to the picture's facts. Sets pic->failed if out of memory. */
void ledger_add(struct picture *pic, const struct ledger *l);

#endif
