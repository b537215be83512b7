/*
 * The lines of a picture about its data: samples expected, received and lost, truncated stacks, code without
 * a name.
 *
 *	picture_ledger_add(&picture, &(struct picture_ledger){ .totals = &totals, .sums = &sums, .lost = "", .captures = true });
 *
 * The wording is that of cprof-top's header.
 */
#ifndef CPROF_FLAME_PICTURE_LEDGER_H
#define CPROF_FLAME_PICTURE_LEDGER_H

#include "common/flame/picture.h"
#include "common/gather/gather.h"

struct picture_ledger {
	const char *side; /* "Before", "After"; NULL: there is only one */
	const struct capture_totals *totals;
	const struct gather_sums *sums;
	const char *lost; /* the losses with their reasons, "" if there are none */
	bool captures, texts; /* kinds of input; folded text has no such data */
};

/* Adds the lines to the picture's facts. Sets pic->failed if out of memory. */
void picture_ledger_add(struct picture *pic, const struct picture_ledger *l);

#endif
