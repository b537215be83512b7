#include "common/capture/counts.h"

#include "common/base/array.h"
#include "common/capture/capture_internal.h"
#include "common/capture/nodes.h"
#include "common/capture/locations.h"
#include "common/stream/segment_extent.h"

/* Returns the kind of waiting time by the event's name: "off-cpu:sleep". */
static enum capture_wait wait_of(struct slice name)
{
	return slice_is(name, "off-cpu:uninterruptible") ? CAPTURE_UNINTERRUPTIBLE :
	       slice_is(name, "off-cpu:run-queue") ? CAPTURE_QUEUED :
	       slice_is(name, "off-cpu:throttled") ? CAPTURE_THROTTLED :
	       slice_begins(name, EVENT_OFF_CPU) ? CAPTURE_SLEEPS : CAPTURE_RUNS;
}

bool capture_is_counted(const struct capture *c, uint64_t event)
{
	return event < CAPTURE_EVENTS && c->events[event].id && slice_is(c->events[event].unit, "events");
}

/*
 * An event that is not a count is time, wherever it comes in the order: perf's text names events in the order
 * of their samples. A name that occurs twice belongs to one event, in captures that were merged.
 */
static void find_others(struct capture *c)
{
	const struct record_event *first = NULL;

	for (uint64_t i = 1; i < CAPTURE_EVENTS; i++) {
		const struct record_event *e = &c->events[i];

		if (!e->id || capture_wait(c, i))
			continue;
		if (!first || (capture_is_counted(c, first->id) && !capture_is_counted(c, i)))
			first = e;
	}
	c->totals.others = 0;
	for (uint64_t i = 1; first && i < CAPTURE_EVENTS; i++) {
		const struct record_event *e = &c->events[i];

		if (!e->id || capture_wait(c, i))
			continue;
		c->event_others[i] = capture_is_counted(c, i) &&
				     (e->name.n != first->name.n || memcmp(e->name.p, first->name.p, e->name.n) != 0);
		c->totals.others += c->event_others[i] ? c->event_samples[i] : 0;
	}
}

const char *event_apply(struct capture *c, const struct record_event *r)
{
	struct record_event e = *r;

	if (r->id == 0 || r->id >= CAPTURE_EVENTS)
		return "an event with an impossible id";
	if (c->events[r->id].id)
		return c->events[r->id].period == r->period ? NULL : "an event with two periods";
	if (!text_keep(c, &e.name) || !text_keep(c, &e.unit))
		return capture_no_memory;
	c->events[r->id] = e;
	c->event_waits[r->id] = (uint8_t)wait_of(e.name);
	find_others(c);
	return NULL;
}

bool capture_has_waits(const struct capture *c)
{
	for (size_t i = 1; i < CAPTURE_EVENTS; i++) {
		if (c->event_waits[i])
			return true;
	}
	return false;
}

uint64_t capture_waits_from(const struct capture *c, uint64_t first)
{
	struct slice since = capture_meta(c, META_WAITS_SINCE);

	return capture_has_waits(c) ? segment_extent_waits(first, since.n > 0, slice_decimal(since)) : first;
}

const char *capture_check_sample(const struct capture *c, const struct record_sample *r)
{
	uint32_t process;

	if (!DEFINED(c, threads, r->thread))
		return "a sample of an undefined thread";
	if (!node_known(c, r->user) || !node_known(c, r->kernel))
		return "a sample with an undefined node";
	if (r->event == 0 || r->event >= CAPTURE_EVENTS)
		return "a sample of an impossible event";
	if (!c->events[r->event].id && r->weight == 0)
		return "a sample of an undefined event";
	process = c->threads[r->thread].process;
	if (r->user >= NODE_FIRST && node_process(c, r->user) != process)
		return "a sample whose user stack belongs to another process";
	if (r->kernel >= NODE_FIRST && node_process(c, r->kernel) != 0)
		return "a sample whose kernel stack belongs to a process";
	return NULL;
}

/* Counts r->samples samples, in the order of the stream. */
static void count_samples(struct capture *c, const struct record_left_out *r)
{
	if (!c->sampled)
		c->began = r->first;
	if (!c->sampled || r->first < c->totals.first)
		c->totals.first = r->first;
	if (!c->sampled || r->last > c->totals.last)
		c->totals.last = r->last;
	c->sampled = true;
	c->totals.samples += r->samples;
	if (capture_wait(c, r->event)) {
		c->totals.waits += r->samples;
		c->totals.waited[capture_wait(c, r->event)] += r->weight;
	}
	c->totals.others += capture_is_other(c, r->event) ? r->samples : 0;
	c->event_samples[r->event] += r->samples;
}

const char *sample_apply(struct capture *c, const struct record_sample *r)
{
	struct record_left_out one = { r->time, r->event, r->thread, 1, r->weight, r->time };
	const char *wrong = capture_check_sample(c, r);
	struct capture_process *p;

	if (wrong)
		return wrong;
	p = &c->processes[c->threads[r->thread].process];
	wrong = locations_give(c, p, (uint32_t)r->user, r->time);
	if (wrong)
		return wrong;
	p->used = true;
	count_samples(c, &one);
	return NULL;
}

const char *left_out_apply(struct capture *c, const struct record_left_out *r)
{
	if (r->event == 0 || r->event >= CAPTURE_EVENTS)
		return "samples of an impossible event that were left out";
	if (r->thread && !DEFINED(c, threads, r->thread))
		return "samples of an undefined thread that were left out";
	if (r->last < r->first || r->samples == 0 || r->samples >> 48)
		return "an impossible number of samples that were left out";
	if (r->thread)
		c->processes[c->threads[r->thread].process].used = true;
	count_samples(c, r);
	return NULL;
}

bool capture_is_first(const struct capture *c, uint64_t thread)
{
	return !c->processes[c->threads[thread].process].used;
}

static void note_time(struct capture *c, uint64_t time)
{
	c->reported = time > c->reported ? time : c->reported;
}

const char *ledger_apply(struct capture *c, const struct record_ledger *r)
{
	if (r->cpu > 1 << 16)
		return "the ledger of an impossible CPU";
	note_time(c, r->time);
	if (r->outcome >= OUTCOMES)
		return NULL; /* from a newer version; it is passed on, but cannot be added up here */
	if (r->cpu > c->n_ledger && !claim_gap(&c->gaps, (r->cpu - c->n_ledger) * sizeof(*c->ledger)))
		return "the ledger of an impossible CPU";
	if (!grow_array(&c->ledger, &c->cap_ledger, (size_t)r->cpu, sizeof(*c->ledger)))
		return capture_no_memory;
	if (r->cpu >= c->n_ledger)
		c->n_ledger = (size_t)r->cpu + 1;
	c->ledger[r->cpu][r->outcome] = r->count;
	return NULL;
}

const char *tally_apply(struct capture *c, const struct record_tally *r)
{
	if (r->event == 0 || r->event >= CAPTURE_EVENTS)
		return "the tally of an impossible event";
	if (r->outcome < OUTCOMES)
		c->tallies[r->event][r->outcome] = r->count;
	return NULL;
}

const char *cost_apply(struct capture *c, const struct record_cost *r)
{
	note_time(c, r->time);
	if (r->what < COSTS)
		c->costs[r->what] = r->count;
	return NULL;
}

const char *damage_apply(struct capture *c, const struct record_damage *r)
{
	c->totals.damages++;
	c->totals.cut_records += memmem(r->what.p, r->what.n, "cut short", 9) != NULL;
	c->totals.blocks_damaged += r->blocks;
	return NULL;
}

const char *end_apply(struct capture *c, const struct record_end *r)
{
	c->end_seen = true;
	c->end_reason = r->reason;
	c->end_time = r->time;
	note_time(c, r->time);
	return NULL;
}

bool capture_counts(const struct capture *c)
{
	return !c->counting || c->counting(c->context, c);
}

/* Returns the totals before this segment, plus its damage. */
static struct capture_totals totals_without(const struct capture *c)
{
	struct capture_totals t = c->before;

	t.refused = c->totals.refused;
	t.refused_records = c->totals.refused_records;
	t.damages = c->totals.damages;
	t.cut_records = c->totals.cut_records;
	t.blocks_damaged = c->totals.blocks_damaged;
	return t;
}

/*
 * Returns the length of the segment. Recording begins by its header and lasts until its end or a later
 * report; a capture without these, as one made from text, lasts from its first sample to its last.
 */
static uint64_t segment_ns(const struct capture *c)
{
	uint64_t from = c->totals.first, to = c->totals.last;

	if (c->monotonic && (!c->sampled || c->monotonic < from))
		from = c->monotonic;
	if (from && c->reported > to)
		to = c->reported;
	return to > from ? to - from : 0;
}

struct capture_totals capture_totals(const struct capture *c)
{
	struct capture_totals t = c->totals;

	if (!capture_counts(c))
		return totals_without(c);
	for (size_t cpu = 0; cpu < c->n_ledger; cpu++) {
		for (size_t o = 0; o < OUTCOMES; o++)
			t.outcomes[o] += c->ledger[cpu][o];
	}
	for (size_t i = 0; i < COSTS; i++) {
		if (cost_is_peak(i))
			t.costs[i] = c->costs[i] > t.costs[i] ? c->costs[i] : t.costs[i];
		else
			t.costs[i] += c->costs[i];
	}
	for (size_t event = 0; event < CAPTURE_EVENTS; event++) {
		for (size_t o = 0; o < OUTCOMES; o++)
			t.tally[o] += c->tallies[event][o];
	}
	t.ended += c->end_seen;
	t.seconds_ns += segment_ns(c);
	return t;
}
