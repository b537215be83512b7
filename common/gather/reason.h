/*
 * The reasons why innermost frames have no name, by the file or kind of memory that they are in.
 *
 *	struct reasons r;
 *
 *	reasons_init(&r);
 *	view.reasons = &r;		// gather.h then counts, over any number of captures
 *	...
 *	reasons_sort(&r);
 *	for (i = 0; i < r.n; i++)
 *		...r.list[i].samples in r.list[i].where, because of r.list[i].why...
 *	reasons_release(&r);
 *
 * The reasons rest on the SOURCE records of the segment. A segment in which nobody has looked for names gives
 * none. The reasons are in the words of cprof-sym's summary, the places in those of gather_names.h.
 */
#ifndef CPROF_GATHER_REASON_H
#define CPROF_GATHER_REASON_H

#include "common/base/intern.h"
#include "common/capture/capture.h"

struct reason {
	struct slice where;  /* path of the file; "[kernel]", "[anon]", "[jit]", "[unknown]", "[python]" */
	struct slice why;    /* "no-file", "stripped", … */
	uint64_t samples;
};

/* The stream's statement about a file. */
struct reason_source {
	bool heard;
	uint32_t status, kind; /* enum source_status, UINT32_MAX if unknown; enum name_source */
};

struct reasons {
	struct intern keys; /* why, NUL, where */
	struct reason *list;
	size_t n, cap;
	struct reason_source *sources; /* by FILE id, 0 the kernel; of this segment */
	size_t n_sources, cap_sources; /* n_sources 0: nobody has looked for names */
};

void reasons_init(struct reasons *r);
void reasons_release(struct reasons *r);
/* Forgets the files for the next segment or capture; the counts stay. */
void reasons_forget(struct reasons *r);
/* Takes the SOURCE record of a file that the capture knows; returns false if out of memory. */
bool reasons_hear(struct reasons *r, const struct capture *c, const struct record_source *s);
/* Counts a frame without a name in this place, NULL if none is known; returns false if out of memory. */
bool reasons_count(struct reasons *r, const struct capture *c, const struct capture_frame *f,
		   const struct capture_place *place, uint64_t samples);
/*
 * Counts a language's frame without a function in its process: where is "COMM-PID", why "python: not-yet".
 * comm: text id; 0: unknown. samples: those with the frame. Returns false if out of memory.
 */
bool reasons_count_state(struct reasons *r, const struct capture *c, const struct capture_frame *f,
			 uint32_t comm, uint64_t samples);
/* Sorts by most samples, then by where and why, and ends the counting. */
void reasons_sort(struct reasons *r);

#endif
