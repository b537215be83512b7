/*
 * For a filter that leaves out samples outside a time window: the records that replace them, so that a reader
 * who asks for no other time gets the same answers from the rest. See struct record_left_out.
 *
 *	struct window_cut l = { .view = &view };	// only its from, to and wall are used
 *	struct record made;
 *
 *	while (window_cut_ran(&l, &capture, &rec, &made))	// after the last record: NULL
 *		...write it...
 *	if (rec.type == RECORD_SAMPLE && select_by_clock(&view))
 *		switch (window_cut_sample(&l, &capture, &rec.sample, &made)) ...
 *	if (rec.type == RECORD_RAN && select_by_clock(&view) && window_cut_keeps(&l, &capture, &rec.ran))
 *		...leave the record out...
 *	if (rec.type == RECORD_END || rec.type == RECORD_SEGMENT)	// and after the last record
 *		while (window_cut_rest(&l, &made))
 *			...write it...
 *	window_cut_release(&l);
 *
 * The part of a thread's run time inside the window is written: without the waits outside it, no reader
 * could compute that part from the whole.
 */
#ifndef CPROF_SELECT_WINDOW_CUT_H
#define CPROF_SELECT_WINDOW_CUT_H

#include "common/select/run_spans.h"

struct window_cut {
	const struct view *view;
	struct record_left_out sums[CAPTURE_EVENTS]; /* by event; entries without samples are unused */
	struct run_spans portions;
	bool no_memory;
};

enum leaving {
	WINDOW_CUT_NOT, /* the sample is in the window, or invalid, which a filter must not hide */
	WINDOW_CUT_OUT,
	WINDOW_CUT_REPLACED, /* leave it out, too, and write and apply *made in its place */
};

/* Decides about a sample that the capture has not applied yet; apply it only for WINDOW_CUT_NOT. */
enum leaving window_cut_sample(struct window_cut *l, const struct capture *c, const struct record_sample *r,
			       struct record *made);
/*
 * Sets *made to the next record of run time in a span that is known by now; returns false if there are no
 * more. Write them before the record r, which may be of any type.
 */
bool window_cut_ran(struct window_cut *l, const struct capture *c, const struct record *r,
		    struct record *made);
/* Returns whether window_cut_ran reports this record in parts; if not, write it unchanged. */
bool window_cut_keeps(struct window_cut *l, const struct capture *c, const struct record_ran *r);
/* Returns whether a part of the wait is in the window; if not, leave the record out. */
bool window_cut_woken(const struct window_cut *l, const struct capture *c, const struct record_woken *r);
bool window_cut_outside(const struct window_cut *l, const struct capture *c, const struct record_outside *r);
/* Sets *made to the other samples left out, summed by event; returns false if there are no more events. */
bool window_cut_rest(struct window_cut *l, struct record *made);
void window_cut_release(struct window_cut *l);

#endif
