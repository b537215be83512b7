/*
 * For a filter that leaves out samples outside a time window: the records that replace them, so that a reader
 * who asks for no other time gets the same answers from the rest. See struct record_left_out.
 *
 *	struct leave l = { .view = &view };	// only its from, to and wall are used
 *	struct record told;
 *
 *	while (leave_ran(&l, &capture, &rec, &told))	// after the last record: NULL
 *		...write it...
 *	if (rec.type == RECORD_SAMPLE && view_by_clock(&view))
 *		switch (leave_sample(&l, &capture, &rec.sample, &told)) ...
 *	if (rec.type == RECORD_RAN && view_by_clock(&view) && leave_keeps(&l, &capture, &rec.ran))
 *		...leave the record out...
 *	if (rec.type == RECORD_END || rec.type == RECORD_SEGMENT)	// and after the last record
 *		while (leave_rest(&l, &told))
 *			...write it...
 *	leave_release(&l);
 *
 * The part of a thread's run time inside the window is written: without the waits outside it, no reader
 * could compute that part from the whole.
 */
#ifndef CPROF_SELECT_WINDOW_CUT_H
#define CPROF_SELECT_WINDOW_CUT_H

#include "common/select/run_spans.h"

struct leave {
	const struct view *view;
	struct record_left_out sums[CAPTURE_EVENTS]; /* by event; entries without samples are unused */
	struct portions portions;
	bool no_memory;
};

enum leaving {
	LEAVE_NOT,  /* the sample is in the window, or invalid, which a filter must not hide */
	LEAVE_OUT,
	LEAVE_TOLD, /* leave it out, too, and write and apply *told in its place */
};

/* Decides about a sample that the capture has not applied yet; apply it only for LEAVE_NOT. */
enum leaving leave_sample(struct leave *l, const struct capture *c, const struct record_sample *r, struct record *told);
/*
 * Sets *told to the next record of run time in a span that is known by now; returns false if there are no
 * more. Write them before the record r, which may be of any type.
 */
bool leave_ran(struct leave *l, const struct capture *c, const struct record *r, struct record *told);
/* Returns whether leave_ran reports this record in parts; if not, write it unchanged. */
bool leave_keeps(struct leave *l, const struct capture *c, const struct record_ran *r);
/* Sets *told to the other samples left out, summed by event; returns false if there are no more events. */
bool leave_rest(struct leave *l, struct record *told);
void leave_release(struct leave *l);

#endif
