#include "common/profile/gather.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/capture/container.h"
#include "common/capture/labels.h"
#include "common/profile/ends.h"
#include "common/profile/label.h"
#include "common/profile/name.h"
#include "common/profile/origin.h"
#include "common/profile/reason.h"

enum { SPREAD_MOST = 64 }; /* slices */
#define SPREAD_LEAST UINT64_C(1000000000) /* ns */

/*
 * Samples with the same key become one stack of the profile. What the view does not show is 0, so
 * that ten thousand processes of the same shape are few keys.
 */
struct gather_key {
	uint64_t epoch; /* 0 without user frames: the kernel has none */
	uint32_t process, thread, comm;
	uint32_t user, kernel;
	uint32_t slice; /* of time. No padding with bytes of chance: keys are compared as bytes */
	uint32_t wait;  /* enum capture_wait, where it is shown */
	uint32_t event; /* one that is counted, or 0: what stands in for the clock ends to when the clock is heard of */
};

enum { RAN = CAPTURE_WAITS }; /* as wait: how long the thread ran, as the capture says itself */

struct gather_sum {
	uint64_t samples, weight;
};

bool gather_init(struct gather *g, struct profile *p, unsigned int side, const struct view *view)
{
	*g = (struct gather){ .p = p, .side = side, .view = view };
	intern_init(&g->keys);
	intern_init(&g->runners);
	if (view->reasons)
		reasons_forget(view->reasons);
	return capture_init_for(&g->capture, view_counts, view);
}

void gather_release(struct gather *g)
{
	capture_release(&g->capture);
	intern_release(&g->keys);
	intern_release(&g->runners);
	running_release(&g->running);
	portions_release(&g->portions);
	free(g->by_key);
	free(g->memo);
	free(g->path);
	free(g->looked);
	*g = (struct gather){ 0 };
}

/* Rows by process or thread have its ids, unless they are to meet those of another capture. */
static bool shows_pid(const struct view *v)
{
	return v->pid || v->tid || (!v->no_ids && (v->by == BY_PROCESS || v->by == BY_THREAD));
}

static bool shows_tid(const struct view *v)
{
	return v->tid || (!v->no_ids && v->by == BY_THREAD);
}

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
	if (shows_pid(v) || v->container || v->by == BY_CONTAINER || v->origins || t->comm == 0)
		k.process = t->process;
	if (shows_tid(v))
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

/* Samples of the key; false without memory. */
static bool add_key(struct gather *g, const struct gather_key *key, uint64_t samples, uint64_t weight)
{
	uint32_t id;

	if (!intern_add(&g->keys, (struct slice){ (const uint8_t *)key, sizeof(*key) }, &id) ||
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

static const char too_heavy[] = "the weights add up to more than 64 bits";

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

/* So far back, where a run begins with time that has no sample, slices can be. */
static uint64_t spread_reach(const struct gather *g)
{
	return slices_most(g) > 1 ? (SPREAD_MOST - 1) * g->view->moment_ns : 1;
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
	uint64_t reach = spread_reach(g);

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

static const char *add_sample(struct gather *g, const struct record_sample *r)
{
	bool counted = g->view->weight != WEIGHT_NS && !g->view->ones && capture_is_counted(&g->capture, r->event);
	struct record_sample part;
	uint64_t weight;

	if (!g->based)
		find_begin(g, r);
	if (corrects(g->view) && !portions_wait(&g->portions, &(struct asked){ g->view, &g->capture, g->base }, r))
		g->failed = true;
	if (!view_part(g->view, &g->capture, g->base, r, &part))
		return NULL;
	weight = counted || g->view->weight == WEIGHT_NS ? part.weight : 1;
	if (!profile_claim(g->p, g->side, weight))
		return too_heavy;
	g->failed = !add_part(g, &part, weight) || g->failed;
	return NULL;
}

/* Time before the first sample is none, where times are counted from that. */
static bool is_based(struct gather *g, const struct record_ran *part)
{
	const struct view *v = g->view;
	uint64_t reach = spread_reach(g);

	if (!g->based && v->from.kind != INSTANT_OFFSET && v->to.kind != INSTANT_OFFSET)
		begin_run(g, part->time - (part->span < reach ? part->span : reach));
	return g->based;
}

/* As add_wait. In which of the slices it ran is not known: each has as much as it has of the time. */
static bool add_slices(struct gather *g, struct gather_key key, const struct record_ran *part)
{
	uint64_t length = g->view->moment_ns, left = part->span, end = part->time;

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

/* What ran in the time that is asked for is compared with the samples since the last that was told of. */
static const char *add_ran(struct gather *g, const struct record_ran *part)
{
	struct record_sample s = { .time = part->time, .event = CAPTURE_EVENTS, .thread = part->thread };
	struct gather_key key;
	uint32_t who;

	if (part->span == 0 || !view_thread(g->view, &g->capture, part->thread) || !is_based(g, part)) {
		running_drop(&g->running, part->thread);
		return NULL;
	}
	if (!profile_claim(g->p, g->side, part->ns))
		return too_heavy;
	key = key_of(g, &s);
	key.wait = RAN;
	g->failed = !add_slices(g, key, part) || g->failed;
	key.slice = 0;
	if (!intern_add(&g->runners, (struct slice){ (const uint8_t *)&key, sizeof(key) }, &who) ||
	    !running_span(&g->running, part->thread, who, part->ns))
		g->failed = true;
	return NULL;
}

/* What threads ran until this record, or the end of the segment: NULL. */
static const char *add_due(struct gather *g, const struct record *r)
{
	const struct asked asked = { g->view, &g->capture, g->base };
	const char *wrong = NULL;
	struct record_ran part;

	while (corrects(g->view) && portions_due(&g->portions, &asked, r, &part)) {
		const char *w = add_ran(g, &part);

		wrong = w ? w : wrong;
	}
	return wrong;
}

static void hear_ran(struct gather *g, const struct record_ran *r)
{
	if (!corrects(g->view))
		return;
	if (!portions_makes_sense(r))
		running_drop(&g->running, r->thread);
	else if (!portions_tell(&g->portions, r))
		g->failed = true;
}

/* A stack that is being put together: how far it has come in the profile, and its text's length. */
struct stack {
	uint32_t node, bytes; /* bytes stops at its highest value */
};

/* What came of one half: how it ended outwards, and whether its innermost frame has a name. */
struct half {
	uint16_t root;
	bool resolved;
};

/*
 * Where a node of the capture was put last. Stacks share most of their outer frames, so the walk from
 * the innermost frame outwards mostly meets a node that has been put there before, and stops.
 */
struct gather_memo {
	uint32_t base, epoch; /* of which root frame and epoch; good for no other */
	struct half half;
	struct stack at; /* at.node 0: none yet */
};

static bool push(struct gather *g, struct stack *s, uint32_t label)
{
	if (__builtin_add_overflow(s->bytes, (uint32_t)profile_text(g->p, label).n + (s->node != 0), &s->bytes))
		s->bytes = UINT32_MAX;
	return profile_child(g->p, s->node, label, &s->node);
}

static bool push_text(struct gather *g, struct stack *s, struct slice text)
{
	uint32_t label;

	return profile_label(g->p, text, &label) && push(g, s, label);
}

static void append_comm(const struct gather *g, const struct gather_key *k, struct buf *text)
{
	if (k->comm)
		label_append(text, capture_text(&g->capture, k->comm));
	else
		buf_printf(text, "[pid %" PRIu64 "]", g->capture.processes[k->process].pid);
}

static void append_container(const struct gather *g, const struct capture_process *process, struct buf *text)
{
	struct buf name = { 0 };

	container_label(&name, process->cgroup ? capture_text(&g->capture, process->cgroup) : slice_of("[no cgroup]"));
	label_append(text, buf_view(&name));
	text->failed = text->failed || name.failed;
	buf_release(&name);
}

static void append_label(const struct gather *g, struct buf *text)
{
	struct slice value = view_label(&g->capture, g->view->label, strlen(g->view->label));

	if (value.n)
		label_append(text, value);
	else
		buf_printf(text, "[no %s]", g->view->label);
}

/* The command, with the container around it where that was asked for; or one of the things that rows can be by. */
static bool push_root(struct gather *g, struct stack *s, const struct gather_key *k, struct buf *text)
{
	const struct capture_process *process = k->process ? &g->capture.processes[k->process] : NULL;

	if (g->view->container) {
		buf_clear(text);
		append_container(g, process, text);
		if (text->failed || !push_text(g, s, buf_view(text)))
			return false;
	}
	buf_clear(text);
	if (g->view->by == BY_CONTAINER)
		append_container(g, process, text);
	else if (g->view->by == BY_LABEL)
		append_label(g, text);
	else
		append_comm(g, k, text);
	if (shows_pid(g->view))
		buf_printf(text, "-%" PRIu64, process->pid);
	if (shows_tid(g->view))
		buf_printf(text, "/%" PRIu64, g->capture.threads[k->thread].tid);
	return !text->failed && push_text(g, s, buf_view(text));
}

static bool push_truncated(struct gather *g, struct stack *s, uint32_t root)
{
	char text[64];

	if (!g->view->truncated || !ends_truncated(root))
		return true;
	snprintf(text, sizeof(text), "[truncated: %s]", root_name(root));
	return push_text(g, s, slice_of(text));
}

/* What it waits for is the innermost frame, else a place where there is computing and waiting would be one. */
static bool push_wait(struct gather *g, struct stack *s, uint32_t wait)
{
	static const char *const names[RAN + 1] = {
		[CAPTURE_SLEEPS] = "[sleeping]",
		[CAPTURE_UNINTERRUPTIBLE] = "[uninterruptible]",
		[CAPTURE_QUEUED] = "[waiting for a CPU]",
		[RAN] = "[running, not sampled]",
	};

	return wait == CAPTURE_RUNS || wait > RAN || push_text(g, s, slice_of(names[wait]));
}

/* Walks outwards to the root, or to a node known from before; how many nodes are left to put. */
static bool find_known(struct gather *g, uint32_t node, uint32_t epoch, struct stack *s, struct half *half,
		       size_t *n)
{
	uint32_t base = s->node;

	for (*n = 0; node >= NODE_FIRST; node = g->capture.nodes[node].parent) {
		const struct gather_memo *m = &g->memo[node];

		if (m->at.node && m->base == base && m->epoch == epoch) {
			*s = m->at;
			*half = m->half;
			return true;
		}
		if (!grow_array(&g->path, &g->cap_path, *n, sizeof(*g->path)))
			return false;
		g->path[(*n)++] = node;
	}
	*half = (struct half){ (uint16_t)node, true };
	return push_truncated(g, s, node);
}

static bool push_half(struct gather *g, struct names *names, struct stack *s, uint32_t node, uint64_t epoch,
		      struct half *half)
{
	uint32_t base = s->node, number;
	size_t n;

	if (!names_epoch(names, epoch, &number) || !find_known(g, node, number, s, half, &n))
		return false;
	while (n) {
		uint32_t at = g->path[--n];
		struct names_run run;

		if (!names_frame(names, g->capture.nodes[at].frame, epoch, number, &run))
			return false;
		for (uint32_t i = 0; i < run.n; i++) {
			if (!push(g, s, run.labels[i]))
				return false;
		}
		half->resolved = run.resolved;
		g->memo[at] = (struct gather_memo){ base, number, *half, *s };
	}
	return true;
}

/* Without a frame, there is a stack only where it could not be had; else the sample has no such half. */
static void count_end(uint64_t *by_root, uint32_t node, uint64_t end, uint64_t samples)
{
	if (view_has_half(node) || ends_truncated(end))
		by_root[end] += samples;
}

static bool count_unresolved(struct gather *g, const struct names *names, const struct gather_key *k, uint64_t samples)
{
	bool kernel = k->kernel >= NODE_FIRST;
	uint32_t frame = g->capture.nodes[kernel ? k->kernel : k->user].frame;

	g->sums.unresolved += samples;
	return !g->view->reasons || reasons_count(g->view->reasons, &g->capture, &g->capture.frames[frame],
						  names_place(names, frame, kernel ? 0 : k->epoch), samples);
}

/* "key=value,key=value" */
static bool append_labels(const struct gather *g, struct buf *text)
{
	struct buf all = { 0 };
	struct capture_label *labels;
	size_t n;
	bool good = capture_labels(&g->capture, &labels, &n);

	for (size_t i = 0; i < n; i++) {
		buf_text(&all, i ? "," : "");
		buf_bytes(&all, labels[i].key.p, labels[i].key.n);
		buf_byte(&all, '=');
		buf_bytes(&all, labels[i].value.p, labels[i].value.n);
	}
	free(labels);
	if (all.n)
		label_append(text, buf_view(&all));
	good = good && !all.failed && !text->failed;
	buf_release(&all);
	return good;
}

static bool find_origin(struct gather *g, const struct gather_key *k, uint32_t *number)
{
	const struct capture_process *process = &g->capture.processes[k->process];
	struct buf host = { 0 }, container = { 0 }, labels = { 0 }, comm = { 0 };
	struct origin o = { .pid = process->pid };
	bool good = append_labels(g, &labels);

	if (capture_meta(&g->capture, "host").n)
		label_append(&host, capture_meta(&g->capture, "host"));
	if (process->cgroup)
		label_append(&container, capture_text(&g->capture, process->cgroup));
	append_comm(g, k, &comm);
	o.host = buf_view(&host);
	o.container = buf_view(&container);
	o.labels = buf_view(&labels);
	o.comm = buf_view(&comm);
	good = good && !host.failed && !container.failed && !comm.failed && origins_add(g->view->origins, &o, number);
	buf_release(&host);
	buf_release(&container);
	buf_release(&labels);
	buf_release(&comm);
	return good;
}

static bool mark(struct gather *g, uint32_t node, const struct gather_key *k, uint64_t weight)
{
	struct profile_moment m = { .side = g->side, .run = g->p->runs - 1, .slice = k->slice, .node = node };

	m.weight = weight;
	return (!g->view->origins || find_origin(g, k, &m.origin)) && profile_mark(g->p, &m);
}

static bool add_stack(struct gather *g, struct names *names, const struct gather_key *k, uint64_t samples,
		      uint64_t weight, struct buf *text)
{
	struct half user, kernel;
	struct stack s = { 0 }, outer;

	if (!push_root(g, &s, k, text))
		return false;
	outer = s;
	if (!push_half(g, names, &s, k->user, k->epoch, &user))
		return false;
	if (g->view->delimiter && k->user >= NODE_FIRST && k->kernel >= NODE_FIRST &&
	    !push_text(g, &s, slice_of("-")))
		return false;
	if (!push_half(g, names, &s, k->kernel, 0, &kernel))
		return false;
	if (!push_wait(g, &s, k->wait))
		return false;
	g->sums.samples += samples;
	if (!(k->kernel >= NODE_FIRST ? kernel : user).resolved && !count_unresolved(g, names, k, samples))
		return false;
	count_end(g->sums.user, k->user, ends_index(&g->capture, user.root), samples);
	count_end(g->sums.kernel, k->kernel, ends_index(&g->capture, kernel.root), samples);
	if (view_by_root(g->view->by))
		s = outer; /* the frames were looked at for the sums alone */
	if (g->view->moment_ns && !mark(g, s.node, k, weight))
		return false;
	return profile_add_at(g->p, s.node, s.bytes, g->side, weight);
}

static enum names_style style_of(const struct view *v)
{
	return v->by == BY_MODULE ? NAMES_MODULES : v->annotate ? NAMES_ANNOTATED : NAMES_FUNCTIONS;
}

/* The clock's event may have come after samples of another one, which was the first so far. */
static bool still_listed(const struct gather *g, const struct gather_key *k)
{
	return !k->event || view_lists_event(g->view, &g->capture, k->event);
}

/* Names what the segment has, less what stands in but, and adds it to the profile. */
static bool add_stacks(struct gather *g, const struct gather_sum *but)
{
	struct buf text = { 0 };
	struct names names;
	bool good = names_init(&names, &g->capture, g->p, style_of(g->view));

	names.inlined = g->view->inlined;
	names.lines = g->view->lines;
	names.full_paths = g->view->full_paths;
	names.modules = g->view->modules;
	names.annotated = g->view->annotate;
	names.side = g->side;
	free(g->memo);
	g->memo = calloc(g->capture.n_nodes + 1, sizeof(*g->memo));
	good = good && g->memo;
	for (size_t i = 0; good && i < g->keys.n; i++) {
		struct gather_sum sum = g->by_key[i];
		struct gather_key key;

		memcpy(&key, intern_get(&g->keys, (uint32_t)i).p, sizeof(key));
		if (but) {
			sum.samples -= but[i].samples;
			sum.weight -= but[i].weight;
		}
		if (!still_listed(g, &key) || (key.wait == RAN && (but || !sum.weight)))
			continue;
		g->sums.counted = g->sums.counted || (key.event && g->view->weight != WEIGHT_NS && !g->view->ones);
		good = (but && !sum.samples) || add_stack(g, &names, &key, sum.samples, sum.weight, &text);
	}
	names_release(&names);
	buf_release(&text);
	return good;
}

/* The account of what ran that a key is of, and as what. */
static bool find_runner(const struct gather *g, const struct gather_key *k, uint32_t *who, enum running_part *what)
{
	struct gather_key key = { .process = k->process, .thread = k->thread, .comm = k->comm, .wait = RAN };

	*what = k->wait == RAN ? RUNNING_SPANS : RUNNING_SAMPLED;
	return (k->wait == RAN || k->wait == CAPTURE_RUNS) &&
	       intern_find(&g->runners, (struct slice){ (const uint8_t *)&key, sizeof(key) }, who);
}

/* What ran comes to weigh as long as it did, wherever the capture says how long that was. */
static void correct(struct gather *g)
{
	enum running_part what;
	struct gather_key key;
	uint32_t who;

	for (size_t i = 0; g->runners.n && i < g->keys.n; i++) {
		memcpy(&key, intern_get(&g->keys, (uint32_t)i).p, sizeof(key));
		if (find_runner(g, &key, &who, &what))
			running_add(&g->running, who, what, g->by_key[i].weight);
	}
	for (size_t i = 0; g->runners.n && i < g->keys.n; i++) {
		memcpy(&key, intern_get(&g->keys, (uint32_t)i).p, sizeof(key));
		if (find_runner(g, &key, &who, &what))
			g->by_key[i].weight = running_share(&g->running, who, what, g->by_key[i].weight);
	}
	intern_release(&g->runners);
	running_forget(&g->running);
}

/* Adds what the segment had and forgets it. */
static bool flush(struct gather *g)
{
	bool good;

	add_due(g, NULL);
	portions_forget(&g->portions);
	correct(g);
	good = add_stacks(g, NULL);

	if (g->keys.n)
		memset(g->by_key, 0, g->keys.n * sizeof(*g->by_key));
	if (g->looked)
		memset(g->looked, 0, g->cap_looked * sizeof(*g->looked));
	intern_release(&g->keys);
	return good;
}

/* What is to be added has been claimed by the gatherer's own profile; the other one has room for it, too. */
static bool claim(struct gather *g, struct profile *p)
{
	for (size_t i = 0; i < g->keys.n; i++) {
		if (!profile_claim(p, g->side, g->by_key[i].weight - g->looked[i].weight))
			return false;
	}
	return true;
}

bool gather_look(struct gather *g, struct profile *p, const struct view *view, struct gather_sums *sums)
{
	const struct view *own_view = g->view;
	struct gather_sums own_sums = g->sums;
	struct profile *own = g->p;
	bool good;

	if (g->keys.n == 0)
		return true;
	if (!grow_array(&g->looked, &g->cap_looked, g->keys.n - 1, sizeof(*g->looked)) || !claim(g, p))
		return false;
	g->p = p;
	g->view = view;
	g->sums = *sums;
	good = add_stacks(g, g->looked);
	*sums = g->sums;
	g->p = own;
	g->view = own_view;
	g->sums = own_sums;
	memcpy(g->looked, g->by_key, g->keys.n * sizeof(*g->looked));
	return good;
}

const char *gather_apply(struct gather *g, const struct record *r)
{
	const char *wrong, *late;

	if (r->type == RECORD_SEGMENT) {
		g->failed = !flush(g) || g->failed;
		if (!(g->capture.end_seen && g->capture.end_reason == END_CONTINUES) && capture_counts(&g->capture))
			g->based = false;
		if (g->view->reasons)
			reasons_forget(g->view->reasons);
	}
	g->sums.symbols += r->type == RECORD_SYMBOL || r->type == RECORD_SOURCE;
	late = add_due(g, r);
	wrong = capture_apply(&g->capture, r);
	if (!wrong && r->type == RECORD_SOURCE && g->view->reasons &&
	    !reasons_hear(g->view->reasons, &g->capture, &r->source))
		g->failed = true;
	if (!wrong && r->type == RECORD_RAN)
		hear_ran(g, &r->ran);
	else if (!wrong && r->type == RECORD_SAMPLE)
		wrong = add_sample(g, &r->sample);
	return wrong ? wrong : late;
}

bool gather_finish(struct gather *g)
{
	return flush(g) && !g->failed && !g->capture.no_memory;
}
