/*
 * The keys under which a gatherer sums samples: the ids of all that the view shows of them.
 *
 *	wrong = gather_keys_sample(g, &r->sample);	// NULL, or "the weights add up to more than 64 bits"
 *	...
 *	gather_keys_correct(g);
 *	for (size_t i = 0; i < g->keys.n; i++) {
 *		struct gather_key key = gather_keys_at(g, i);
 *
 *		...g->by_key[i].samples samples are of key.thread with the stack key.user...
 *	}
 *
 * For gather.c and gather_stacks.c. The ids are those of the capture, and valid until its segment ends.
 */
#ifndef CPROF_GATHER_GATHER_KEYS_H
#define CPROF_GATHER_GATHER_KEYS_H

#include "common/base/intern.h"
#include "common/gather/gather.h"

/*
 * Samples with the same key become one stack of the profile. Ids that the view does not show are 0, so
 * that ten thousand processes of the same shape share few keys.
 */
struct gather_key {
	uint64_t epoch; /* 0 without user frames: the kernel has none */
	uint32_t process, thread, comm;
	uint32_t user, kernel;
	uint32_t slice;  /* of time. The struct has no padding: keys are compared as bytes */
	uint32_t whole;  /* as in struct profile_moment */
	uint32_t cpu;    /* the CPU + 1, if origins have threads or the view shows it; 0: unknown */
	uint32_t cgroup; /* text id of the path of the process's group at that time; 0: unknown */
	uint32_t owner;  /* the process's at that time: uid + 1, if the view shows it; 0: unknown */
	uint32_t wait;   /* enum capture_wait, if the view shows it; or GATHER_KEYS_RAN */
	uint32_t event;  /* a counted event, or 0; one that stood in for the clock's is dropped later */
};

/* As wait: the time that the thread ran, as reported in a RAN record; a sample outside of the recording. */
enum { GATHER_KEYS_RAN = CAPTURE_WAITS, GATHER_KEYS_OUTSIDE };

struct gather_sum {
	uint64_t samples, weight;
};

/* Takes a sample that capture_apply has accepted. Returns NULL, or why it cannot count. */
const char *gather_keys_sample(struct gather *g, const struct record_sample *r);
/* Makes a key for a sample outside of the recording, which adds to no sum. The tap gets its number. */
void gather_keys_outside(struct gather *g, const struct record_outside *r);
/*
 * Makes the thread's stack a stack of the profile, without weight. Sets *key to its number plus 1. Returns false
 * if out of memory.
 */
bool gather_keys_see(struct gather *g, uint64_t thread, uint64_t user, uint64_t kernel, uint32_t *key);
/* Keeps a RAN record until it is due. */
void gather_keys_ran(struct gather *g, const struct record_ran *r);
/* Adds the time that is due. If gather_keys_corrects(view), call it before each record, and at the end with NULL. */
const char *gather_keys_due(struct gather *g, const struct record *r);

/* Returns whether samples of CPU time are scaled to the time that threads really ran. */
static inline bool gather_keys_corrects(const struct view *v)
{
	return v->wall && v->weight == WEIGHT_NS && v->half == HALF_BOTH;
}

/* Scales the samples of CPU time to the recorded run time, if any. Call it once, after the last record. */
void gather_keys_correct(struct gather *g);

static inline struct gather_key gather_keys_at(const struct gather *g, size_t i)
{
	struct gather_key key;

	memcpy(&key, intern_get(&g->keys, (uint32_t)i).p, sizeof(key));
	return key;
}

/* Rows by process or thread have its name, and its ids unless they must match another capture. */
static inline bool gather_keys_need_pid(const struct view *v)
{
	return v->pid || v->tid || view_has_key(v, BY_PROCESS) || view_has_key(v, BY_THREAD);
}

static inline bool gather_keys_need_tid(const struct view *v)
{
	return v->tid || view_has_key(v, BY_THREAD);
}

#endif
