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
 * The view says which samples count and what their stacks look like. Many gatherers may fill one
 * profile, one after the other.
 */
#ifndef CPROF_PROFILE_GATHER_H
#define CPROF_PROFILE_GATHER_H

#include "common/capture/capture.h"
#include "common/profile/ends.h"
#include "common/profile/instant.h"
#include "common/profile/profile.h"
#include "common/profile/running.h"

struct modules;
struct origins;
struct reasons;

enum view_by { BY_FUNCTION, BY_MODULE, BY_PROCESS, BY_THREAD, BY_CONTAINER, BY_LABEL };
enum view_half { HALF_BOTH, HALF_USER, HALF_KERNEL };
/*
 * Samples count 1; those of events that are counted, as many as each stands for, unless the view has ones. Who has
 * seen gather_sums.counted may call that WEIGHT_EVENTS, which means the same.
 */
enum view_weight { WEIGHT_SAMPLES, WEIGHT_NS, WEIGHT_EVENTS };

/* All zero: every sample, by function, root by command. The lists are lent. */
struct view {
	/* What counts. A list without elements lets everything pass. */
	const uint64_t *pids, *tids;
	size_t n_pids, n_tids;
	const char **comms;
	size_t n_comms;
	const char **groups; /* of each sample one: a control group's path, or what container_is takes for a container */
	size_t n_groups;
	const char **labels; /* all of them: "service=web" */
	size_t n_labels;
	struct instant from, to; /* to is excluded */
	enum view_half half;
	enum view_weight weight;
	bool ones;
	/*
	 * Names of events, or of families of them: "off-cpu" is all that begin with "off-cpu:". Without one, what
	 * capture_is_other is not true of, and no waiting time; with wall that, too, and what a thread waits for is its innermost
	 * frame: "[sleeping]"; with apart all but waiting time, for who keeps events apart. Where the capture says how long
	 * threads ran, as nanoseconds wall makes of their samples just that, by "[running, not sampled]" (not with half).
	 */
	const char **events;
	size_t n_events;
	bool wall, apart;
	/*
	 * Not 0: the profile learns when weight came, by slices of so many nanoseconds (struct profile_moment). The
	 * profile is one without stack_max then.
	 */
	uint64_t moment_ns;
	/* Where given, moments know where they come from, and slices begin by the wall clock; see origin.h. */
	struct origins *origins;
	/* What it is called. */
	enum view_by by;
	const char *label; /* BY_LABEL: "service" */
	bool pid, tid;   /* the root frame is "comm-pid" or "comm-pid/tid" */
	bool no_ids;     /* BY_PROCESS and BY_THREAD: it is the command alone, which meets itself elsewhere */
	bool container;  /* the container's short id, or else the cgroup's path, as a frame around it */
	bool delimiter;  /* a frame "-" between user and kernel */
	bool annotate;   /* see NAMES_ANNOTATED in name.h */
	bool inlined, lines, full_paths; /* see struct names in name.h */
	struct modules *modules; /* where given, files of one base name are kept apart; see module.h */
	struct reasons *reasons; /* where given, innermost frames without a name are counted; see reason.h */
	bool truncated;  /* a frame "[truncated: WHY]" where outer frames are missing, in each half */
};

/* What is added up, as text. */
static inline const char *view_unit(const struct view *v)
{
	return v->weight == WEIGHT_NS ? "ns" : v->weight == WEIGHT_EVENTS ? "events" : "samples";
}

/* Is it the root frame alone that such a view shows? */
static inline bool view_by_root(enum view_by by)
{
	return by == BY_PROCESS || by == BY_THREAD || by == BY_CONTAINER || by == BY_LABEL;
}

/* Does the view count this sample, which the capture has accepted? base: time of the capture's first sample. */
bool view_passes(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r);

/*
 * Where the view asks for times of the clock, a segment that tells of none of them is left out whole, with what it says of ticks
 * and losses: a reader with view_wants as its choice (context: the view) need not read it, and a capture that view_counts was given
 * to does not add it to its totals. Both go by the times of its first sample and of its END.
 */
bool view_by_clock(const struct view *v);
bool view_wants(const void *view, uint64_t from, uint64_t to);
bool view_counts(const void *view, const struct capture *c);

/* Is it one of the view's events, or of the family of one? False where the view names none. */
bool view_names_event(const struct view *v, struct slice name);
/* Does the view count samples of the capture's event of this number, as far as that depends on the event? */
bool view_lists_event(const struct view *v, const struct capture *c, uint64_t event);

/* Is this time of the capture one that the view asks for? */
bool view_in_time(const struct view *v, const struct capture *c, uint64_t base, uint64_t time);

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
	struct intern keys;            /* struct gather_key */
	struct gather_sum *by_key;
	size_t cap_by_key;
	bool based;    /* base is set */
	uint64_t base; /* time of the capture's first sample; where the view is by the clock, of the first one in time */
	uint64_t moment_base; /* beginning of slice 0, which may be before 0 */
	bool failed;   /* out of memory */
	struct gather_memo *memo; /* by node of the capture: where in the profile it was put last */
	uint32_t *path;           /* room for the nodes of one stack */
	size_t cap_path;
	struct intern runners;    /* struct gather_key of running's accounts */
	struct running running;
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
