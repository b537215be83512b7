#include "common/select/select.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/glob.h"
#include "common/capture/container.h"
#include "common/capture/labels.h"

static bool id_listed(const uint64_t *list, size_t n, uint64_t v)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == v)
			return true;
	}
	return n == 0;
}

bool select_by_clock(const struct view *v)
{
	return time_arg_by_clock(&v->from, &v->to);
}

/* Returns whether wanted is the name or its family: "off-cpu" matches "off-cpu:sleep" too. */
static bool is_event(struct slice name, const char *wanted)
{
	size_t n = strlen(wanted);

	return slice_begins(name, wanted) && (name.n == n || name.p[n] == ':');
}

bool select_names_waits(const char *event)
{
	return is_event(slice_of(event), "off-cpu");
}

/* Returns whether waits may be shown. If not, their event leaves them out whatever their time. */
static bool shows_waits(const struct view *v)
{
	for (size_t i = 0; i < v->n_events; i++) {
		if (select_names_waits(v->events[i]))
			return true;
	}
	return v->wall;
}

bool select_wants(const void *view, const struct segment_extent *x)
{
	const struct view *v = view;
	uint64_t from = shows_waits(v) ? x->waits : x->from;

	return from > INT64_MAX || x->to > INT64_MAX || time_arg_overlaps(&v->from, &v->to, (int64_t)from, (int64_t)x->to);
}

bool select_counts(const void *view, const struct capture *c)
{
	const struct view *v = view;
	uint64_t end = c->end_time > c->totals.last ? c->end_time : c->totals.last, first = c->sampled ? c->began : end;
	struct segment_extent x = { .from = capture_realtime(c, first), .to = capture_realtime(c, end) };

	if (!select_by_clock(v) || !c->end_seen || !x.from || !x.to)
		return true;
	x.waits = capture_realtime(c, capture_waits_from(c, first));
	return !x.waits || select_wants(view, &x);
}

static bool is_timed(const struct view *v)
{
	return v->from.kind != TIME_ARG_UNSET || v->to.kind != TIME_ARG_UNSET;
}

/* Returns the wall-clock time if the view's window is in clock time, or 0. */
static int64_t clock_of(const struct select *s, uint64_t time)
{
	bool by_clock = s->view->from.kind > TIME_ARG_OFFSET || s->view->to.kind > TIME_ARG_OFFSET;

	return by_clock ? (int64_t)capture_realtime(s->capture, time) : 0;
}

bool select_moment(const struct select *s, uint64_t time)
{
	const struct view *v = s->view;

	return !is_timed(v) ||
	       time_arg_between(&v->from, &v->to, (int64_t)(time - s->base), clock_of(s, time));
}

uint64_t select_overlap(const struct select *s, uint64_t time, uint64_t n, uint64_t *after)
{
	const struct view *v = s->view;
	bool by_clock = v->from.kind > TIME_ARG_OFFSET || v->to.kind > TIME_ARG_OFFSET;
	int64_t clock = clock_of(s, time);

	*after = 0;
	if (!is_timed(v))
		return n;
	if (by_clock && clock == 0)
		return select_moment(s, time) ? n : 0;
	return time_arg_overlap(&v->from, &v->to, (int64_t)(time - s->base), clock, n, after);
}

/* Cuts the wait to the view's time window; returns false if nothing is left. */
static bool cut_wait(const struct select *s, struct record_sample *part)
{
	uint64_t after;

	if (part->weight == 0)
		return select_moment(s, part->time);
	part->weight = select_overlap(s, part->time, part->weight, &after);
	part->time -= after;
	return part->weight > 0;
}

uint64_t select_base(const struct capture *c, uint64_t first)
{
	uint64_t begin = capture_has_waits(c) ? capture_meta_number(c, "start-monotonic-ns") : 0;

	return begin && begin < first ? begin : first;
}

bool select_by_time(const struct select *s, const struct record_sample *r, struct record_sample *part)
{
	const struct capture *c = s->capture;

	*part = *r;
	if (!is_timed(s->view))
		return true;
	return capture_wait(c, r->event) && shows_waits(s->view) && slice_is(c->events[r->event].unit, "ns") ?
	       cut_wait(s, part) : select_moment(s, r->time);
}

/* Weights add up only if they are time. An event whose definition was lost passes, because it may be time. */
static bool of_unit(const struct view *v, const struct capture *c, uint64_t event)
{
	const struct record_event *e = event < CAPTURE_EVENTS ? &c->events[event] : NULL;

	return v->weight != WEIGHT_NS || !e || e->id != event || slice_is(e->unit, "ns");
}

bool select_names_event(const struct view *v, struct slice name)
{
	for (size_t i = 0; i < v->n_events; i++) {
		if (is_event(name, v->events[i]))
			return true;
	}
	return false;
}

bool select_lists_event(const struct view *v, const struct capture *c, uint64_t event)
{
	if (v->n_events == 0)
		return (v->wall || !capture_wait(c, event)) && (v->apart || !capture_is_other(c, event));
	return event < CAPTURE_EVENTS && c->events[event].id && select_names_event(v, c->events[event].name);
}

static bool is_below(struct slice path, const char *group)
{
	size_t n = strlen(group);

	while (n > 1 && group[n - 1] == '/')
		n--;
	return n == 1 || (path.n >= n && memcmp(path.p, group, n) == 0 && (path.n == n || path.p[n] == '/'));
}

static bool in_group(const struct view *v, const struct capture *c, const struct capture_process *p)
{
	struct slice path = p->cgroup ? capture_text(c, p->cgroup) : (struct slice){ 0 };
	struct container container;
	bool contained = container_of(path, &container);

	for (size_t i = 0; i < v->n_groups; i++) {
		if (v->groups[i][0] == '/' ? p->cgroup && is_below(path, v->groups[i]) :
		    contained && container_is(&container, slice_of(v->groups[i])))
			return true;
	}
	return v->n_groups == 0;
}

static bool is_user(const struct view *v, const struct capture *c, uint32_t owner)
{
	struct slice name = owner ? capture_user_name(c, owner) : (struct slice){ 0 };
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, owner - 1);
	for (size_t i = 0; owner && i < v->n_users; i++) {
		if (strcmp(v->users[i], number) == 0 || (name.n && slice_is(name, v->users[i])))
			return true;
	}
	return v->n_users == 0;
}

static bool is_labelled(const struct view *v, const struct capture *c)
{
	for (size_t i = 0; i < v->n_labels; i++) {
		size_t n = strcspn(v->labels[i], "=");
		struct slice value;

		if (!capture_label(c, (struct slice){ (const uint8_t *)v->labels[i], n }, &value) ||
		    !slice_is(value, v->labels[i] + n + 1))
			return false;
	}
	return true;
}

/* Returns whether the threads are asked for that lead their processes, and this is one of them. */
static bool leads(const struct view *v, uint64_t pid, uint64_t tid)
{
	return tid == pid && v->n_tids && id_listed(v->tids, v->n_tids, VIEW_MAIN_THREAD);
}

bool select_thread(const struct select *s, uint64_t thread)
{
	const struct view *v = s->view;
	const struct capture *c = s->capture;
	const struct capture_thread *t = &c->threads[thread];
	uint64_t pid = c->processes[t->process].pid;

	return id_listed(v->pids, v->n_pids, pid) &&
	       (id_listed(v->tids, v->n_tids, t->tid) || leads(v, pid, t->tid)) &&
	       (glob_lists(v->comms, v->n_comms, capture_text(c, t->comm)) ||
		glob_lists(v->comms, v->n_comms, capture_text(c, capture_process_comm(c, t->process)))) &&
	       (v->n_groups == 0 || in_group(v, c, &c->processes[t->process])) &&
	       (v->n_users == 0 || is_user(v, c, c->processes[t->process].owner)) && is_labelled(v, c);
}

enum select_answer select_sample(const struct select *s, const struct record_sample *r,
				 struct record_sample *part)
{
	const struct view *v = s->view;

	if (!select_lists_event(v, s->capture, r->event) || !select_by_time(s, r, part) ||
	    !of_unit(v, s->capture, r->event) || (v->half == HALF_USER && !view_has_half(r->user)) ||
	    (v->half == HALF_KERNEL && !view_has_half(r->kernel)))
		return SELECT_OUT;
	return select_thread(s, r->thread) ? SELECT_IN : SELECT_OTHERS;
}
