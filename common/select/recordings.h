/*
 * Which segments are parts of one recording, and when that began: spans of --from and --to count from there. A
 * recorder that writes a series of files (--rotate) ends each one with END_CONTINUES, and the next one has the
 * same host, boot and command line.
 *
 *	struct recordings r = { 0 };
 *
 *	view.recordings = &r;		// gather.h, collect.h and others ask it then
 *	while ((got = reader_next(reader, &rec)) > 0) {
 *		if (!recordings_see(&r, &capture, &rec)) ...out of memory...
 *		capture_apply(&capture, &rec);
 *	}
 *	recordings_end(&r, &capture);	// and so on for the next operand
 *	recordings_release(&r);
 *
 * Files have to be read in order of time. The first file that is read is the beginning of its recording, and
 * one that is missing between two others changes nothing. Files of several recordings may alternate.
 */
#ifndef CPROF_SELECT_RECORDINGS_H
#define CPROF_SELECT_RECORDINGS_H

#include "common/capture/capture.h"

/* The run of a gatherer (struct profile) to which a recording's weight belongs. All zero: none has begun. */
struct recording_run {
	bool begun;
	uint32_t number, operand;
	uint64_t base, moment_base; /* those of struct gather */
};

struct recording {
	uint64_t series;  /* hash of host, boot and command line */
	uint64_t end;     /* time at which its last segment ended */
	uint32_t operand; /* number of the operand that has that segment */
	bool known;       /* a segment of another operand can be compared: it has a boot and a clock */
	bool continues;   /* another segment follows the last one */
	bool based;       /* base is set */
	uint64_t base;    /* time 0, see select_base */
	struct recording_run run;
};

/* Recordings that go on, and the current one. All zero to begin with. Times are of the monotonic clock. */
struct recordings {
	struct recording *list;
	size_t n, cap;
	size_t current;    /* that of the segment, plus 1; 0: not known yet */
	uint32_t operand;
	bool ended;        /* the operand; the next record is of the next one */
	bool header;       /* the segment has ended, or the header of the next one is being read */
};

/* Takes a record before the capture applies it. Returns false if out of memory. */
bool recordings_see(struct recordings *r, const struct capture *c, const struct record *rec);
/* Ends the operand; its last segment stays the current one until the next record. */
void recordings_end(struct recordings *r, const struct capture *c);
/*
 * Returns the time from which spans count in the current segment. first: time of the segment's first sample,
 * from which they count if the segment continues no other, or if r is NULL; see select_base.
 */
uint64_t recordings_base(const struct recordings *r, const struct capture *c, uint64_t first);
/* Returns the run of the current segment's recording; NULL if r is NULL or without a segment. */
struct recording_run *recordings_run(const struct recordings *r);
/* Forgets all recordings, before the operands of another side. */
void recordings_forget(struct recordings *r);
void recordings_release(struct recordings *r);

#endif
