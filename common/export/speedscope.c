#include "common/export/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/capture.h"
#include "common/export/json.h"
#include "common/export/thread_moments.h"

enum { PIECE = 64 << 10 };

/* A frame of the file, by its texts: the labels of the tree hold these bytes. */
struct frame_key {
	uint32_t name, file, line;
};

/*
 * The owner of a profile; a field is 0 if owners that differ in it are merged. Without padding: it is a key.
 */
struct group_key {
	uint64_t pid, tid;
	uint32_t host, comm;
};

struct group {
	struct group_key key;
	uint32_t comm; /* the command in its title */
	uint32_t top;  /* node of the tree above its stacks */
	size_t end;    /* in the order, one past its nodes */
	uint64_t total;
};

/* A sample of the file. */
struct shown {
	uint32_t node;
	uint64_t weight;
};

/* A moment to be put in order. */
struct timed {
	uint64_t time;
	uint32_t moment, group;
};

enum speedscope_step { STEP_FRAMES, STEP_HEAD, STEP_SAMPLES, STEP_WEIGHTS, STEP_TAIL, STEP_END };

struct speedscope_writer {
	const struct traces *s;
	uint32_t waits[CAPTURE_WAITS]; /* texts: the innermost frame of a wait */
	struct speedscope_options options;
	struct profile tree; /* below node 0 the groups, below these the frames */
	struct group *groups;
	size_t n_groups, cap_groups;
	struct intern group_keys;
	uint32_t *rank;  /* by label of the tree: rank of its text among all */
	uint32_t *index; /* by label: its number among the file's frames, plus 1 */
	/* children of node n, by rank, are children[first[n]] to before first[n + 1] */
	uint32_t *first, *children;
	struct shown *order; /* in the order of writing */
	size_t n_order, cap_order;
	struct idmap nodes; /* owner and node of the traces to node of the tree */
	uint32_t *path;
	size_t cap_path;
	enum speedscope_step step;
	size_t group, at, begin; /* at, begin: in order; for STEP_FRAMES at is a label */
	bool failed;
	struct buf out;
};

static struct group_key key_of(const struct speedscope_writer *w, const struct traces_owner *o)
{
	struct group_key key = { 0 };

	if (o->pid == 0 || w->options.by == SPEEDSCOPE_ALL)
		return key;
	key.pid = o->pid;
	key.host = o->host;
	if (w->options.by == SPEEDSCOPE_THREAD) {
		key.tid = o->tid;
		key.comm = o->comm;
	}
	return key;
}

/* Finds or adds the group of an owner; a process has the command of its main thread. */
static bool find_group(struct speedscope_writer *w, const struct traces_owner *o, uint32_t *id)
{
	struct group_key key = key_of(w, o);
	struct slice bytes = { (const uint8_t *)&key, sizeof(key) };
	struct group *g;
	uint32_t label;

	if (!intern_add(&w->group_keys, bytes, id) || !grow_array(&w->groups, &w->cap_groups, *id, sizeof(*w->groups)))
		return false;
	g = &w->groups[*id];
	if (*id == w->n_groups) {
		*g = (struct group){ .key = key, .comm = o->comm };
		w->n_groups++;
		if (!profile_label(&w->tree, (struct slice){ (const uint8_t *)id, sizeof(*id) }, &label) ||
		    !profile_child(&w->tree, 0, label, &g->top))
			return false;
	}
	if (o->tid == o->pid)
		g->comm = o->comm;
	return true;
}

static bool push_frame(struct speedscope_writer *w, struct frame_key key, uint32_t *node)
{
	uint32_t label;

	return profile_label(&w->tree, (struct slice){ (const uint8_t *)&key, sizeof(key) }, &label) &&
	       profile_child(&w->tree, *node, label, node);
}

static bool push_location(struct speedscope_writer *w, uint32_t location, uint32_t *node)
{
	const struct traces_location *l = &w->s->locations[location];

	for (uint32_t i = 0; i < l->n; i++) {
		const struct traces_line *line = &w->s->lines[l->line + i];
		const struct traces_function *f = &w->s->functions[line->function];

		if (!push_frame(w, (struct frame_key){ f->name, f->file, w->options.lines ? line->line : 0 }, node))
			return false;
	}
	return true;
}

static bool push_sample(struct speedscope_writer *w, const struct traces_sample *it)
{
	const struct traces_owner *o = &w->s->owners[it->owner];
	uint64_t weight = w->options.weight ? it->weight : it->samples;
	uint32_t group, node;
	size_t n = 0;

	if (!find_group(w, o, &group))
		return false;
	for (uint32_t at = it->node; at; at = w->s->nodes[at].parent) {
		if (!grow_array(&w->path, &w->cap_path, n, sizeof(*w->path)))
			return false;
		w->path[n++] = w->s->nodes[at].location;
	}
	node = w->groups[group].top;
	if ((n == 0 || w->groups[group].key.pid == 0) && !push_frame(w, (struct frame_key){ o->comm, 0, 0 }, &node))
		return false;
	while (n) {
		if (!push_location(w, w->path[--n], &node))
			return false;
	}
	if (o->wait && !push_frame(w, (struct frame_key){ w->waits[o->wait], 0, 0 }, &node))
		return false;
	w->groups[group].total += weight;
	return idmap_set(&w->nodes, (uint64_t)it->owner << 32 | it->node, node) &&
	       profile_add_at(&w->tree, node, 0, 0, weight);
}

static struct frame_key frame_of(const struct speedscope_writer *w, uint32_t label)
{
	struct frame_key key = { 0, 0, 0 };
	struct slice text = profile_text(&w->tree, label);

	if (text.n == sizeof(key))
		memcpy(&key, text.p, sizeof(key));
	return key;
}

static int compare_texts(struct slice a, struct slice b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int by_frame(const void *a, const void *b, void *context)
{
	const struct speedscope_writer *w = context;
	struct frame_key x = frame_of(w, *(const uint32_t *)a), y = frame_of(w, *(const uint32_t *)b);
	int order = compare_texts(traces_get(w->s, x.name), traces_get(w->s, y.name));

	if (order == 0)
		order = compare_texts(traces_get(w->s, x.file), traces_get(w->s, y.file));
	if (order == 0)
		order = (x.line > y.line) - (x.line < y.line);
	return order ? order : (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static bool rank_labels(struct speedscope_writer *w)
{
	size_t n = w->tree.labels.n;
	uint32_t *sorted = calloc(n, sizeof(*sorted)), frames = 0;

	w->rank = calloc(n, sizeof(*w->rank));
	w->index = calloc(n, sizeof(*w->index));
	if (!sorted || !w->rank || !w->index) {
		free(sorted);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = i;
		if (profile_text(&w->tree, i).n == sizeof(struct frame_key))
			w->index[i] = ++frames;
	}
	qsort_r(sorted, n, sizeof(*sorted), by_frame, w);
	for (uint32_t i = 0; i < n; i++)
		w->rank[sorted[i]] = i;
	free(sorted);
	return true;
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct speedscope_writer *w = context;
	uint32_t x = w->rank[w->tree.nodes[*(const uint32_t *)a].label];
	uint32_t y = w->rank[w->tree.nodes[*(const uint32_t *)b].label];

	return (x > y) - (x < y);
}

static bool sort_children(struct speedscope_writer *w)
{
	const struct profile *t = &w->tree;

	w->first = calloc(t->n + 1, sizeof(*w->first));
	w->children = calloc(t->n, sizeof(*w->children));
	if (!w->first || !w->children)
		return false;
	for (size_t i = 0, n = 0; i < t->n; i++) {
		w->first[i] = (uint32_t)n;
		for (uint32_t at = t->nodes[i].first; at; at = t->nodes[at].next)
			w->children[n++] = at;
		w->first[i + 1] = (uint32_t)n;
		qsort_r(w->children + w->first[i], n - w->first[i], sizeof(*w->children), by_rank, w);
	}
	return true;
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct traces *s = context;
	const struct group *x = a, *y = b;
	int order = compare_texts(traces_get(s, x->comm), traces_get(s, y->comm));

	if (order == 0)
		order = compare_texts(traces_get(s, x->key.host), traces_get(s, y->key.host));
	if (order == 0)
		order = (x->key.pid > y->key.pid) - (x->key.pid < y->key.pid);
	return order ? order : (x->key.tid > y->key.tid) - (x->key.tid < y->key.tid);
}

static bool push_shown(struct speedscope_writer *w, uint32_t node, uint64_t weight)
{
	if (!grow_array(&w->order, &w->cap_order, w->n_order, sizeof(*w->order)))
		return false;
	w->order[w->n_order++] = (struct shown){ node, weight };
	return true;
}

/* Orders the stacks by name, each once, group by group. Each node is pushed once: n are room enough. */
static bool order_by_name(struct speedscope_writer *w)
{
	uint32_t *stack = calloc(w->tree.n, sizeof(*stack));
	bool good = stack && rank_labels(w) && sort_children(w);
	size_t n;

	for (size_t g = 0; good && g < w->n_groups; g++) {
		stack[0] = w->groups[g].top;
		for (n = 1; good && n;) {
			uint32_t at = stack[--n];

			if (w->tree.nodes[at].self[0])
				good = push_shown(w, at, w->tree.nodes[at].self[0]);
			for (uint32_t i = w->first[at + 1]; i-- > w->first[at];)
				stack[n++] = w->children[i];
		}
		w->groups[g].end = w->n_order;
	}
	free(stack);
	return good;
}

static int by_time(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;
	int order = (x->group > y->group) - (x->group < y->group);

	if (order == 0)
		order = (x->time > y->time) - (x->time < y->time);
	return order ? order : (x->moment > y->moment) - (x->moment < y->moment);
}

/* Returns the group that a node of the tree is in. The groups are sorted, and their tops are not. */
static uint32_t group_of(const struct speedscope_writer *w, const uint32_t *by_top, uint32_t node)
{
	while (w->tree.nodes[node].parent)
		node = w->tree.nodes[node].parent;
	return by_top[node];
}

static bool find_times(struct speedscope_writer *w, struct timed *times)
{
	uint32_t *by_top = calloc(w->tree.n, sizeof(*by_top)), node;

	for (uint32_t g = 0; by_top && g < w->n_groups; g++)
		by_top[w->groups[g].top] = g;
	for (size_t i = 0; by_top && i < w->s->n_moments; i++) {
		const struct traces_moment *m = &w->s->moments[i];

		if (idmap_find(&w->nodes, (uint64_t)m->owner << 32 | m->node, &node))
			times[i] = (struct timed){ thread_moments_begin(w->s, m), (uint32_t)i,
						   group_of(w, by_top, node) };
	}
	free(by_top);
	return by_top;
}

/* Adds a moment to the group, in time: to the previous one of the group if its stack is the same. */
static bool show_moment(struct speedscope_writer *w, const struct timed *t, size_t begin)
{
	const struct traces_moment *m = &w->s->moments[t->moment];
	uint64_t weight = w->options.weight ? m->weight : 1;
	uint32_t node;

	if (!weight || !idmap_find(&w->nodes, (uint64_t)m->owner << 32 | m->node, &node))
		return true;
	if (w->n_order == begin || w->order[w->n_order - 1].node != node)
		return push_shown(w, node, weight);
	w->order[w->n_order - 1].weight += weight;
	return true;
}

/* Orders the moments by time, group by group. */
static bool order_by_time(struct speedscope_writer *w)
{
	size_t n = w->s->n_moments, at = 0;
	struct timed *times = calloc(n + 1, sizeof(*times));
	bool good = times && n < UINT32_MAX && find_times(w, times) && rank_labels(w);

	if (good)
		qsort(times, n, sizeof(*times), by_time);
	for (size_t g = 0; good && g < w->n_groups; g++) {
		size_t begin = w->n_order;

		while (good && at < n && times[at].group == g)
			good = show_moment(w, &times[at++], begin);
		w->groups[g].end = w->n_order;
	}
	free(times);
	return good;
}

struct speedscope_writer *speedscope_new(struct traces *s, const struct speedscope_options *options)
{
	struct speedscope_writer *w = calloc(1, sizeof(*w));
	bool good;

	if (!w)
		return NULL;
	w->s = s;
	w->options = *options;
	intern_init(&w->group_keys);
	idmap_init(&w->nodes);
	good = profile_init(&w->tree);
	for (uint32_t i = 1; good && i < CAPTURE_WAITS; i++)
		good = traces_text(s, slice_of(thread_moments_frame(i)), &w->waits[i]);
	for (size_t i = 0; good && i < s->n_samples; i++)
		good = push_sample(w, &s->samples[i]);
	if (good && w->n_groups)
		qsort_r(w->groups, w->n_groups, sizeof(*w->groups), by_name, s);
	/* Folded text has no moments, so the samples of a mixture are in no order of time. */
	if (good && (s->timed && s->n_moments == s->total ? order_by_time(w) : order_by_name(w)))
		return w;
	speedscope_free(w);
	return NULL;
}

void speedscope_free(struct speedscope_writer *w)
{
	if (!w)
		return;
	profile_release(&w->tree);
	intern_release(&w->group_keys);
	idmap_release(&w->nodes);
	buf_release(&w->out);
	free(w->groups);
	free(w->rank);
	free(w->index);
	free(w->first);
	free(w->children);
	free(w->order);
	free(w->path);
	free(w);
}

bool speedscope_failed(const struct speedscope_writer *w)
{
	return w->failed;
}

static void write_frame(struct speedscope_writer *w, uint32_t label)
{
	struct frame_key key = frame_of(w, label);

	buf_text(&w->out, w->index[label] == 1 ? "\n{\"name\":" : ",\n{\"name\":");
	json_text(&w->out, traces_get(w->s, key.name));
	if (key.file) {
		buf_text(&w->out, ",\"file\":");
		json_text(&w->out, traces_get(w->s, key.file));
	}
	if (key.line)
		buf_printf(&w->out, ",\"line\":%" PRIu32, key.line);
	buf_byte(&w->out, '}');
}

static size_t heaviest_group(const struct speedscope_writer *w)
{
	size_t best = 0;

	for (size_t i = 1; i < w->n_groups; i++) {
		if (w->groups[i].total > w->groups[best].total)
			best = i;
	}
	return best;
}

static void write_frames(struct speedscope_writer *w)
{
	if (w->at == 0) {
		buf_text(&w->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":");
		json_text(&w->out, slice_of(w->options.exporter));
		buf_printf(&w->out, ",\n\"activeProfileIndex\":%zu,\n\"shared\":{\"frames\":[",
			   heaviest_group(w));
	}
	for (; w->at < w->tree.labels.n && w->out.n < PIECE; w->at++) {
		if (w->index[w->at])
			write_frame(w, (uint32_t)w->at);
	}
	if (w->at == w->tree.labels.n) {
		buf_text(&w->out, "]},\n\"profiles\":[");
		w->at = 0;
		w->step = w->n_groups ? STEP_HEAD : STEP_TAIL;
	}
}

static void write_title(struct speedscope_writer *w, const struct group *g)
{
	struct buf title = { 0 };
	struct slice comm = traces_get(w->s, g->comm), host = traces_get(w->s, g->key.host);

	if (g->key.pid == 0)
		buf_text(&title, "all");
	else
		buf_bytes(&title, comm.p, comm.n);
	if (g->key.tid)
		buf_printf(&title, " %" PRIu64 "/%" PRIu64, g->key.pid, g->key.tid);
	else if (g->key.pid)
		buf_printf(&title, " %" PRIu64, g->key.pid);
	if (host.n) {
		buf_text(&title, " on ");
		buf_bytes(&title, host.p, host.n);
	}
	if (title.failed)
		w->failed = true;
	else
		json_text(&w->out, buf_view(&title));
	buf_release(&title);
}

static void write_head(struct speedscope_writer *w)
{
	const struct group *g = &w->groups[w->group];
	bool time = w->options.weight && slice_is(traces_get(w->s, w->s->unit), "ns");

	buf_text(&w->out, w->group ? ",\n{\"type\":\"sampled\",\"name\":" : "\n{\"type\":\"sampled\",\"name\":");
	write_title(w, g);
	buf_printf(&w->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		   time ? "nanoseconds" : "none", g->total);
	w->begin = w->at;
	w->step = STEP_SAMPLES;
}

/* Writes a stack, outermost frame first. */
static void write_sample(struct speedscope_writer *w, uint32_t node)
{
	uint32_t top = w->groups[w->group].top;
	const char *between = "[";
	size_t n = 0;

	for (; node != top; node = w->tree.nodes[node].parent) {
		if (!grow_array(&w->path, &w->cap_path, n, sizeof(*w->path))) {
			w->failed = true;
			return;
		}
		w->path[n++] = w->tree.nodes[node].label;
	}
	for (; n; between = ",")
		buf_printf(&w->out, "%s%" PRIu32, between, w->index[w->path[--n]] - 1);
	buf_byte(&w->out, ']');
}

static void write_samples(struct speedscope_writer *w)
{
	size_t end = w->groups[w->group].end;

	for (; w->at < end && w->out.n < PIECE && !w->failed; w->at++) {
		buf_text(&w->out, w->at > w->begin ? ",\n" : "\n");
		write_sample(w, w->order[w->at].node);
	}
	if (w->at == end) {
		buf_text(&w->out, "],\n\"weights\":[");
		w->at = w->begin;
		w->step = STEP_WEIGHTS;
	}
}

static void write_weights(struct speedscope_writer *w)
{
	size_t end = w->groups[w->group].end;

	for (; w->at < end && w->out.n < PIECE; w->at++) {
		buf_text(&w->out, w->at > w->begin ? "," : "");
		json_count(&w->out, w->order[w->at].weight);
	}
	if (w->at == end) {
		buf_text(&w->out, "]}");
		w->group++;
		w->step = w->group < w->n_groups ? STEP_HEAD : STEP_TAIL;
	}
}

static void write_tail(struct speedscope_writer *w)
{
	buf_text(&w->out, "]}\n");
	w->step = STEP_END;
}

bool speedscope_next(struct speedscope_writer *w, struct slice *bytes)
{
	static void (*const steps[])(struct speedscope_writer *w) = {
		[STEP_FRAMES] = write_frames,	[STEP_HEAD] = write_head, [STEP_SAMPLES] = write_samples,
		[STEP_WEIGHTS] = write_weights, [STEP_TAIL] = write_tail,
	};

	buf_clear(&w->out);
	while (w->step != STEP_END && w->out.n < PIECE && !w->failed) {
		steps[w->step](w);
		w->failed = w->failed || w->out.failed;
	}
	*bytes = buf_view(&w->out);
	return !w->failed && w->out.n;
}
