/*
 * Which samples of a capture count, how much of each, and what their stacks are to look like.
 *
 *	struct view view = { .wall = true };
 *	struct record_sample part;
 *
 *	instant_parse(&view.from, "14:03:20", offset);
 *	...
 *	if (view_part(&view, &capture, base, &r->sample, &part))
 *		...part.weight of it counts...
 *
 * A sample of waiting time tells of the time up to its own, as long as it weighs: a wait that reaches over an edge of the window
 * counts with what lies inside, also where it was told of behind it. So nobody stops reading at the window's end.
 */
#ifndef CPROF_PROFILE_VIEW_H
#define CPROF_PROFILE_VIEW_H

#include "common/capture/capture.h"
#include "common/profile/instant.h"
#include "common/stream/extent.h"

struct alike;
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
	struct alike *alike; /* where given, hears what was added up of what each segment has by default; see alike.h */
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

/* Does this half of a stack have frames? One that could not be read has none, and would be a bare command. */
static inline bool view_has_half(uint64_t node)
{
	return node >= NODE_FIRST;
}

/* Is it the root frame alone that such a view shows? */
static inline bool view_by_root(enum view_by by)
{
	return by == BY_PROCESS || by == BY_THREAD || by == BY_CONTAINER || by == BY_LABEL;
}

/*
 * Does the view count this sample, which the capture has accepted? part is what counts of it: the sample, or of a wait what lies
 * in the time that is asked for. base: time of the capture's first sample.
 */
bool view_part(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r,
	       struct record_sample *part);
/* The same, whoever it is of. */
bool view_part_of_any(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r,
		      struct record_sample *part);
/* The same where only the time is asked; whatever else the view says. */
bool view_part_in_time(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r,
		       struct record_sample *part);

/*
 * Of the n nanoseconds before time: how many lie in the time that is asked for. *behind: how long before time the last of them ends.
 */
uint64_t view_overlap(const struct view *v, const struct capture *c, uint64_t base, uint64_t time, uint64_t n, uint64_t *behind);
/* Does the view count samples of the capture's thread, as far as that depends on whose they are? */
bool view_thread(const struct view *v, const struct capture *c, uint64_t thread);

/*
 * Where the view asks for times of the clock, a segment that tells of none of them is left out whole, with what it says of ticks
 * and losses: a reader with view_wants as its choice (context: the view) need not read it, and a capture that view_counts was given
 * to does not add it to its totals. Both go by struct extent: the times of its first sample and of its END, and where waits are
 * shown how far they reach back.
 */
bool view_by_clock(const struct view *v);
bool view_wants(const void *view, const struct extent *x);
bool view_counts(const void *view, const struct capture *c);

/* Is it one of the view's events, or of the family of one? False where the view names none. */
bool view_names_event(const struct view *v, struct slice name);
/* Does the view count samples of the capture's event of this number, as far as that depends on the event? */
bool view_lists_event(const struct view *v, const struct capture *c, uint64_t event);

/* Is this time of the capture one that the view asks for? */
bool view_in_time(const struct view *v, const struct capture *c, uint64_t base, uint64_t time);

#endif
