/*
 * What a gatherer sums samples under while they come: whatever the view shows of them, by ids.
 *
 *	wrong = keys_sample(g, &r->sample);	// NULL, or "the weights add up to more than 64 bits"
 *	...
 *	keys_correct(g);
 *	for (size_t i = 0; i < g->keys.n; i++) {
 *		struct gather_key key = keys_at(g, i);
 *
 *		...so many samples, g->by_key[i].samples, are of key.thread with the stack key.user...
 *	}
 *
 * For gather.c and stacks.c. The ids are those of the capture, and good until its segment ends.
 */
#ifndef CPROF_PROFILE_KEYS_H
#define CPROF_PROFILE_KEYS_H

#include "common/profile/gather.h"

/*
 * Samples with the same key become one stack of the profile. What the view does not show is 0, so
 * that ten thousand processes of the same shape are few keys.
 */
struct gather_key {
	uint64_t epoch; /* 0 without user frames: the kernel has none */
	uint32_t process, thread, comm;
	uint32_t user, kernel;
	uint32_t slice;  /* of time. No padding with bytes of chance: keys are compared as bytes */
	uint32_t cgroup; /* text id of the path of the one that the process was in then; 0: unknown */
	uint16_t wait;   /* enum capture_wait, where it is shown; or KEYS_RAN */
	uint16_t event;  /* one that is counted, or 0: what stands in for the clock ends to when the clock is heard of */
};

enum { KEYS_RAN = CAPTURE_WAITS }; /* as wait: how long the thread ran, as the capture says itself */

struct gather_sum {
	uint64_t samples, weight;
};

/* Records that capture_apply has accepted. NULL, or why they cannot count. */
const char *keys_sample(struct gather *g, const struct record_sample *r);
/* What ran is kept until it is due: where the view corrects, before each record, and with NULL at the segment's end. */
void keys_ran(struct gather *g, const struct record_ran *r);
const char *keys_due(struct gather *g, const struct record *r);

/* Is what ran made to last as long as it did? */
static inline bool keys_corrects(const struct view *v)
{
	return v->wall && v->weight == WEIGHT_NS && v->half == HALF_BOTH;
}

/* Once, behind the last record: what ran comes to weigh as long as it did, if the capture says how long that was. */
void keys_correct(struct gather *g);

static inline struct gather_key keys_at(const struct gather *g, size_t i)
{
	struct gather_key key;

	memcpy(&key, intern_get(&g->keys, (uint32_t)i).p, sizeof(key));
	return key;
}

/* Rows by process or thread have its ids, unless they are to meet those of another capture. */
static inline bool keys_show_pid(const struct view *v)
{
	return v->pid || v->tid || (!v->no_ids && (v->by == BY_PROCESS || v->by == BY_THREAD));
}

static inline bool keys_show_tid(const struct view *v)
{
	return v->tid || (!v->no_ids && v->by == BY_THREAD);
}

#endif
