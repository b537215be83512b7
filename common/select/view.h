/*
 * Which samples of a capture count, how much of each, and how their stacks are shown.
 *
 *	struct view view = { .wall = true };
 *	struct record_sample part;
 *
 *	time_arg_parse(&view.from, "14:03:20", offset);
 *	...
 *	if (view_part(&view, &capture, base, &r->sample, &part))
 *		...part.weight of it counts...
 *
 * A sample of waiting time covers its weight in nanoseconds up to its own time. So a wait that crosses an
 * edge of the window counts with the part inside, even if its sample comes after the window: a reader must
 * not stop at the window's end.
 */
#ifndef CPROF_SELECT_VIEW_H
#define CPROF_SELECT_VIEW_H

#include "common/capture/capture.h"
#include "common/select/time_arg.h"
#include "common/stream/extent.h"

struct mixed_events;
struct modules;
struct origins;
struct reasons;

enum view_by { BY_FUNCTION, BY_MODULE, BY_PROCESS, BY_THREAD, BY_CONTAINER, BY_LABEL };
enum view_half { HALF_BOTH, HALF_USER, HALF_KERNEL };
/*
 * WEIGHT_SAMPLES: each sample counts 1, but a sample of a counted event counts the events that it stands
 * for, unless the view has ones. WEIGHT_NS: weights in nanoseconds. WEIGHT_EVENTS means the same as
 * WEIGHT_SAMPLES; a caller may set it once it has seen gather_sums.counted, for the unit.
 */
enum view_weight { WEIGHT_SAMPLES, WEIGHT_NS, WEIGHT_EVENTS };

/* All zero: every sample, by function, with the command as root. The lists stay the caller's. */
struct view {
	/* Filters. An empty list lets everything pass. */
	const uint64_t *pids, *tids;
	size_t n_pids, n_tids;
	const char **comms;
	size_t n_comms;
	/* Any of them: a control group's path, or a container as container_is takes it. */
	const char **groups;
	size_t n_groups;
	const char **labels; /* each of them must match: "service=web" */
	size_t n_labels;
	struct time_arg from, to; /* to is excluded */
	enum view_half half;
	enum view_weight weight;
	bool ones;
	/*
	 * Names of events, or of families of them: "off-cpu" covers all that begin with "off-cpu:". An empty
	 * list leaves out waiting time and every event for which capture_is_other is true. With wall, waiting
	 * time counts too, and its kind becomes the innermost frame: "[sleeping]". With apart, only waiting
	 * time is left out, for a caller that keeps events apart. If the capture says how long threads ran,
	 * wall scales their samples in nanoseconds to exactly that, with "[running, not sampled]" for the
	 * rest (not with half).
	 */
	const char **events;
	size_t n_events;
	bool wall, apart;
	/* If set, receives the default event of each segment that is summed; see mixed_events.h. */
	struct mixed_events *alike;
	/*
	 * If not 0, the profile records when weight came, in slices of this many nanoseconds (struct
	 * profile_moment). The profile must have no stack_max then.
	 */
	uint64_t moment_ns;
	/* If set, moments record their origin, and slices are aligned to the wall clock; see origin.h. */
	struct origins *origins;
	/* How frames are named. */
	enum view_by by;
	const char *label; /* BY_LABEL: "service" */
	bool pid, tid;   /* the root frame is "comm-pid" or "comm-pid/tid" */
	bool no_ids;     /* BY_PROCESS and BY_THREAD: the command alone, to match other captures */
	/* An outermost frame: the container's short id, or the cgroup's path if it has none. */
	bool container;
	bool delimiter;  /* a frame "-" between user and kernel */
	bool annotate;   /* see NAMES_ANNOTATED in gather_names.h */
	bool inlined, lines, full_paths; /* see struct names in gather_names.h */
	struct modules *modules; /* if set, files with the same base name are kept apart; see gather_modules.h */
	struct reasons *reasons; /* if set, innermost frames without a name are counted; see reason.h */
	bool truncated;  /* a frame "[truncated: WHY]" where outer frames are missing, in each half */
};

/* Returns the unit of the weights, as text. */
static inline const char *view_unit(const struct view *v)
{
	return v->weight == WEIGHT_NS ? "ns" : v->weight == WEIGHT_EVENTS ? "events" : "samples";
}

/* Returns whether this half of a stack has frames. A half that could not be read has none. */
static inline bool view_has_half(uint64_t node)
{
	return node >= NODE_FIRST;
}

/* Returns whether a view by this shows only the root frame. */
static inline bool view_by_root(enum view_by by)
{
	return by == BY_PROCESS || by == BY_THREAD || by == BY_CONTAINER || by == BY_LABEL;
}

/*
 * Returns whether the view counts this sample, which the capture has accepted, and sets *part to the counted
 * part: the sample, or the part of a wait inside the view's time window. base: time of the capture's first
 * sample.
 */
bool view_part(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r,
	       struct record_sample *part);
/* The same, without the test of the thread (view_thread). */
bool view_part_of_any(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r,
		      struct record_sample *part);
/* The same, with the test of the time alone. */
bool view_part_in_time(const struct view *v, const struct capture *c, uint64_t base, const struct record_sample *r,
		       struct record_sample *part);

/*
 * Returns how many of the n nanoseconds before time lie in the view's time window. *behind: nanoseconds from
 * the end of the last of them to time.
 */
uint64_t view_overlap(const struct view *v, const struct capture *c, uint64_t base, uint64_t time, uint64_t n, uint64_t *behind);
/* Returns whether the thread of the capture passes the view's filters by process, thread, group and label. */
bool view_thread(const struct view *v, const struct capture *c, uint64_t thread);

/*
 * If the view's window is in clock time, a segment wholly outside it is left out, with its ticks and losses.
 * A reader that has view_wants as its choice (context: the view) skips such a segment; a capture that was
 * given view_counts leaves it out of its totals. Both go by struct extent: the times of the segment's first
 * sample and of its END, and, if waits are shown, how far they reach back.
 */
bool view_by_clock(const struct view *v);
bool view_wants(const void *view, const struct extent *x);
bool view_counts(const void *view, const struct capture *c);

/* Returns whether the view names this event or its family; false if the view names no events. */
bool view_names_event(const struct view *v, struct slice name);
/* Returns whether the capture's event with this number passes the view's filter of events. */
bool view_lists_event(const struct view *v, const struct capture *c, uint64_t event);

/* Returns whether this time of the capture is inside the view's time window. */
bool view_in_time(const struct view *v, const struct capture *c, uint64_t base, uint64_t time);

#endif
