/*
 * From captures, and from folded text, to stacks by address.
 *
 *	struct collect c;
 *
 *	collect_init(&c, &traces, &view);
 *	while ((got = reader_next(r, &rec)) > 0) {
 *		const char *wrong = collect_apply(&c, &rec);
 *
 *		if (wrong)
 *			reader_complain(r, wrong);
 *	}
 *	if (!collect_finish(&c)) ...out of memory...
 *	...c.capture's totals, c.sums...
 *	collect_release(&c);
 *
 * The view is that of gather.h; here it says which samples count, which half of their stacks, and whether there
 * are inlined functions. Its modules must be there. Many may fill the same stacks, one after the other.
 */
#ifndef CPROF_EXPORT_COLLECT_H
#define CPROF_EXPORT_COLLECT_H

#include "common/capture/capture.h"
#include "common/export/traces.h"
#include "common/profile/gather.h"
#include "common/profile/name.h"

struct collect {
	struct capture capture;
	struct gather_sums sums;
	struct traces *s;
	const struct view *view;
	struct intern keys; /* struct collect_key */
	struct collect_sum *by_key;
	size_t cap_by_key;
	bool based;    /* base is set */
	uint64_t base; /* time of the capture's first sample */
	uint64_t chosen_ns; /* of the captures' time, that between from and to of the view */
	uint64_t first, last; /* samples of this segment between them; meaningful where there are any */
	bool chosen;          /* there are */
	bool looked;   /* someone has looked for names in this segment */
	bool failed;   /* out of memory */

	/* While a segment is put together. */
	struct names names;
	struct idmap located;         /* frame and number of the epoch to location */
	struct collect_memo *memo;    /* by node of the capture: which node it became last */
	uint32_t *path;
	struct traces_line *lines;
	size_t cap_path, cap_lines;
	uint32_t host, labels;
	struct buf text;
};

/* False without memory; the object can be released all the same. */
bool collect_init(struct collect *c, struct traces *s, const struct view *view);
void collect_release(struct collect *c);
/* NULL, or a sentence why the record makes no sense. */
const char *collect_apply(struct collect *c, const struct record *r);
/* Takes in the last segment; false where memory ran out, then or before. */
bool collect_finish(struct collect *c);

/* All stacks of side 0 of a profile that was read from folded text; to be called once. False without memory. */
bool collect_profile(struct traces *s, const struct profile *p);

#endif
