/*
 * Why innermost frames have no name: by the file, or the kind of memory, that they lie in.
 *
 *	struct reasons r;
 *
 *	reasons_init(&r);
 *	view.reasons = &r;		// gather.h then counts, over as many captures as there are
 *	...
 *	reasons_sort(&r);
 *	for (i = 0; i < r.n; i++)
 *		...r.list[i].samples in r.list[i].where, because of r.list[i].why...
 *	reasons_release(&r);
 *
 * What is said rests on the SOURCE records of the segment, so of one that nobody has looked for names in
 * nothing is said. The reasons are in the words of cprof-sym's summary, the places in those of name.h.
 */
#ifndef CPROF_PROFILE_REASON_H
#define CPROF_PROFILE_REASON_H

#include "common/capture/capture.h"

struct reason {
	struct slice where;  /* path of the file; "[kernel]", "[anon]", "[jit]", "[unknown]" */
	struct slice why;    /* "no-file", "stripped", … */
	uint64_t samples;
};

/* What the stream says of a file. */
struct reason_source {
	bool heard;
	uint32_t status, kind; /* enum source_status, UINT32_MAX one that is not known; enum name_source */
};

struct reasons {
	struct intern keys; /* why, NUL, where */
	struct reason *list;
	size_t n, cap;
	struct reason_source *sources; /* by FILE id, 0 the kernel; of this segment */
	size_t n_sources, cap_sources; /* n_sources 0: nobody has looked */
};

void reasons_init(struct reasons *r);
void reasons_release(struct reasons *r);
/* Another segment, or capture, begins: what was said of files is forgotten, counts stay. */
void reasons_forget(struct reasons *r);
/* Takes in what came of a file that the capture knows; false without memory. */
bool reasons_hear(struct reasons *r, const struct capture *c, const struct record_source *s);
/* Counts a frame without a name that lies in this place, NULL where none is known; false without memory. */
bool reasons_count(struct reasons *r, const struct capture *c, const struct capture_frame *f,
		   const struct capture_place *place, uint64_t samples);
/* The most samples first, then by where and why; ends the counting. */
void reasons_sort(struct reasons *r);

#endif
