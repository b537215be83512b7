#include "common/gather/gather_keys.h"

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/gather/gather_spread.h"
#include "common/gather/origin.h"
#include "common/select/recordings.h"
#include "common/select/select.h"

enum { SPREAD_MOST = 64 }; /* slices */
#define SPREAD_LEAST UINT64_C(1000000000) /* ns */

static const char too_heavy[] = "the weights add up to more than 64 bits";

static uint32_t slice_of_time(const struct gather *g, uint64_t time)
{
	uint64_t after = time - g->moment_base, slice = (int64_t)after < 0 ? 0 : after / g->view->moment_ns;

	return slice < UINT32_MAX ? (uint32_t)slice : UINT32_MAX;
}

static struct gather_key key_of(const struct gather *g, const struct record_sample *r)
{
	const struct capture_thread *t = &g->capture.threads[r->thread];
	const struct view *v = g->view;
	enum origin_grain grain = v->origins ? v->origins->grain : ORIGIN_THREAD;
	struct gather_key k = { .comm = t->comm };

	if (v->half != HALF_KERNEL)
		k.user = (uint32_t)r->user;
	if (v->half != HALF_USER)
		k.kernel = (uint32_t)r->kernel;
	if (k.user >= NODE_FIRST)
		k.epoch = g->capture.processes[t->process].epoch;
	if (v->container || view_has_key(v, BY_CONTAINER) || v->origins || v->all_ids)
		k.cgroup = g->capture.processes[t->process].cgroup;
	if (view_has_key(v, BY_USER) || v->all_ids)
		k.owner = g->capture.processes[t->process].owner;
	if (gather_keys_need_pid(v) || (v->origins && grain < ORIGIN_CONTAINER) || v->all_ids || t->comm == 0)
		k.process = t->process;
	if (gather_keys_need_tid(v) || (gather_spreads(v) && grain == ORIGIN_THREAD) || v->all_ids)
		k.thread = (uint32_t)r->thread;
	if (((gather_spreads(v) && grain == ORIGIN_THREAD) || view_has_key(v, BY_CPU)) &&
	    r->cpu < UINT32_MAX - 1)
		k.cpu = (uint32_t)r->cpu + 1;
	if (v->wall)
		k.wait = capture_wait(&g->capture, r->event);
	if (capture_is_counted(&g->capture, r->event))
		k.event = (uint32_t)r->event;
	if (v->moment_ns)
		k.slice = slice_of_time(g, r->time);
	return k;
}

/*
 * Begins a run for the rest of the segment. Its slices count from time, and spans of --from and --to from the
 * beginning of the recording. With origins without threads slices are aligned to a multiple of their length
 * since 1970, and start one slice before the first sample, because samples of other CPUs may come a little late.
 */
static void begin_run(struct gather *g, uint64_t time)
{
	struct recording_run *of = recordings_run(g->view->recordings);
	uint64_t length = g->view->moment_ns;
	uint64_t realtime = length && g->view->origins ? capture_realtime(&g->capture, time) : 0;

	g->based = true;
	g->moment_base = time;
	g->base = select_by_clock(g->view) ? time : recordings_base(g->view->recordings, &g->capture, time);
	if (gather_spreads(g->view) && !g->view->origins->aligned) {
		/* Their slices are at the times that --from and --to count. */
	} else if (length && realtime / length >= 2) {
		g->moment_base = time - realtime % length - length;
		realtime -= realtime % length + length;
	} else {
		realtime = 0;
	}
	if (g->view->origins && !origins_start(g->view->origins, g->p->runs, realtime))
		g->failed = true;
	g->run = g->p->runs++;
	if (of)
		*of = (struct recording_run){ true, g->run, g->view->recordings->operand, g->base,
					      g->moment_base };
}

/*
 * Goes on with the run of the segment's recording; returns false if it has none. With origins each operand has
 * a run of its own, because the wall clock can be set, and the machine suspended, between two files.
 */
static bool resume_run(struct gather *g)
{
	const struct recording_run *of = recordings_run(g->view->recordings);

	if (!of || !of->begun || (g->view->origins && of->operand != g->view->recordings->operand))
		return false;
	g->based = true;
	g->run = of->number;
	g->base = of->base;
	g->moment_base = of->moment_base;
	return true;
}

static struct slice bytes_of(const struct gather_key *key)
{
	return (struct slice){ (const uint8_t *)key, sizeof(*key) };
}

/* Adds samples to the key's sum; returns false if out of memory. */
static bool add_key(struct gather *g, const struct gather_key *key, uint64_t samples, uint64_t weight)
{
	uint32_t id;

	if (!intern_add(&g->keys, bytes_of(key), &id) ||
	    !grow_array(&g->by_key, &g->cap_by_key, id, sizeof(*g->by_key)))
		return false;
	if (g->tap)
		g->tap->key = id;
	g->by_key[id].samples += samples;
	g->by_key[id].weight += weight;
	return true;
}

static bool add_up(struct gather *g, const struct record_sample *r, uint64_t samples, uint64_t weight)
{
	struct gather_key key = key_of(g, r);

	return add_key(g, &key, samples, weight);
}

bool gather_keys_see(struct gather *g, uint64_t thread, uint64_t user, uint64_t kernel, uint32_t *key)
{
	const struct record_sample r = { .thread = thread, .user = user, .kernel = kernel };
	struct gather_key k = key_of(g, &r);

	return add_key(g, &k, 0, 0) && ((*key = g->tap->key + 1));
}

/* Adds weight that is evenly spread over [start, end) to the slices there. */
static bool spread_span(struct gather *g, struct gather_key key, uint64_t samples, uint64_t start,
			uint64_t end, uint64_t weight)
{
	struct gather_piece pieces[GATHER_PIECES];
	size_t n = gather_spread(g, start, end, weight, pieces);

	for (size_t i = 0; i < n; i++) {
		key.slice = pieces[i].slice;
		key.whole = pieces[i].whole;
		if (!add_key(g, &key, i + 1 == n ? samples : 0, pieces[i].weight))
			return false;
	}
	return true;
}

/* Returns into how many slices at most a wait is spread: one if slices are short, because it has many. */
static uint64_t slices_most(const struct gather *g)
{
	return g->view->moment_ns >= SPREAD_LEAST && g->view->weight == WEIGHT_NS ? SPREAD_MOST : 1;
}

/*
 * Returns how far before its first sample a run may have slices, if it begins with time that has no sample.
 */
static uint64_t spread_reach(const struct gather *g)
{
	return slices_most(g) > 1 ? (SPREAD_MOST - 1) * g->view->moment_ns : 1;
}

/* Adds a wait slice by slice, from its end. The last addition, or time before the run, gets the rest. */
static bool add_wait(struct gather *g, struct record_sample part, uint64_t weight)
{
	uint64_t length = g->view->moment_ns, samples = 1;

	if (gather_spreads(g->view))
		return spread_span(g, key_of(g, &part), samples, part.time - weight, part.time, weight);
	for (uint64_t most = slices_most(g); samples || weight; samples = 0, most--) {
		uint64_t after = --part.time - g->moment_base, within = weight;

		if (most > 1 && (int64_t)after >= 0 && after % length + 1 < weight)
			within = after % length + 1;
		if (!add_up(g, &part, samples, within))
			return false;
		part.time -= within - 1;
		weight -= within;
	}
	return true;
}

/*
 * Returns when recording began, if waiting is recorded: the first sample may end a long wait that began at
 * that time or before. Returns 0 otherwise; time then counts from the first sample.
 */
static uint64_t waits_begin(const struct gather *g)
{
	return capture_has_waits(&g->capture) ? capture_meta_number(&g->capture, "start-monotonic-ns") : 0;
}

/*
 * Begins the run at the first sample inside the time window, whether the view counts that sample or not,
 * unless an earlier segment has begun it.
 */
static void find_begin(struct gather *g, const struct record_sample *r)
{
	struct record_sample part;
	uint64_t reach = spread_reach(g);

	if (resume_run(g))
		return;
	if (!select_by_clock(g->view))
		begin_run(g, select_base(&g->capture, r->time));
	else if (!select_by_time(&(struct select){ g->view, &g->capture, 0 }, r, &part))
		return;
	else if (capture_wait(&g->capture, r->event) && part.weight)
		begin_run(g, part.time - (part.weight < reach ? part.weight : reach));
	else
		begin_run(g, r->time);
}

/* Adds a sample, or the part of a wait that lies in the time window. */
static bool add_part(struct gather *g, const struct record_sample *part, uint64_t weight)
{
	enum capture_wait wait = capture_wait(&g->capture, part->event);

	if (!(g->view->moment_ns && wait ? add_wait(g, *part, weight) : add_up(g, part, 1, weight)))
		return false;
	return wait != CAPTURE_RUNS || !gather_keys_corrects(g->view) || running_sample(&g->running, part->thread, weight);
}

/* Before the segment's first sample, time counts from the recording's, if that is known. */
static struct select select_of(const struct gather *g)
{
	uint64_t base = g->based ? g->base : recordings_base(g->view->recordings, &g->capture, UINT64_MAX);

	return (struct select){ g->view, &g->capture, base };
}

static uint64_t divide_latency(const struct gather *g, uint64_t thread, uint64_t weight)
{
	const struct capture *c = &g->capture;
	const struct capture_process *p = &c->processes[c->threads[thread].process];

	return weight / (g->view->latency == LATENCY_GROUP ? p->group_running : p->running);
}

const char *gather_keys_sample(struct gather *g, const struct record_sample *r)
{
	bool counted = g->view->weight != WEIGHT_NS && !g->view->ones && capture_is_counted(&g->capture, r->event);
	bool corrects = gather_keys_corrects(g->view);
	struct record_sample part;
	enum select_answer answer;
	struct select select;
	uint64_t weight;

	if (!g->based)
		find_begin(g, r);
	select = select_of(g);
	if (corrects && (!run_spans_wait(&g->portions, &select, r) || !gather_spread_wait(g, r)))
		g->failed = true;
	answer = select_sample(&select, r, &part);
	/* A thread that does not count may become one that does before its run time is reported. */
	if (answer == SELECT_OTHERS && corrects && capture_wait(&g->capture, r->event) == CAPTURE_RUNS &&
	    !running_sample(&g->running, r->thread, part.weight))
		g->failed = true;
	if (answer != SELECT_IN)
		return NULL;
	weight = counted || g->view->weight == WEIGHT_NS ? part.weight : 1;
	if (g->view->latency)
		weight = divide_latency(g, r->thread, weight);
	if (!profile_claim(g->p, g->side, weight))
		return too_heavy;
	g->failed = !add_part(g, &part, weight) || g->failed;
	if (g->tap) {
		g->tap->took = !g->failed;
		g->tap->time = part.time;
		g->tap->weight = part.weight;
	}
	return NULL;
}

void gather_keys_outside(struct gather *g, const struct record_outside *r)
{
	const struct record_sample s = {
		.time = r->time, .event = CAPTURE_EVENTS, .cpu = r->cpu, .thread = r->thread,
	};
	struct gather_key key = key_of(g, &s);

	key.wait = GATHER_KEYS_OUTSIDE;
	g->failed = !add_key(g, &key, 0, 0) || g->failed;
}

/*
 * Begins the run if needed. If times count from the first sample, there is no time before it: returns false.
 */
static bool is_based(struct gather *g, const struct record_ran *part)
{
	const struct view *v = g->view;
	uint64_t reach = spread_reach(g), begin = select_by_clock(v) ? 0 : waits_begin(g);

	if (!g->based && resume_run(g))
		return true;
	if (!g->based && begin && begin < part->time)
		begin_run(g, begin);
	else if (!g->based && v->from.kind != TIME_ARG_OFFSET && v->to.kind != TIME_ARG_OFFSET)
		begin_run(g, part->time - (part->span < reach ? part->span : reach));
	return g->based;
}

/* Spreads run time over the gaps between waits; if these are too short, the rest over all of the span. */
static bool spread_run(struct gather *g, struct gather_key key, const struct record_ran *part)
{
	uint64_t start = part->time - part->span, free = gather_spread_free(g, part), gaps, seen = 0;
	struct gather_gap gap = { .end = start };
	bool good = true;

	gaps = part->ns < free ? part->ns : free;
	while (good && gather_spread_gap(g, part, &gap)) {
		uint64_t more = seen + (gap.end - gap.start);

		good = spread_span(g, key, 0, gap.start, gap.end,
				   (uint64_t)((unsigned __int128)gaps * more / free) -
					   (uint64_t)((unsigned __int128)gaps * seen / free));
		seen = more;
	}
	return good && (part->ns == gaps || spread_span(g, key, 0, start, part->time, part->ns - gaps));
}

/* As add_wait. The slices in which the thread ran are not known: each gets its share by time. */
static bool add_slices(struct gather *g, struct gather_key key, const struct record_ran *part)
{
	uint64_t length = g->view->moment_ns, left = part->span, end = part->time;

	if (gather_spreads(g->view))
		return spread_run(g, key, part);
	for (uint64_t most = slices_most(g); left; most--) {
		uint64_t after = end - 1 - g->moment_base, within = left, ns;

		if (most > 1 && (int64_t)after >= 0 && after % length + 1 < left)
			within = after % length + 1;
		ns = (uint64_t)((unsigned __int128)part->ns * left / part->span) -
		     (uint64_t)((unsigned __int128)part->ns * (left - within) / part->span);
		key.slice = length ? slice_of_time(g, end - 1) : 0;
		if (!add_key(g, &key, 0, ns))
			return false;
		end -= within;
		left -= within;
	}
	return true;
}

/* Returns the key of the account of run time: that of the threads which the view shows as one. */
static struct gather_key account_of(const struct gather *g, const struct gather_key *k)
{
	const struct view *v = g->view;
	bool all = v->origins && !v->origins->threads;
	struct gather_key key = { .comm = k->comm, .wait = GATHER_KEYS_RAN };

	if (all || v->container || view_has_key(v, BY_CONTAINER))
		key.cgroup = k->cgroup;
	if (view_has_key(v, BY_USER))
		key.owner = k->owner;
	if (all || gather_keys_need_pid(v) || k->comm == 0)
		key.process = k->process;
	if (gather_keys_need_tid(v))
		key.thread = k->thread;
	return key;
}

/* Compares the run time inside the window with the samples since the previous RAN of the thread. */
static const char *add_ran(struct gather *g, const struct record_ran *part)
{
	struct record_sample s = {
		.time = part->time, .event = CAPTURE_EVENTS, .cpu = UINT64_MAX, .thread = part->thread,
	};
	const struct select select = select_of(g);
	struct gather_key key;
	uint32_t who;

	if (part->span == 0 || !select_thread(&select, part->thread) || !is_based(g, part)) {
		running_drop(&g->running, part->thread);
		return NULL;
	}
	if (!profile_claim(g->p, g->side, part->ns))
		return too_heavy;
	key = key_of(g, &s);
	key.wait = GATHER_KEYS_RAN;
	g->failed = !add_slices(g, key, part) || g->failed;
	key = account_of(g, &key);
	if (!intern_add(&g->runners, bytes_of(&key), &who) ||
	    !running_span(&g->running, part->thread, who, part->ns))
		g->failed = true;
	return NULL;
}

const char *gather_keys_due(struct gather *g, const struct record *r)
{
	const struct select select = select_of(g);
	const char *wrong = NULL;
	struct record_ran part;

	while (run_spans_due(&g->portions, &select, r, &part)) {
		const char *w = add_ran(g, &part);

		wrong = w ? w : wrong;
	}
	return wrong;
}

void gather_keys_ran(struct gather *g, const struct record_ran *r)
{
	if (!gather_keys_corrects(g->view))
		return;
	if (!run_spans_makes_sense(r))
		running_drop(&g->running, r->thread);
	else if (!run_spans_add(&g->portions, &g->capture, r))
		g->failed = true;
	gather_spread_ran(g, r);
}

/* Finds the account of run time that the key belongs to, and its part in the account. */
static bool find_runner(const struct gather *g, const struct gather_key *k, uint32_t *who, enum running_part *what)
{
	struct gather_key key = account_of(g, k);

	*what = k->wait == GATHER_KEYS_RAN ? RUNNING_SPANS : RUNNING_SAMPLED;
	return (k->wait == GATHER_KEYS_RAN || k->wait == CAPTURE_RUNS) &&
	       intern_find(&g->runners, bytes_of(&key), who);
}

void gather_keys_correct(struct gather *g)
{
	enum running_part what;
	uint32_t who;

	for (size_t i = 0; g->runners.n && i < g->keys.n; i++) {
		struct gather_key key = gather_keys_at(g, i);

		if (find_runner(g, &key, &who, &what))
			running_add(&g->running, who, what, g->by_key[i].weight);
	}
	for (size_t i = 0; g->runners.n && i < g->keys.n; i++) {
		struct gather_key key = gather_keys_at(g, i);

		if (find_runner(g, &key, &who, &what))
			g->by_key[i].weight = running_share(&g->running, who, what, g->by_key[i].weight);
	}
	intern_release(&g->runners);
	running_forget(&g->running);
}
