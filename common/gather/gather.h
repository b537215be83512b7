/*
 * From a stream to a profile: samples are summed by ids as they come, and named only when their segment ends.
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
#ifndef CPROF_GATHER_GATHER_H
#define CPROF_GATHER_GATHER_H

#include "common/base/intern.h"
#include "common/capture/capture.h"
#include "common/select/ends.h"
#include "common/profile/profile.h"
#include "common/select/running.h"
#include "common/select/run_spans.h"
#include "common/select/view.h"

/* The activity of a thread at a sample: it ran in user or kernel code, or waited. */
enum gather_doing {
	DOING_USER,
	DOING_KERNEL,
	DOING_UNNAMED,   /* ran in code without a name, of either kind */
	DOING_UNSAMPLED, /* ran, by the recorded run time, and was not sampled */
	DOING_SLEEPING,  /* the waits have the order of enum capture_wait */
	DOING_UNINTERRUPTIBLE,
	DOING_QUEUED,
	DOING_THROTTLED,
	DOINGS,
};

/* Sums over the records seen, in samples whatever the weight is. */
struct gather_sums {
	uint64_t samples;
	/* stacks of each half, by how they ended; only samples that have the half */
	uint64_t user[ENDS], kernel[ENDS];
	uint64_t unresolved;       /* samples whose innermost frame has no name */
	uint64_t doing[DOINGS];    /* the weight, in the view's unit, by what the thread did */
	/* frames of languages in the samples' stacks, shown or not; by enum language and enum lang_state */
	uint64_t languages[LANGUAGES][LANG_STATES];
	/* some samples weighed the events that they stand for; see WEIGHT_EVENTS */
	bool counted;
	/* SYMBOL and SOURCE records, names found or not: someone has looked for them */
	uint64_t symbols;
	uint64_t lines; /* SYMBOL records among them with a line */
	uint64_t scripts; /* FUNCTION records: functions of languages, which have lines of their own */
};

/*
 * For a caller that looks at single samples as well (blame.h). Set it after gather_init. took is true if the
 * last record was a sample that counts; then key is its number in keys, and time and weight are those of the
 * counted part. segment is called at the end of a segment, before its ids end: leaves is by key the node
 * of the profile where the key's stack ends, or 0.
 */
struct gather_tap {
	void *context;
	bool (*segment)(void *context, const uint32_t *leaves); /* false: out of memory */
	bool took;
	uint32_t key;
	uint64_t time, weight;
	uint32_t *leaves;
	size_t cap_leaves;
};

struct gather {
	struct capture capture; /* its totals stay valid after gather_finish */
	struct gather_sums sums;
	struct profile *p;
	unsigned int side;
	const struct view *view;
	struct intern keys;            /* struct gather_key, see gather_keys.h */
	struct gather_sum *by_key;
	size_t cap_by_key;
	bool based;    /* base and run are set, for the segment */
	/*
	 * Time of the recording's first sample, or of its beginning if it has waits. If the view is
	 * by the clock, of the first sample inside the window.
	 */
	uint64_t base;
	uint64_t moment_base; /* beginning of slice 0, which may be before time 0 */
	uint32_t run;  /* number in the profile, for moments */
	bool failed;   /* out of memory */
	struct gather_memo *memo; /* by node: its last position in the profile */
	size_t cap_memo;
	const struct capture_node *nodes; /* those of the stacks as shown, while they are added */
	uint32_t *path;           /* room for the nodes of one stack */
	size_t cap_path;
	struct intern runners;    /* struct gather_key of running's accounts */
	struct running running;
	struct run_spans portions;
	struct gather_waited *waited; /* by thread; see gather_spread.h */
	size_t cap_waited;
	uint64_t (*ticked)[OUTCOMES]; /* by CPU + 1: time of the last LEDGER record */
	size_t cap_ticked;
	struct gather_tap *tap; /* NULL: none */
	struct gather_origin *origins; /* by hash: numbers of origins found before */
	struct buf labels; /* the text of the segment's labels, while stacks are added */
	bool labels_known;
	struct gather_sum *looked; /* by key: sums that gather_look has taken; NULL: it was never called */
	size_t cap_looked;
};

/* Returns false if out of memory; the object can be released even then. */
bool gather_init(struct gather *g, struct profile *p, unsigned int side, const struct view *view);
void gather_release(struct gather *g);
/* Returns NULL, or a sentence why the record is invalid. */
const char *gather_apply(struct gather *g, const struct record *r);
/*
 * Names the samples since the last call and adds them to another profile and other sums, for a live reader.
 * They remain to be added to the gatherer's own profile as well. A name that is not in the stream yet is not
 * known. The view may differ from the gatherer's only in modules and reasons; with all_ids also in whole,
 * parts and keys by thread, process, command and container. It has no moment_ns. Call it also before a
 * SEGMENT is applied; otherwise the end of the previous segment is missed. Returns false if out of memory.
 */
bool gather_look(struct gather *g, struct profile *p, const struct view *view, struct gather_sums *sums);
/* Names and adds the samples of the last segment; returns false if memory ran out, then or before. */
bool gather_finish(struct gather *g);

#endif
