#include "common/export/collect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/labels.h"
#include "common/export/collect_sums.h"
#include "common/export/collect_running.h"
#include "common/select/recordings.h"
#include "common/select/select.h"
#include "common/select/mixed_events.h"
#include "common/select/ends.h"
#include "common/profile/sanitize.h"

/* Valid for one number of an epoch, and one node below which the half is. */
struct collect_memo {
	uint32_t base, epoch, node;
	uint16_t root;
	bool resolved;
};

bool collect_init(struct collect *c, struct traces *s, const struct view *view)
{
	*c = (struct collect){ .s = s, .view = view };
	intern_init(&c->keys);
	intern_init(&c->runners);
	idmap_init(&c->located);
	return capture_init_for(&c->capture, select_counts, view);
}

void collect_release(struct collect *c)
{
	capture_release(&c->capture);
	intern_release(&c->keys);
	intern_release(&c->runners);
	running_release(&c->running);
	run_spans_release(&c->spans);
	idmap_release(&c->located);
	free(c->slept);
	buf_release(&c->text);
	free(c->by_key);
	free(c->moments);
	free(c->memo);
	free(c->path);
	free(c->lines);
	*c = (struct collect){ 0 };
}

static bool label_text(struct collect *c, struct slice s, uint32_t *text)
{
	buf_clear(&c->text);
	sanitize_append(&c->text, s);
	return !c->text.failed && traces_text(c->s, buf_view(&c->text), text);
}

/* The first event that counts defines the unit; an event with another unit weighs nothing. */
static bool find_weight(struct collect *c, uint32_t event, bool *weighs)
{
	const struct record_event *e = &c->capture.events[event];
	bool counted = capture_is_counted(&c->capture, event);
	uint32_t unit;

	*weighs = false;
	if (!e->id)
		return true;
	if (!label_text(c, e->unit.n && !counted ? e->unit : slice_of("count"), &unit))
		return false;
	if (!c->s->unit) {
		c->s->unit = unit;
		c->s->counted = counted;
		c->s->period = e->period;
		if (!label_text(c, e->name, &c->s->event))
			return false;
	}
	*weighs = unit == c->s->unit;
	return true;
}

static struct collect_key key_of(const struct collect *c, const struct record_sample *r)
{
	const struct capture_thread *t = &c->capture.threads[r->thread];
	const struct capture_process *p = &c->capture.processes[t->process];
	struct collect_key k = {
		.process = t->process, .thread = (uint32_t)r->thread, .comm = t->comm, .event = (uint32_t)r->event, .cgroup = p->cgroup,
	};

	if (c->view->half != HALF_KERNEL)
		k.user = (uint32_t)r->user;
	if (c->view->half != HALF_USER)
		k.kernel = (uint32_t)r->kernel;
	if (k.user >= NODE_FIRST)
		k.epoch = p->epoch;
	return k;
}

static void widen_time(struct collect *c, uint64_t time)
{
	if (!select_moment(&(struct select){ c->view, &c->capture, c->base }, time))
		return;
	c->first = !c->chosen || time < c->first ? time : c->first;
	c->last = !c->chosen || time > c->last ? time : c->last;
	c->chosen = true;
}

/* Returns w as a time of the segment; returns otherwise if w is unset or a time of each day. */
static uint64_t time_bound(const struct collect *c, const struct time_arg *w, uint64_t otherwise)
{
	int64_t clock = w->kind == TIME_ARG_MOMENT ? (int64_t)capture_realtime(&c->capture, c->base) : 0;
	int64_t time;

	if ((w->kind != TIME_ARG_OFFSET && w->kind != TIME_ARG_MOMENT) ||
	    __builtin_add_overflow((int64_t)c->base, w->ns - clock, &time))
		return otherwise;
	return time > 0 ? (uint64_t)time : 0;
}

/* Adds the segment's time between the view's bounds; time beyond the samples does not count. */
static void add_time(struct collect *c)
{
	const struct view *v = c->view;
	uint64_t from, to, first = c->capture.totals.first, last = c->capture.totals.last;

	if (c->chosen) {
		from = time_bound(c, &v->from, v->from.kind ? c->first : first);
		to = time_bound(c, &v->to, v->to.kind ? c->last : last);
		from = from > first ? from : first;
		to = to < last ? to : last;
		c->chosen_ns += to > from ? to - from : 0;
	}
	c->chosen = false;
}

static bool note_moment(struct collect *c, const struct record_sample *part, uint32_t key)
{
	if (!c->s->timed)
		return true;
	if (!grow_array(&c->moments, &c->cap_moments, c->n_moments, sizeof(*c->moments)))
		return false;
	c->moments[c->n_moments++] =
		(struct collect_moment){ part->time, part->weight, key, (uint32_t)part->cpu };
	return true;
}

static bool waits_asleep(const struct collect *c, uint64_t event)
{
	enum capture_wait wait = capture_wait(&c->capture, event);

	return wait == CAPTURE_SLEEPS || wait == CAPTURE_UNINTERRUPTIBLE;
}

static const char *add_sample(struct collect *c, const struct record_sample *r)
{
	enum select_answer answer;
	struct record_sample part;
	struct collect_key key;
	const char *wrong;
	uint32_t id;

	if (!c->based) {
		c->based = true;
		c->base = recordings_base(c->view->recordings, &c->capture, r->time);
	}
	widen_time(c, r->time);
	answer = select_sample(&(struct select){ c->view, &c->capture, c->base }, r, &part);
	collect_running_sample(c, r, answer, &part);
	if (answer != SELECT_IN)
		return NULL;
	wrong = collect_claim(c, part.weight);
	if (wrong)
		return wrong;
	key = key_of(c, r);
	if (!collect_add_key(c, &key, 1, part.weight, &id) || !note_moment(c, &part, id))
		c->failed = true;
	else if (c->s->wakers && waits_asleep(c, r->event) &&
		 !collect_slept(c, r->thread, id, part.weight, c->s->timed ? c->n_moments : 0))
		c->failed = true;
	return NULL;
}

static bool hex_text(struct collect *c, struct slice id, uint32_t *text)
{
	buf_clear(&c->text);
	for (size_t i = 0; i < id.n; i++)
		buf_printf(&c->text, "%02x", id.p[i]);
	return !c->text.failed && traces_text(c->s, buf_view(&c->text), text);
}

/* The kernel's addresses are the upper half, whichever module they belong to. */
static bool map_kernel(struct collect *c, uint32_t *mapping)
{
	struct traces_mapping m = { .start = 1ull << 63, .limit = UINT64_MAX, .kernel = 1, .looked = 1 };

	return label_text(c, slice_of("[kernel.kallsyms]"), &m.path) &&
	       (capture_meta(&c->capture, "kernel-build-id").n == 0 ||
		label_text(c, capture_meta(&c->capture, "kernel-build-id"), &m.build_id)) &&
	       traces_mapping(c->s, &m, mapping);
}

/* Passes on which file a mapping is of. */
static bool note_file(struct collect *c, const struct capture_frame *f, const struct capture_place *place,
		      uint32_t mapping)
{
	const struct capture_file *file = &c->capture.files[place->file];
	const struct capture_process *process = &c->capture.processes[f->process];
	struct module_identity is = { .dev_major = file->dev_major, .dev_minor = file->dev_minor, .inode = file->inode,
				      .generation = file->generation, .build_id = file->build_id, .path = file->path };

	if (!c->note_file || !capture_file_has_names(file))
		return true;
	is.host = identity_host(capture_meta(&c->capture, "machine-id"), capture_meta(&c->capture, "boot-id"));
	is.seen = capture_realtime(&c->capture, place->sample);
	is.user = (struct module_user){ process->pid, process->start, place->map_start, place->map_end,
					capture_text(&c->capture, process->cgroup) };
	return c->note_file(c->note_context, mapping, &is);
}

static bool map_user(struct collect *c, const struct capture_frame *f, const struct capture_place *place,
		     uint32_t *mapping)
{
	const struct capture_file *file = place && place->file ? &c->capture.files[place->file] : NULL;
	struct slice path = file ? file->path : (struct slice){ NULL, 0 };
	struct traces_mapping m = { .looked = c->looked };

	*mapping = 0;
	if (!place || place->map_end == 0)
		return true;
	m.start = place->map_start;
	m.limit = place->map_end;
	if (file)
		m.offset = place->offset - (f->address - place->map_start);
	if (path.n == 0 || slice_is(path, "//anon"))
		path = slice_of(c->capture.processes[f->process].jit ? "[jit]" : "[anon]");
	return label_text(c, path, &m.path) &&
	       (!file || file->build_id.n == 0 || hex_text(c, file->build_id, &m.build_id)) &&
	       traces_mapping(c->s, &m, mapping) && (!file || note_file(c, f, place, *mapping));
}

/*
 * Returns the level of the symbol that label i names. A run may have fewer labels than the symbol has levels.
 */
static uint32_t level_of(uint32_t i, uint32_t labels, uint32_t levels)
{
	return labels == levels || i < GATHER_NAMES_LEVELS / 2 ? i : i == GATHER_NAMES_LEVELS / 2 ? levels : levels - (labels - i);
}

/* Reads the lines of a frame into c->lines: the names that the view shows, each with its source line. */
static bool read_lines(struct collect *c, const struct gather_names_run *run, const struct capture_symbol *s)
{
	const struct capture_symbol *symbols = c->capture.symbols;
	uint32_t levels = 1, level = 0;

	if (!grow_array(&c->lines, &c->cap_lines, run->n, sizeof(*c->lines)))
		return false;
	for (const struct capture_symbol *in = s; in && run->n > 1 && in->inner; in = &symbols[in->inner])
		levels++;
	for (uint32_t i = 0; i < run->n; i++) {
		uint32_t want = level_of(i, run->n, levels), file = 0, line = 0;

		for (; s && level < want && want < levels && s->inner; level++)
			s = &symbols[s->inner];
		if (s && level == want) {
			if (s->file && !label_text(c, capture_text(&c->capture, s->file), &file))
				return false;
			line = s->line;
		}
		c->lines[i].line = line;
		if (!traces_function(c->s, run->labels[i], file, &c->lines[i].function))
			return false;
	}
	return true;
}

/* As read_lines for a frame of a language. Its mapping has no addresses. */
static bool read_lang(struct collect *c, const struct gather_names_run *run, const struct capture_frame *f,
		      uint32_t *mapping)
{
	const struct capture_function *function = capture_function(&c->capture, f);
	struct traces_mapping m = { .looked = 1 };
	uint32_t file = 0;

	if (!grow_array(&c->lines, &c->cap_lines, 0, sizeof(*c->lines)))
		return false;
	if (function && capture_function_path(&c->capture, function).n &&
	    !label_text(c, capture_function_path(&c->capture, function), &file))
		return false;
	c->lines[0].line = capture_lang_line(&c->capture, f);
	buf_clear(&c->text);
	buf_printf(&c->text, "[%s]", language_name(f->language));
	return traces_function(c->s, run->labels[0], file, &c->lines[0].function) && !c->text.failed &&
	       traces_text(c->s, buf_view(&c->text), &m.path) && traces_mapping(c->s, &m, mapping);
}

static bool locate_frame(struct collect *c, uint32_t frame, uint64_t epoch, const struct gather_names_run *run,
			 uint32_t *location)
{
	const struct capture_frame *f = &c->capture.frames[frame];
	uint32_t mapping;

	if (capture_is_lang(f))
		return read_lang(c, run, f, &mapping) &&
		       traces_location(c->s, 0, mapping, c->lines, 1, location);
	return read_lines(c, run, gather_names_symbol(&c->names, frame, epoch)) &&
	       (f->process ? map_user(c, f, gather_names_place(&c->names, frame, epoch), &mapping) : map_kernel(c, &mapping)) &&
	       traces_location(c->s, capture_lookup(f, f->address), mapping, c->lines, run->n, location);
}

/* Adds one node below *at. */
static bool push_node(struct collect *c, uint32_t node, uint64_t epoch, uint32_t number, uint32_t *at, bool *resolved)
{
	uint32_t frame = c->native.nodes[node].frame, location;
	struct gather_names_run run;
	uint64_t key;

	if (!gather_names_frame(&c->names, frame, epoch, number, &run))
		return false;
	*resolved = run.resolved;
	key = (uint64_t)(run.labels - c->names.runs); /* one for all epochs with one meaning */
	if (!idmap_find(&c->located, key, &location) &&
	    (!locate_frame(c, frame, epoch, &run, &location) || !idmap_set(&c->located, key, location)))
		return false;
	return traces_child(c->s, *at, location, at);
}

/* Adds one half of a stack below *at. The walk stops at a node added before, as in gather/gather_stacks.c. */
static bool push_half(struct collect *c, uint32_t node, uint64_t epoch, uint32_t *at, struct collect_memo *half)
{
	uint32_t base = *at, number;
	size_t n = 0;

	if (!gather_names_epoch(&c->names, epoch, &number))
		return false;
	*half = (struct collect_memo){ .resolved = true };
	for (; node >= NODE_FIRST; node = c->native.nodes[node].parent) {
		const struct collect_memo *m = &c->memo[node];

		if (m->node && m->base == base && m->epoch == number) {
			*at = m->node;
			*half = *m;
			break;
		}
		if (!grow_array(&c->path, &c->cap_path, n, sizeof(*c->path)))
			return false;
		c->path[n++] = node;
	}
	if (node < NODE_FIRST)
		half->root = (uint16_t)node;
	while (n) {
		node = c->path[--n];
		if (!push_node(c, node, epoch, number, at, &half->resolved))
			return false;
		c->memo[node] = (struct collect_memo){ base, number, *at, half->root, half->resolved };
	}
	return true;
}

static bool find_owner(struct collect *c, const struct collect_key *k, uint32_t *owner)
{
	const struct capture_process *p = &c->capture.processes[k->process];
	struct traces_owner o = {
		.pid = p->pid, .tid = c->capture.threads[k->thread].tid, .host = c->host, .labels = c->labels,
		.wait = capture_wait(&c->capture, k->event),
	};

	if (!collect_waker(c, k->waker, &o))
		return false;
	if (k->cgroup && !label_text(c, capture_text(&c->capture, k->cgroup), &o.container))
		return false;
	buf_clear(&c->text);
	if (k->comm)
		sanitize_append(&c->text, capture_text(&c->capture, k->comm));
	else
		buf_printf(&c->text, "[pid %" PRIu64 "]", p->pid);
	return !c->text.failed && traces_text(c->s, buf_view(&c->text), &o.comm) && traces_owner(c->s, &o, owner);
}

/* Puts the stack as it is shown into the key, and makes room for the memos of its nodes. */
static bool show_stack(struct collect *c, struct collect_key *k)
{
	uint32_t number;

	if (!gather_native_has_lang(&c->native, k->user))
		return true;
	return gather_names_epoch(&c->names, k->epoch, &number) &&
	       gather_native_stack(&c->native, k->user, k->epoch, number, &k->user) &&
	       grow_array(&c->memo, &c->cap_memo, c->native.n, sizeof(*c->memo));
}

/* Adds the time that a thread ran without a sample, with a frame that says so. */
static bool add_ran(struct collect *c, const struct collect_key *k, const struct collect_sum *sum)
{
	struct traces_line line = { 0 };
	uint32_t owner, label, location, node;

	if (!sum->weight)
		return true;
	if (!c->s->unit && !label_text(c, slice_of("ns"), &c->s->unit))
		return false;
	return find_owner(c, k, &owner) &&
	       profile_label(&c->s->names, slice_of("[running, not sampled]"), &label) &&
	       traces_function(c->s, label, 0, &line.function) &&
	       traces_location(c->s, 0, 0, &line, 1, &location) && traces_child(c->s, 0, location, &node) &&
	       traces_add(c->s, owner, node, 0, slice_is(traces_get(c->s, c->s->unit), "ns") ? sum->weight : 0);
}

/* Skips an event that stood in for the clock's until that appeared. The first event kept sets the unit. */
static bool add_stack(struct collect *c, struct collect_key *k, struct collect_sum *sum)
{
	struct collect_memo user, kernel;
	uint32_t owner, node = 0;

	if (k->event == COLLECT_RAN)
		return add_ran(c, k, sum);
	if (!sum->samples && !sum->weight) /* all of it has wakers */
		return true;
	if (!select_lists_event(c->view, &c->capture, k->event))
		return true;
	if ((mixed_events_matters(c->view) && !mixed_events_add(c->view->alike, &c->capture, k->event)) ||
	    !find_weight(c, k->event, &sum->weighs))
		return false;
	if (!find_owner(c, k, &owner) || !show_stack(c, k) ||
	    !push_half(c, k->user, k->epoch, &node, &user) || !push_half(c, k->kernel, 0, &node, &kernel))
		return false;
	c->sums.samples += sum->samples;
	if (!(k->kernel >= NODE_FIRST ? kernel : user).resolved)
		c->sums.unresolved += sum->samples;
	ends_count(c->sums.user, &c->capture, k->user, user.root, sum->samples);
	ends_count(c->sums.kernel, &c->capture, k->kernel, kernel.root, sum->samples);
	sum->owner = owner;
	sum->node = node;
	return traces_add(c->s, owner, node, sum->samples, sum->weighs ? sum->weight : 0);
}

/* Adds the moments of the segment whose stacks are added, with times that all segments share. */
static bool add_moments(struct collect *c)
{
	for (size_t i = 0; i < c->n_moments; i++) {
		const struct collect_moment *m = &c->moments[i];
		const struct collect_sum *sum = &c->by_key[m->key];
		uint64_t time = capture_realtime(&c->capture, m->time);
		struct traces_moment to = {
			.time = time ? time : m->time, .owner = sum->owner, .node = sum->node, .cpu = m->cpu,
			.weight = sum->weighs ? m->weight : 0,
		};

		if (!sum->owner)
			continue;
		if (c->s->owners[to.owner].wait && to.weight > to.time)
			to.weight = to.time;
		if (!traces_add_moment(c->s, &to))
			return false;
	}
	return true;
}

/* Reads the labels of the segment, with their names. */
static bool read_labels(struct collect *c)
{
	struct capture_label *from;
	struct traces_label *to;
	size_t n;
	bool good = capture_labels(&c->capture, &from, &n);

	to = calloc(n + 1, sizeof(*to));
	good = good && to;
	for (size_t i = 0; good && i < n; i++)
		good = label_text(c, from[i].key, &to[i].key) && label_text(c, from[i].value, &to[i].value);
	good = good && traces_labels(c->s, to, n, &c->labels);
	free(from);
	free(to);
	return good;
}

static bool begin_segment(struct collect *c)
{
	struct slice host = capture_meta(&c->capture, "host");

	c->names.inlined = c->view->inlined;
	c->names.modules = c->view->modules;
	c->cap_memo = c->capture.n_nodes + 1;
	c->memo = calloc(c->cap_memo, sizeof(*c->memo));
	if (!c->s->start_realtime_ns && capture_counts(&c->capture))
		c->s->start_realtime_ns = capture_meta_number(&c->capture, "start-realtime-ns");
	c->host = 0;
	return c->memo && read_labels(c) && (host.n == 0 || label_text(c, host, &c->host));
}

/* Names the stacks of the segment, adds them to the traces and clears them. */
static bool add_segment(struct collect *c)
{
	bool good = gather_names_init(&c->names, &c->capture, &c->s->names, 1u << GATHER_NAMES_FUNCTIONS) &&
		    gather_native_init(&c->native, &c->names, c->view->native) && begin_segment(c);

	for (size_t i = 0; good && i < c->keys.n; i++) {
		struct collect_key key;

		memcpy(&key, intern_get(&c->keys, (uint32_t)i).p, sizeof(key));
		good = add_stack(c, &key, &c->by_key[i]);
	}
	good = good && add_moments(c);
	c->n_moments = 0;
	gather_native_release(&c->native);
	gather_names_release(&c->names);
	idmap_release(&c->located);
	idmap_init(&c->located);
	free(c->memo);
	c->memo = NULL;
	if (c->keys.n)
		memset(c->by_key, 0, c->keys.n * sizeof(*c->by_key));
	clear_array(&c->slept, &c->cap_slept, sizeof(*c->slept));
	intern_release(&c->keys);
	c->looked = false;
	return good;
}

static void end_running(struct collect *c)
{
	collect_running_due(c, NULL);
	collect_running_correct(c);
}

const char *collect_apply(struct collect *c, const struct record *r)
{
	const char *wrong, *late;

	if (r->type == RECORD_SEGMENT) {
		add_time(c);
		end_running(c);
		c->failed = !add_segment(c) || c->failed;
		c->based = false;
	}
	if (r->type == RECORD_SYMBOL || r->type == RECORD_SOURCE) {
		c->sums.symbols++;
		c->looked = true;
	}
	late = collect_running_due(c, r);
	wrong = capture_apply(&c->capture, r);
	if (!wrong && r->type == RECORD_RAN)
		collect_running_ran(c, &r->ran);
	else if (!wrong && r->type == RECORD_SAMPLE)
		wrong = add_sample(c, &r->sample);
	else if (!wrong && r->type == RECORD_WOKEN && !collect_woken(c, &r->woken))
		c->failed = true;
	return wrong ? wrong : late;
}

bool collect_finish(struct collect *c)
{
	add_time(c);
	end_running(c);
	return add_segment(c) && !c->failed && !c->capture.no_memory;
}

/* Makes a location without an address for a label of folded text. */
static bool name_label(struct traces *s, const struct profile *p, uint32_t label, uint32_t *location)
{
	struct traces_line line = { 0 };
	uint32_t name;

	return profile_label(&s->names, profile_text(p, label), &name) && traces_function(s, name, 0, &line.function) &&
	       traces_location(s, 0, 0, &line, 1, location);
}

/* Makes the node of a profile here, and finds the owner of its stacks; an outermost frame is an owner. */
static bool pour_node(struct traces *s, const struct profile *p, size_t i, const uint32_t *locations, uint32_t *nodes,
		      uint32_t *owners)
{
	const struct profile_node *n = &p->nodes[i];
	struct traces_owner o = { 0 };

	if (n->parent == 0)
		return traces_text(s, profile_text(p, n->label), &o.comm) && traces_owner(s, &o, &owners[i]);
	owners[i] = owners[n->parent];
	return traces_append(s, nodes[n->parent], locations[n->label], &nodes[i]);
}

bool collect_profile(struct traces *s, const struct profile *p, bool weighs)
{
	uint32_t *locations = calloc(p->labels.n, sizeof(*locations));
	uint32_t *nodes = calloc(p->n, sizeof(*nodes)), *owners = calloc(p->n, sizeof(*owners));
	bool good = locations && nodes && owners;

	for (uint32_t i = 0; good && i < p->labels.n; i++)
		good = name_label(s, p, i, &locations[i]);
	for (size_t i = 1; good && i < p->n; i++) {
		uint64_t weight = p->nodes[i].self[0];

		good = pour_node(s, p, i, locations, nodes, owners) &&
		       (!weight || traces_add(s, owners[i], nodes[i], weight, weighs ? weight : 0));
	}
	free(locations);
	free(nodes);
	free(owners);
	return good;
}
