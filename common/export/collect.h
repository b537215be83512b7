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
 * The view is that of gather.h. Here it says which samples count, which half of their stacks, and whether
 * inlined functions are included. Its modules must be set. Several collectors may fill the same traces, one
 * after the other.
 */
#ifndef CPROF_EXPORT_COLLECT_H
#define CPROF_EXPORT_COLLECT_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/capture.h"
#include "common/export/traces.h"
#include "common/gather/gather.h"
#include "common/gather/gather_names.h"
#include "common/gather/gather_native.h"
#include "common/locate/identity.h"
#include "common/select/run_spans.h"
#include "common/select/running.h"

struct collect {
	struct capture capture;
	struct gather_sums sums;
	struct traces *s;
	const struct view *view;
	struct intern keys; /* struct collect_key */
	struct collect_sum *by_key;
	size_t cap_by_key;
	struct collect_moment *moments; /* if the traces are timed: those of this segment */
	size_t n_moments, cap_moments;
	struct collect_slept {
		uint64_t weight;
		size_t moment; /* index + 1 of its moment; 0: none */
		uint32_t key;  /* index + 1 of its key; 0: none */
	} * slept; /* by thread of the segment, if the traces have wakers: its last sample asleep */
	size_t cap_slept;
	bool based;    /* base is set */
	uint64_t base; /* see recordings_base */
	uint64_t chosen_ns; /* time of the captures that lies between from and to of the view */
	uint64_t first, last; /* times of samples of this segment inside the window; valid if chosen */
	bool chosen;          /* the segment has such samples */
	struct running running;  /* see collect_running.h */
	struct run_spans spans;
	struct intern runners;   /* keys of the accounts of running */
	bool looked;   /* someone has looked for names in this segment */
	bool failed;   /* out of memory */
	/*
	 * If set, gets the file of a mapping of the traces, maybe several times. The slices are valid during
	 * the call. Returns false if out of memory.
	 */
	bool (*note_file)(void *context, uint32_t mapping, const struct module_identity *is);
	void *note_context;

	/* Used while a segment is added. */
	struct gather_names names;
	struct gather_native native;
	struct idmap located;         /* frame and number of the epoch to location */
	struct collect_memo *memo;    /* by node of native: the node that it last became */
	size_t cap_memo;
	uint32_t *path;
	struct traces_line *lines;
	size_t cap_path, cap_lines;
	uint32_t host, labels;
	struct buf text;
};

/* Returns false if out of memory; the object can be released even then. */
bool collect_init(struct collect *c, struct traces *s, const struct view *view);
void collect_release(struct collect *c);
/* Returns NULL, or a sentence why the record is invalid. */
const char *collect_apply(struct collect *c, const struct record *r);
/* Adds the last segment; returns false if memory ran out, then or before. */
bool collect_finish(struct collect *c);

/*
 * Adds all stacks of side 0 of a profile read from folded text. weighs: its counts are weights, too. Call it
 * once. Returns false if out of memory.
 */
bool collect_profile(struct traces *s, const struct profile *p, bool weighs);

#endif
