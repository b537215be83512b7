/*
 * For a filter that leaves samples out which are not of some time, so that who asks for no other time gets the same answers of
 * what is left: the records that stand in for them, see struct record_left_out.
 *
 *	struct leave l = { .view = &view };	// of it from, to and wall count
 *	struct record told;
 *
 *	while (leave_ran(&l, &capture, &rec, &told))	// behind the last record: NULL
 *		...write it...
 *	if (rec.type == RECORD_SAMPLE && view_by_clock(&view))
 *		switch (leave_sample(&l, &capture, &rec.sample, &told)) ...
 *	if (rec.type == RECORD_RAN && view_by_clock(&view) && leave_keeps(&l, &capture, &rec.ran))
 *		...it is not to be written...
 *	if (rec.type == RECORD_END || rec.type == RECORD_SEGMENT)	// and behind the last record
 *		while (leave_rest(&l, &told))
 *			...write it...
 *	leave_release(&l);
 *
 * Of what threads ran the part is told that is of that time: without the waits of other times nobody can tell it from the whole.
 */
#ifndef CPROF_PROFILE_LEAVE_H
#define CPROF_PROFILE_LEAVE_H

#include "common/profile/portions.h"

struct leave {
	const struct view *view;
	struct record_left_out sums[CAPTURE_EVENTS]; /* by event; without samples: none */
	struct portions portions;
	bool no_memory;
};

enum leaving {
	LEAVE_NOT,  /* it is of the time that is asked for, or makes no sense, which is not ours to hide */
	LEAVE_OUT,
	LEAVE_TOLD, /* likewise, and *told is to be written and applied in its place */
};

/* The capture has not taken in the sample, and is not to if it is left out. */
enum leaving leave_sample(struct leave *l, const struct capture *c, const struct record_sample *r, struct record *told);
/*
 * What ran in spans that are known by now, one record for each call; false: no more. To be written before the record, which may be
 * any. What leave_keeps is true of is told of like that; others go on as they are.
 */
bool leave_ran(struct leave *l, const struct capture *c, const struct record *r, struct record *told);
bool leave_keeps(struct leave *l, const struct capture *c, const struct record_ran *r);
/* What was left out and not told, event by event; false: no more. */
bool leave_rest(struct leave *l, struct record *told);
void leave_release(struct leave *l);

#endif
