/*
 * From a stream to a profile: samples are summed by ids while they come, and named only when their
 * segment has ended.
 *
 *	struct gather g;
 *
 *	gather_init(&g, &profile, 0, &view);
 *	while ((got = reader_next(r, &rec)) > 0) {
 *		const char *wrong = gather_apply(&g, &rec);
 *
 *		if (wrong)
 *			reader_complain(r, wrong);
 *	}
 *	if (!gather_finish(&g)) ...out of memory...
 *	gather_release(&g);
 *
 * The view (view.h) says which samples count and what their stacks look like. Many gatherers may fill one
 * profile, one after the other.
 */
#ifndef CPROF_PROFILE_GATHER_H
#define CPROF_PROFILE_GATHER_H

#include "common/capture/capture.h"
#include "common/profile/ends.h"
#include "common/profile/profile.h"
#include "common/profile/running.h"
#include "common/profile/portions.h"
#include "common/profile/view.h"

/* Sums over what passed, in samples, whatever the weight is. */
struct gather_sums {
	uint64_t samples;
	uint64_t user[ENDS], kernel[ENDS]; /* stacks of each half, of samples that have it, by how they ended */
	uint64_t unresolved;       /* samples whose innermost frame has no name */
	bool counted;              /* some weighed what they count */
	uint64_t symbols;          /* records of names, found or not: someone has looked for them */
};

struct gather {
	struct capture capture; /* its totals stay good after gather_finish */
	struct gather_sums sums;
	struct profile *p;
	unsigned int side;
	const struct view *view;
	struct intern keys;            /* struct gather_key, see keys.h */
	struct gather_sum *by_key;
	size_t cap_by_key;
	bool based;    /* base is set */
	uint64_t base; /* time of the capture's first sample, or of its beginning where it has waits; where the view is by the clock, of the first one in time */
	uint64_t moment_base; /* beginning of slice 0, which may be before 0 */
	bool failed;   /* out of memory */
	struct gather_memo *memo; /* by node of the capture: where in the profile it was put last */
	uint32_t *path;           /* room for the nodes of one stack */
	size_t cap_path;
	struct intern runners;    /* struct gather_key of running's accounts */
	struct running running;
	struct portions portions;
	struct gather_sum *looked; /* by key: what gather_look has taken; NULL: it was never called */
	size_t cap_looked;
};

/* False without memory; the object can be released all the same. */
bool gather_init(struct gather *g, struct profile *p, unsigned int side, const struct view *view);
void gather_release(struct gather *g);
/* NULL, or a sentence why the record makes no sense. */
const char *gather_apply(struct gather *g, const struct record *r);
/*
 * Names what has come since the last call and adds it to another profile and other sums; all of it stays to be
 * added to the gatherer's own. It is for who watches a recording that goes on: a name that is not in the
 * stream yet is not known. The view may differ from the gatherer's in its modules and reasons alone, and has no
 * moment_ns. To be called before a SEGMENT is applied, too, or what came before it is passed over. False
 * without memory.
 */
bool gather_look(struct gather *g, struct profile *p, const struct view *view, struct gather_sums *sums);
/* Names and adds what the last segment had; false where memory ran out, then or before. */
bool gather_finish(struct gather *g);

#endif
