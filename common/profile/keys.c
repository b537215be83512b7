#include "common/profile/keys.h"

#include "common/profile/origin.h"

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
	struct gather_key k = { .comm = t->comm };

	if (v->half != HALF_KERNEL)
		k.user = (uint32_t)r->user;
	if (v->half != HALF_USER)
		k.kernel = (uint32_t)r->kernel;
	if (k.user >= NODE_FIRST)
		k.epoch = g->capture.processes[t->process].epoch;
	if (keys_show_pid(v) || v->container || v->by == BY_CONTAINER || v->origins || t->comm == 0)
		k.process = t->process;
	if (keys_show_tid(v))
		k.thread = (uint32_t)r->thread;
	if (v->wall)
		k.wait = capture_wait(&g->capture, r->event);
	if (capture_is_counted(&g->capture, r->event))
		k.event = (uint32_t)r->event;
	if (v->moment_ns)
		k.slice = slice_of_time(g, r->time);
	return k;
}

/*
 * Slices count from the first sample; or from a multiple of their length since 1970, one slice before the first
 * sample, because those of other CPUs may come a little late.
 */
static void begin_run(struct gather *g, uint64_t time)
{
	uint64_t length = g->view->moment_ns;
	uint64_t realtime = length && g->view->origins ? capture_realtime(&g->capture, time) : 0;

	g->based = true;
	g->base = g->moment_base = time;
	if (length && realtime / length >= 2) {
		g->moment_base = time - realtime % length - length;
		realtime -= realtime % length + length;
	} else {
		realtime = 0;
	}
	if (g->view->origins && !origins_start(g->view->origins, g->p->runs, realtime))
		g->failed = true;
	g->p->runs++;
}

static struct slice bytes_of(const struct gather_key *key)
{
	return (struct slice){ (const uint8_t *)key, sizeof(*key) };
}

/* Samples of the key; false without memory. */
static bool add_key(struct gather *g, const struct gather_key *key, uint64_t samples, uint64_t weight)
{
	uint32_t id;

	if (!intern_add(&g->keys, bytes_of(key), &id) ||
	    !grow_array(&g->by_key, &g->cap_by_key, id, sizeof(*g->by_key)))
		return false;
	g->by_key[id].samples += samples;
	g->by_key[id].weight += weight;
	return true;
}

static bool add_up(struct gather *g, const struct record_sample *r, uint64_t samples, uint64_t weight)
{
	struct gather_key key = key_of(g, r);

	return add_key(g, &key, samples, weight);
}

/* Is what ran made to last as long as it did? */
static bool corrects(const struct view *v)
{
	return v->wall && v->weight == WEIGHT_NS && v->half == HALF_BOTH;
}

/* Where slices are long, there are few in a wait, and it is in all of them; else in the one that it ends in. */
static uint64_t slices_most(const struct gather *g)
{
	return g->view->moment_ns >= SPREAD_LEAST && g->view->weight == WEIGHT_NS ? SPREAD_MOST : 1;
}

/* Slice by slice from its end. The first of them, or what is before the run's first, has all that is left. */
static bool add_wait(struct gather *g, struct record_sample part, uint64_t weight)
{
	uint64_t length = g->view->moment_ns, samples = 1;

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

/* Of what lies in the time that is asked for, the first sample begins the run, whether the view counts it or not. */
static void find_begin(struct gather *g, const struct record_sample *r)
{
	struct record_sample part;
	uint64_t reach = slices_most(g) > 1 ? (SPREAD_MOST - 1) * g->view->moment_ns : 1;

	if (!view_by_clock(g->view))
		begin_run(g, r->time);
	else if (!view_part_in_time(g->view, &g->capture, 0, r, &part))
		return;
	else if (capture_wait(&g->capture, r->event) && part.weight)
		begin_run(g, part.time - (part.weight < reach ? part.weight : reach));
	else
		begin_run(g, r->time);
}

/* All of a sample, or what lies of a wait in the time that is asked for. */
static bool add_part(struct gather *g, const struct record_sample *part, uint64_t weight)
{
	enum capture_wait wait = capture_wait(&g->capture, part->event);

	if (!(g->view->moment_ns && wait ? add_wait(g, *part, weight) : add_up(g, part, 1, weight)))
		return false;
	return wait != CAPTURE_RUNS || !corrects(g->view) || running_sample(&g->running, part->thread, weight);
}

const char *keys_sample(struct gather *g, const struct record_sample *r)
{
	bool counted = g->view->weight != WEIGHT_NS && !g->view->ones && capture_is_counted(&g->capture, r->event);
	struct record_sample part;
	uint64_t weight;

	if (!g->based)
		find_begin(g, r);
	if (!view_part(g->view, &g->capture, g->base, r, &part))
		return NULL;
	weight = counted || g->view->weight == WEIGHT_NS ? part.weight : 1;
	if (!profile_claim(g->p, g->side, weight))
		return too_heavy;
	g->failed = !add_part(g, &part, weight) || g->failed;
	return NULL;
}

/* Of a span that began before the segment the part that is of the segment. */
static uint64_t part_of_segment(const struct capture *c, const struct record_ran *r)
{
	uint64_t of_segment = r->time > c->monotonic ? r->time - c->monotonic : 0;

	return r->span <= of_segment ? r->ns : (uint64_t)((unsigned __int128)r->ns * of_segment / r->span);
}

/* Spans that the view has in part are no use: how much was it of that part? */
static bool whole_passes(const struct gather *g, const struct record_ran *r)
{
	struct record_sample s = { .time = r->time, .event = CAPTURE_EVENTS, .thread = r->thread }, part;
	uint64_t start = r->time - r->span, first = view_by_clock(g->view) ? g->capture.monotonic : g->base;

	return g->based && r->ns <= r->span && r->span <= r->time && view_part(g->view, &g->capture, g->base, &s, &part) &&
	       view_in_time(g->view, &g->capture, g->base, start > first ? start : first);
}

const char *keys_ran(struct gather *g, const struct record_ran *r)
{
	struct record_sample s = { .time = r->time, .event = CAPTURE_EVENTS, .thread = r->thread };
	uint64_t ns = part_of_segment(&g->capture, r);
	struct gather_key key;
	uint32_t who;

	if (!corrects(g->view))
		return NULL;
	if (!whole_passes(g, r)) {
		running_drop(&g->running, r->thread);
		return NULL;
	}
	if (!profile_claim(g->p, g->side, ns))
		return too_heavy;
	key = key_of(g, &s);
	key.wait = KEYS_RAN;
	g->failed = !add_key(g, &key, 0, ns) || g->failed;
	key.slice = 0;
	if (!intern_add(&g->runners, bytes_of(&key), &who) ||
	    !running_span(&g->running, r->thread, who, ns))
		g->failed = true;
	return NULL;
}

/* The account of what ran that a key is of, and as what. */
static bool find_runner(const struct gather *g, const struct gather_key *k, uint32_t *who, enum running_part *what)
{
	struct gather_key key = { .process = k->process, .thread = k->thread, .comm = k->comm, .wait = KEYS_RAN };

	*what = k->wait == KEYS_RAN ? RUNNING_SPANS : RUNNING_SAMPLED;
	return (k->wait == KEYS_RAN || k->wait == CAPTURE_RUNS) &&
	       intern_find(&g->runners, bytes_of(&key), who);
}

void keys_correct(struct gather *g)
{
	enum running_part what;
	uint32_t who;

	for (size_t i = 0; g->runners.n && i < g->keys.n; i++) {
		struct gather_key key = keys_at(g, i);

		if (find_runner(g, &key, &who, &what))
			running_add(&g->running, who, what, g->by_key[i].weight);
	}
	for (size_t i = 0; g->runners.n && i < g->keys.n; i++) {
		struct gather_key key = keys_at(g, i);

		if (find_runner(g, &key, &who, &what))
			g->by_key[i].weight = running_share(&g->running, who, what, g->by_key[i].weight);
	}
	intern_release(&g->runners);
	running_forget(&g->running);
}
