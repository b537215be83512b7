#include "common/base/hash.h"
#include "common/gather/gather_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/capture/container.h"
#include "common/capture/labels.h"
#include "common/select/select.h"
#include "common/select/mixed_events.h"
#include "common/gather/gather_keys.h"
#include "common/profile/sanitize.h"
#include "common/gather/gather_names.h"
#include "common/gather/gather_native.h"
#include "common/gather/origin.h"
#include "common/gather/reason.h"

/* A stack being put together: its node in the profile so far, and the length of its text. */
struct stack {
	uint32_t node, bytes; /* bytes stops at its highest value */
};

/* The result for one half: how it ended outwards, and whether its innermost frame has a name. */
struct half {
	uint16_t root;
	bool resolved;
};

/*
 * The last position of a capture's node in the profile. Stacks share most of their outer frames, so the walk
 * from the innermost frame outwards soon meets a node that has been put there before, and stops.
 */
struct gather_memo {
	uint32_t base, epoch; /* the root frame and epoch for which the entry is valid */
	struct half half;
	struct stack at; /* at.node 0: none yet */
};

static bool push_stack_frame(struct gather *g, struct stack *s, uint32_t label)
{
	if (__builtin_add_overflow(s->bytes, (uint32_t)profile_text(g->p, label).n + (s->node != 0), &s->bytes))
		s->bytes = UINT32_MAX;
	return profile_child(g->p, s->node, label, &s->node);
}

static bool push_text(struct gather *g, struct stack *s, struct slice text)
{
	uint32_t label;

	return profile_label(g->p, text, &label) && push_stack_frame(g, s, label);
}

/* Appends a command; comm 0: an unknown one, that of the key's process. */
static void append_comm(const struct gather *g, const struct gather_key *k, uint32_t comm, struct buf *text)
{
	if (comm)
		sanitize_append(text, capture_text(&g->capture, comm));
	else
		buf_printf(text, "[pid %" PRIu64 "]", g->capture.processes[k->process].pid);
}

static void append_container(const struct gather *g, const struct gather_key *k, struct buf *text)
{
	struct buf name = { 0 };

	container_label(&name, k->cgroup ? capture_text(&g->capture, k->cgroup) : slice_of("[no cgroup]"));
	sanitize_append(text, buf_view(&name));
	text->failed = text->failed || name.failed;
	buf_release(&name);
}

/* "alice (1000)", or the number alone. */
static void append_owner(const struct gather *g, uint32_t owner, struct buf *text)
{
	struct slice name = owner ? capture_user_name(&g->capture, owner) : (struct slice){ 0 };

	if (!owner) {
		buf_text(text, "[unknown user]");
		return;
	}
	if (name.n)
		sanitize_append(text, name);
	buf_printf(text, name.n ? " (%" PRIu32 ")" : "%" PRIu32, owner - 1);
}

static void append_label(const struct gather *g, const char *key, struct buf *text)
{
	struct buf none = { 0 };
	struct slice value;
	bool there = capture_label(&g->capture, slice_of(key), &value);

	if (!there || !value.n) {
		buf_printf(&none, there ? "[empty %s]" : "[no %s]", key);
		value = buf_view(&none);
	}
	sanitize_append(text, value);
	text->failed = text->failed || none.failed;
	buf_release(&none);
}

/* Appends a command, with the ids that are shown. */
static void append_ids(const struct gather *g, const struct gather_key *k, uint32_t comm, bool pid, bool tid,
		       struct buf *text)
{
	append_comm(g, k, comm, text);
	if (pid)
		buf_printf(text, "-%" PRIu64, g->capture.processes[k->process].pid);
	if (tid)
		buf_printf(text, "/%" PRIu64, g->capture.threads[k->thread].tid);
}

/* Returns the command that a row has. That of a process or a thread has one name, whatever it was before. */
static uint32_t comm_of_key(const struct gather *g, const struct gather_key *k, enum view_by by)
{
	return by == BY_PROCESS ? capture_last_comm(&g->capture, k->process) :
	       by == BY_THREAD	? capture_last_name(&g->capture, k->thread) : k->comm;
}

static void append_key(const struct gather *g, const struct gather_key *k, const struct view_key *key,
		       struct buf *text)
{
	const struct view *v = g->view;

	if (key->by == BY_CONTAINER)
		append_container(g, k, text);
	else if (key->by == BY_USER)
		append_owner(g, k->owner, text);
	else if (key->by == BY_LABEL)
		append_label(g, key->label, text);
	else if (key->by == BY_CPU && k->cpu)
		buf_printf(text, "CPU %" PRIu32, k->cpu - 1);
	else if (key->by == BY_CPU)
		buf_text(text, "[unknown CPU]");
	else
		append_ids(g, k, comm_of_key(g, k, key->by),
			   v->pid || v->tid || (!v->no_ids && key->by != BY_COMM),
			   v->tid || (!v->no_ids && key->by == BY_THREAD), text);
}

/* Pushes the keys of the sample, and the command inside its container if asked for. */
static bool push_root(struct gather *g, struct stack *s, const struct gather_key *k, struct buf *text)
{
	if (g->view->container) {
		buf_clear(text);
		append_container(g, k, text);
		if (text->failed || !push_text(g, s, buf_view(text)))
			return false;
	}
	for (size_t i = 0; i < g->view->n_keys; i++) {
		if (g->view->keys[i].by <= BY_SYSCALL)
			continue;
		buf_clear(text);
		append_key(g, k, &g->view->keys[i], text);
		if (text->failed || !push_text(g, s, buf_view(text)))
			return false;
	}
	if (!view_shows_frames(g->view))
		return true;
	buf_clear(text);
	append_ids(g, k, k->comm, g->view->pid || g->view->tid, g->view->tid, text);
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

/* Pushes the kind of wait as innermost frame, so that running and waiting at one place stay apart. */
static bool push_wait(struct gather *g, struct stack *s, uint32_t wait)
{
	static const char *const names[GATHER_KEYS_OUTSIDE + 1] = {
		[CAPTURE_SLEEPS] = "[sleeping]",
		[CAPTURE_UNINTERRUPTIBLE] = "[uninterruptible]",
		[CAPTURE_QUEUED] = "[waiting for a CPU]",
		[CAPTURE_THROTTLED] = "[throttled]",
		[GATHER_KEYS_RAN] = "[running, not sampled]",
		[GATHER_KEYS_OUTSIDE] = "[outside]",
	};

	return wait == CAPTURE_RUNS || wait > GATHER_KEYS_OUTSIDE || push_text(g, s, slice_of(names[wait]));
}

/* Walks outwards to the root, or to a node with a valid memo; *n: nodes that are left to push. */
static bool find_known(struct gather *g, uint32_t node, uint32_t epoch, struct stack *s, struct half *half,
		       size_t *n)
{
	uint32_t base = s->node;

	for (*n = 0; node >= NODE_FIRST; node = g->nodes[node].parent) {
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

static bool push_half(struct gather *g, struct gather_names *names, struct stack *s, uint32_t node, uint64_t epoch,
		      struct half *half)
{
	uint32_t base = s->node, number;
	size_t n;

	if (!gather_names_epoch(names, epoch, &number) || !find_known(g, node, number, s, half, &n))
		return false;
	while (n) {
		uint32_t at = g->path[--n];
		struct gather_names_run run;

		if (!gather_names_frame(names, g->nodes[at].frame, epoch, number, &run))
			return false;
		for (uint32_t i = 0; i < run.n; i++) {
			if (!push_stack_frame(g, s, run.labels[i]))
				return false;
		}
		half->resolved = run.resolved;
		g->memo[at] = (struct gather_memo){ base, number, *half, *s };
	}
	return true;
}

static bool count_unresolved(struct gather *g, const struct gather_names *names, const struct gather_key *k, uint64_t samples)
{
	bool kernel = k->kernel >= NODE_FIRST;
	uint32_t frame = g->nodes[kernel ? k->kernel : k->user].frame;

	g->sums.unresolved += samples;
	return !g->view->reasons || reasons_count(g->view->reasons, &g->capture, &g->capture.frames[frame],
						  gather_names_place(names, frame, kernel ? 0 : k->epoch), samples);
}

/* Makes "key=value,key=value", once for all origins of the segment: each of both may be many. */
static bool find_labels(struct gather *g)
{
	struct buf all = { 0 };
	struct capture_label *labels;
	size_t n;
	bool good;

	if (g->labels_known)
		return true;
	if (!capture_labels(&g->capture, &labels, &n))
		return false;
	g->labels_known = true;
	buf_clear(&g->labels);
	for (size_t i = 0; i < n; i++) {
		buf_text(&all, i ? "," : "");
		buf_bytes(&all, labels[i].key.p, labels[i].key.n);
		buf_byte(&all, '=');
		buf_bytes(&all, labels[i].value.p, labels[i].value.n);
	}
	free(labels);
	if (all.n)
		sanitize_append(&g->labels, buf_view(&all));
	good = !all.failed && !g->labels.failed;
	buf_release(&all);
	return good;
}

static bool make_origin(struct gather *g, const struct gather_key *k, uint32_t *number)
{
	struct buf host = { 0 }, container = { 0 }, comm = { 0 };
	const struct origins *all = g->view->origins;
	enum view_by by = all->grain == ORIGIN_PROCESS ? BY_PROCESS : BY_COMM;
	bool good = find_labels(g);
	struct origin o = { 0 };

	if (capture_meta(&g->capture, "host").n)
		sanitize_append(&host, capture_meta(&g->capture, "host"));
	if (k->cgroup)
		sanitize_append(&container, capture_text(&g->capture, k->cgroup));
	if (all->grain < ORIGIN_CONTAINER) {
		append_comm(g, k, comm_of_key(g, k, by), &comm);
		o.pid = g->capture.processes[k->process].pid;
	}
	if (all->threads && all->grain == ORIGIN_THREAD) {
		o.tid = g->capture.threads[k->thread].tid;
		o.cpu = k->cpu;
	}
	o.host = buf_view(&host);
	o.container = buf_view(&container);
	o.labels = buf_view(&g->labels);
	o.comm = buf_view(&comm);
	good = good && !host.failed && !container.failed && !comm.failed && origins_add(g->view->origins, &o, number);
	buf_release(&host);
	buf_release(&container);
	buf_release(&comm);
	return good;
}

/* The number of an origin, and the facts by which it is found in a run. */
struct gather_origin {
	uint32_t number, run, process, thread, comm, cpu, cgroup;
};

enum { ORIGINS_KEPT = 4096 };

/* Origins are few, and each has many moments. */
static bool find_origin(struct gather *g, const struct gather_key *k, uint32_t *number)
{
	uint64_t place = hash_u64((uint64_t)k->thread << 32 | k->cpu) ^
			 hash_u64((uint64_t)k->process << 32 | k->comm) ^ hash_u64(~(uint64_t)k->cgroup);
	struct gather_origin key = { 0, g->run, k->process, k->thread, k->comm, k->cpu, k->cgroup }, *kept;

	if (!g->origins && !(g->origins = calloc(ORIGINS_KEPT, sizeof(*g->origins))))
		return false;
	kept = &g->origins[place % ORIGINS_KEPT];
	key.number = kept->number;
	if (!kept->number || memcmp(kept, &key, sizeof(key)) != 0) {
		if (!make_origin(g, k, &key.number))
			return false;
		*kept = key;
	}
	*number = kept->number;
	return true;
}

static bool mark_moment(struct gather *g, uint32_t node, const struct gather_key *k, uint64_t weight)
{
	struct profile_moment m = { .side = g->side, .run = g->run, .slice = k->slice, .node = node };

	m.weight = weight;
	m.whole = k->whole;
	return (!g->view->origins || find_origin(g, k, &m.origin)) && profile_mark(g->p, &m);
}

static enum gather_doing doing_of(const struct gather_key *k, bool resolved)
{
	if (k->wait >= GATHER_KEYS_RAN)
		return DOING_UNSAMPLED;
	if (k->wait != CAPTURE_RUNS)
		return (enum gather_doing)(DOING_SLEEPING + k->wait - CAPTURE_SLEEPS);
	return !resolved ? DOING_UNNAMED : k->kernel >= NODE_FIRST ? DOING_KERNEL : DOING_USER;
}

static bool add_stack(struct gather *g, struct gather_names *names, const struct gather_key *k, uint64_t samples,
		      uint64_t weight, struct buf *text, uint32_t *leaf)
{
	struct half user, kernel;
	struct stack s = { 0 }, outer;
	bool resolved;

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
	resolved = (k->kernel >= NODE_FIRST ? kernel : user).resolved;
	g->sums.samples += samples;
	g->sums.doing[doing_of(k, resolved)] += weight;
	if (!resolved && !count_unresolved(g, names, k, samples))
		return false;
	ends_count(g->sums.user, &g->capture, k->user, user.root, samples);
	ends_count(g->sums.kernel, &g->capture, k->kernel, kernel.root, samples);
	if (!view_shows_frames(g->view))
		s = outer; /* the frames were looked at only for the sums */
	if (g->view->moment_ns && !mark_moment(g, s.node, k, weight))
		return false;
	if (g->tap)
		*leaf = s.node;
	return profile_add_at(g->p, s.node, s.bytes, g->side, weight);
}

/* Returns the parts of a frame's label as bits by enum gather_names_style, of which none is annotated. */
static unsigned int parts_of(const struct view *v)
{
	static const unsigned int styles[VIEW_FRAME_KEYS] = {
		[BY_FUNCTION] = GATHER_NAMES_FUNCTIONS, [BY_MODULE] = GATHER_NAMES_MODULES,
		[BY_LANGUAGE] = GATHER_NAMES_LANGUAGES, [BY_LINE] = GATHER_NAMES_LINES,
		[BY_FILE] = GATHER_NAMES_FILES,
	};
	unsigned int kinds = v->parts ? v->parts : view_frame_keys(v), parts = 0;

	for (unsigned int by = 0; by < VIEW_FRAME_KEYS; by++)
		parts |= kinds >> by & 1 ? 1u << styles[by] : 0;
	return parts ? parts : 1u << GATHER_NAMES_FUNCTIONS;
}

/* Returns whether the event still counts: the clock's may have come after one that stood in for it. */
static bool still_listed(const struct gather *g, const struct gather_key *k)
{
	return !k->event || select_lists_event(g->view, &g->capture, k->event);
}

/* Puts the stack as it is shown into the key, and makes room for the memos of its nodes. */
static bool show_stack(struct gather *g, struct gather_names *names, struct gather_native *native,
		       struct gather_key *k)
{
	uint32_t number;

	if (!gather_native_has_lang(native, k->user))
		return true;
	if (!gather_names_epoch(names, k->epoch, &number) ||
	    !gather_native_stack(native, k->user, k->epoch, number, &k->user))
		return false;
	g->nodes = native->nodes;
	return grow_array(&g->memo, &g->cap_memo, native->n, sizeof(*g->memo));
}

/* Counts samples by their user stacks, if these have frames of languages. */
static void count_frames(uint64_t *samples, const struct gather_native *native, uint32_t node, uint64_t n)
{
	if (gather_native_has_lang(native, node))
		samples[node] += n;
}

/* Notes the command of the stack's process. */
static void note_comm(const struct capture *c, uint32_t *comms, const struct gather_key *k)
{
	if (k->user >= NODE_FIRST && k->comm)
		comms[c->frames[c->nodes[k->user].frame].process] = k->comm;
}

/*
 * Adds the frames of languages in the stacks to the sums; samples is by innermost node, comms by process.
 * Returns false if out of memory.
 */
static bool sum_frames(struct gather *g, uint64_t *samples, const uint32_t *comms)
{
	const struct capture *c = &g->capture;
	bool good = true;

	for (size_t i = c->n_nodes; samples && i-- > NODE_FIRST;) {
		const struct capture_frame *f = &c->frames[c->nodes[i].frame];

		if (samples[i] && c->nodes[i].parent >= NODE_FIRST)
			samples[c->nodes[i].parent] += samples[i];
		if (samples[i] && capture_is_lang(f))
			g->sums.languages[f->language][f->state] += samples[i];
		if (samples[i] && capture_is_lang(f) && f->state != LANG_OK && g->view->states)
			good = good &&
			       reasons_count_state(g->view->states, c, f, comms[f->process], samples[i]);
	}
	return good;
}

static bool make_leaves(struct gather *g)
{
	struct gather_tap *tap = g->tap;

	if (!tap || !g->keys.n)
		return true;
	if (!grow_array(&tap->leaves, &tap->cap_leaves, g->keys.n - 1, sizeof(*tap->leaves)))
		return false;
	memset(tap->leaves, 0, g->keys.n * sizeof(*tap->leaves));
	return true;
}

bool gather_stacks_add(struct gather *g, const struct gather_sum *but)
{
	struct gather_native native = { 0 };
	struct buf text = { 0 };
	struct gather_names names;
	uint64_t *samples = NULL;
	uint32_t *comms = NULL;
	bool good = gather_names_init(&names, &g->capture, g->p, parts_of(g->view));

	names.inlined = g->view->inlined;
	names.lines = g->view->lines;
	names.full_paths = g->view->full_paths;
	names.modules = g->view->modules;
	names.annotated = g->view->annotate;
	names.side = g->side;
	g->labels_known = false;
	free(g->memo);
	g->cap_memo = g->capture.n_nodes + 1;
	g->memo = calloc(g->cap_memo, sizeof(*g->memo));
	good = good && g->memo && gather_native_init(&native, &names, g->view->native);
	g->nodes = native.nodes;
	if (good && native.languages) {
		samples = calloc(g->capture.n_nodes, sizeof(*samples));
		comms = calloc(g->capture.n_processes + 1, sizeof(*comms));
		good = samples && comms;
	}
	good = good && make_leaves(g);
	for (size_t i = 0; good && i < g->keys.n; i++) {
		struct gather_sum sum = g->by_key[i];
		struct gather_key key = gather_keys_at(g, i);

		if (but) {
			sum.samples -= but[i].samples;
			sum.weight -= but[i].weight;
		}
		if (!still_listed(g, &key) || (key.wait == GATHER_KEYS_RAN && (but || !sum.weight)))
			continue;
		g->sums.counted = g->sums.counted || (key.event && g->view->weight != WEIGHT_NS && !g->view->ones);
		if (but && !sum.samples)
			continue;
		count_frames(samples, &native, key.user, sum.samples);
		if (comms)
			note_comm(&g->capture, comms, &key);
		good = show_stack(g, &names, &native, &key) &&
		       (!mixed_events_matters(g->view) ||
			mixed_events_add(g->view->alike, &g->capture, key.event)) &&
		       add_stack(g, &names, &key, sum.samples, sum.weight, &text,
				 g->tap ? &g->tap->leaves[i] : NULL);
	}
	good = sum_frames(g, samples, comms) && good;
	free(samples);
	free(comms);
	gather_native_release(&native);
	g->nodes = NULL;
	gather_names_release(&names);
	buf_release(&text);
	return good;
}
