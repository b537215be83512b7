/*
 * For a filter that leaves samples out which are not of some time, so that who asks for no other time gets the same answers of
 * what is left: the records that stand in for them, see struct record_left_out.
 *
 *	struct leave l = { .view = &view };	// of it from, to and wall count
 *	struct record told;
 *
 *	if (rec.type == RECORD_SAMPLE && view_by_clock(&view))
 *		switch (leave_sample(&l, &capture, &rec.sample, &told)) ...
 *	if (rec.type == RECORD_END || rec.type == RECORD_SEGMENT)	// and behind the last record
 *		while (leave_rest(&l, &told))
 *			...write it...
 */
#ifndef CPROF_PROFILE_LEAVE_H
#define CPROF_PROFILE_LEAVE_H

#include "common/profile/view.h"

struct leave {
	const struct view *view;
	struct record_left_out sums[CAPTURE_EVENTS]; /* by event; without samples: none */
};

enum leaving {
	LEAVE_NOT,  /* it is of the time that is asked for, or makes no sense, which is not ours to hide */
	LEAVE_OUT,
	LEAVE_TOLD, /* likewise, and *told is to be written and applied in its place */
};

/* The capture has not taken in the sample, and is not to if it is left out. */
enum leaving leave_sample(struct leave *l, const struct capture *c, const struct record_sample *r, struct record *told);
/* What was left out and not told, event by event; false: no more. */
bool leave_rest(struct leave *l, struct record *told);

#endif
