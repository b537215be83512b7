/*
 * Which samples of a capture count, how much of each, and how their stacks are shown. select.h decides by it.
 *
 *	struct view view = { .wall = true };
 *
 *	time_arg_parse(&view.from, "14:03:20", now, offset);
 *
 * A sample of waiting time covers its weight in nanoseconds up to its own time. So a wait that crosses an
 * edge of the window counts with the part inside, even if its sample comes after the window: a reader must
 * not stop at the window's end.
 */
#ifndef CPROF_SELECT_VIEW_H
#define CPROF_SELECT_VIEW_H

#include "common/capture/capture.h"
#include "common/select/time_arg.h"

struct mixed_events;
struct gather_modules;
struct origins;
struct reasons;
struct recordings;
struct waker_rows;
struct what_if;

/* The first ones name frames; those from BY_SYSCALL on belong to a sample as a whole. */
enum view_by {
	BY_FUNCTION,
	BY_MODULE,
	BY_LANGUAGE,
	BY_LINE,
	BY_FILE,
	BY_SYSCALL, /* found in the names of the frames, see projection.h */
	BY_PROCESS,
	BY_THREAD,
	BY_COMM,
	BY_CPU,
	BY_CONTAINER,
	BY_USER,
	BY_LABEL,
	BY_WAKER,
	BY_LOCK,
	BY_CULPRIT, /* only until the view is complete: it becomes BLAME_CULPRITS */
};
enum { VIEW_KEYS = 8, VIEW_FRAME_KEYS = BY_SYSCALL }; /* most keys; number of kinds that name frames */

#define VIEW_MAIN_THREAD UINT64_MAX

struct view_key {
	enum view_by by;
	const char *label; /* BY_LABEL: "service" */
};

/* Which machine frames are shown in stacks of interpreted languages; see gather_native.h. */
enum view_native { NATIVE_LIB, NATIVE_ALL, NATIVE_NONE };
/* See blame.h. */
enum view_blame {
	BLAME_NOT,
	BLAME_CHAINS,
	BLAME_WAKERS,
	BLAME_CULPRITS,
	BLAME_LOCKS,
	BLAME_REPLAY,
};
enum view_half { HALF_BOTH, HALF_USER, HALF_KERNEL };
/*
 * WEIGHT_SAMPLES: each sample counts 1, but a sample of a counted event counts the events that it stands
 * for, unless the view has ones. WEIGHT_NS: weights in nanoseconds. WEIGHT_EVENTS means the same as
 * WEIGHT_SAMPLES; a caller may set it once it has seen gather_sums.counted, for the unit.
 */
enum view_weight { WEIGHT_SAMPLES, WEIGHT_NS, WEIGHT_EVENTS };
/*
 * With WEIGHT_NS: divides the weight of a sample of CPU time by the number of threads of its process, or of
 * its control group, that had a CPU. So the sum over a process is the time in which it ran at all.
 */
enum view_latency { LATENCY_NOT, LATENCY_PROCESS, LATENCY_GROUP };

/* All zero: every sample, by function, with the command as root. The lists stay the caller's. */
struct view {
	/* Filters. An empty list lets everything pass. */
	const uint64_t *pids, *tids; /* VIEW_MAIN_THREAD among tids: the main thread of each process */
	size_t n_pids, n_tids;
	const char **comms;
	size_t n_comms;
	/* Any of them: a control group's path, or a container as container_is takes it. */
	const char **groups;
	size_t n_groups;
	const char **users; /* any of them: a uid, or a name of the recorded host */
	size_t n_users;
	const char **labels; /* each of them must match: "service=web" */
	size_t n_labels;
	struct time_arg from, to; /* to is excluded */
	/* If set, spans count from the beginning of a recording of many segments; NULL: of each segment. */
	const struct recordings *recordings;
	enum view_half half;
	enum view_weight weight;
	enum view_latency latency;
	bool ones; /* every sample counts 1, those of counted events too */
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
	enum view_blame blame; /* not for gather.h: blame.h reads such a view */
	struct lock_sums *locks; /* if set, BLAME_LOCKS fills it */
	struct waker_rows *wakers; /* BLAME_WAKERS: if set, counts waits by waker; see waker_rows.h */
	struct what_if *what_if; /* for BLAME_REPLAY: the question, and its answers */
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
	struct view_key keys[VIEW_KEYS];
	size_t n_keys; /* 0: by function */
	/*
	 * Keys of a sample become outermost frames. The command and its frames follow if a key names frames,
	 * or if whole is set.
	 */
	bool whole;
	unsigned int parts; /* the parts of a frame's label, as bits by enum view_by; 0: as the keys say */
	enum view_native native;
	bool pid, tid;   /* the root frame is "comm-pid" or "comm-pid/tid" */
	bool all_ids;    /* samples keep thread, process and group apart, for gather_look by other keys */
	bool no_ids;     /* BY_PROCESS and BY_THREAD: the command alone, to match other captures */
	/* An outermost frame: the container's short id, or the cgroup's path if it has none. */
	bool container;
	bool delimiter;  /* a frame "-" between user and kernel */
	bool annotate;   /* see annotated in gather_names.h */
	bool inlined, lines, full_paths; /* see struct gather_names in gather_names.h */
	struct gather_modules *modules; /* if set, keeps files of one base name apart (gather_modules.h) */
	struct reasons *reasons; /* if set, innermost frames without a name are counted; see reason.h */
	struct reasons *states;  /* if set, frames of languages without a function are counted, by process */
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

static inline bool view_has_key(const struct view *v, enum view_by by)
{
	for (size_t i = 0; i < v->n_keys; i++) {
		if (v->keys[i].by == by)
			return true;
	}
	return v->n_keys == 0 && by == BY_FUNCTION;
}

/* Returns the kinds of keys that name frames, as bits by enum view_by. */
static inline unsigned int view_frame_keys(const struct view *v)
{
	unsigned int kinds = v->n_keys ? 0 : 1u << BY_FUNCTION;

	for (size_t i = 0; i < v->n_keys; i++)
		kinds |= v->keys[i].by < BY_SYSCALL ? 1u << v->keys[i].by : 0;
	return kinds;
}

/* Returns how many outermost frames a gatherer makes of keys. */
static inline size_t view_roots(const struct view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_keys; i++)
		n += v->keys[i].by > BY_SYSCALL;
	return n;
}

/* Returns whether names of functions are shown. */
static inline bool view_names_functions(const struct view *v)
{
	return v->whole || v->blame == BLAME_LOCKS || view_has_key(v, BY_SYSCALL) ||
	       (view_frame_keys(v) & ~(1u << BY_MODULE | 1u << BY_LANGUAGE));
}

/* Returns whether the command and its frames are in the stacks. */
static inline bool view_shows_frames(const struct view *v)
{
	return v->whole || view_frame_keys(v) || view_has_key(v, BY_SYSCALL);
}

#endif
