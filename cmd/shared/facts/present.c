#include "cmd/shared/facts/present.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/shared/cli.h"
#include "common/base/array.h"
#include "common/base/glob.h"
#include "common/capture/container.h"
#include "common/select/recordings.h"
#include "common/select/select.h"

enum { SHOWN = 8 }; /* names of a list */

/* Adds weight to a name. comm: the command shown beside it, if any; the last one counts. */
static void add_name(struct present *p, enum present_kind kind, struct slice name, struct slice comm,
		     uint64_t weight)
{
	struct present_list *l = &p->lists[kind];
	bool known = intern_find(&l->names, name, &(uint32_t){ 0 });
	uint32_t id;

	if (!intern_add(&l->names, name, &id) || !grow_array(&l->items, &l->cap, id, sizeof(*l->items)))
		cli_no_memory();
	if (!known)
		l->items[id] = (struct present_name){ 0 };
	l->items[id].weight += weight;
	if (comm.n && !intern_add(&p->comms, comm, &l->items[id].comm))
		cli_no_memory();
	l->items[id].named = l->items[id].named || comm.n;
}

static void add_number(struct present *p, enum present_kind kind, uint64_t number, struct slice comm,
		       uint64_t weight)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	add_name(p, kind, slice_of(text), comm, weight);
}

/* Adds the thread's weight to the names that it has at this time. */
static void settle_names(struct present *p, const struct capture *c, size_t thread)
{
	const struct capture_thread *t = &c->threads[thread];
	uint32_t group = c->processes[t->process].cgroup, owner = c->processes[t->process].owner;
	uint32_t comm = capture_process_comm(c, t->process);
	struct present_thread *own = &p->threads[thread];
	struct slice none = { 0 };

	if (!own->fresh)
		return;
	add_name(p, PRESENT_COMMS, capture_text(c, t->comm), none, own->fresh);
	if (comm)
		add_name(p, PRESENT_COMMS, capture_text(c, comm), none, 0);
	if (group)
		add_name(p, PRESENT_GROUPS, capture_text(c, group), none, own->fresh);
	if (owner)
		add_number(p, PRESENT_USERS, owner - 1, capture_user_name(c, owner), own->fresh);
	own->weight += own->fresh;
	own->fresh = 0;
}

/* Adds the threads of the segment, by the names that they had last. */
static void settle_threads(struct present *p, const struct capture *c)
{
	for (size_t i = 0; i < p->n_threads; i++) {
		const struct capture_thread *t = &c->threads[i];
		uint64_t pid = c->processes[t->process].pid, weight;
		uint32_t name = capture_last_name(c, (uint32_t)i), comm = capture_last_comm(c, t->process);

		settle_names(p, c, i);
		weight = p->threads[i].weight;
		p->threads[i].weight = 0;
		if (!weight)
			continue;
		add_number(p, PRESENT_TIDS, t->tid, capture_text(c, name), weight);
		add_number(p, PRESENT_PIDS, pid, capture_text(c, comm), weight);
	}
	p->n_threads = p->n_fresh = 0;
	p->based = false;
}

static void take_label(struct present *p, const struct record_meta *r)
{
	struct buf text = { 0 };

	if (!slice_begins(r->key, "label."))
		return;
	buf_bytes(&text, r->key.p + strlen("label."), r->key.n - strlen("label."));
	buf_byte(&text, '=');
	buf_bytes(&text, r->value.p, r->value.n);
	if (text.failed)
		cli_no_memory();
	add_name(p, PRESENT_LABELS, buf_view(&text), (struct slice){ 0 }, 0);
	buf_release(&text);
}

/* Adds what the view would count of the sample, if it asked for the sample's thread. */
static void take_sample(struct present *p, const struct view *v, const struct capture *c,
			const struct record_sample *r)
{
	struct select select = { v, c, p->base };
	struct record_sample part;

	if (capture_check_sample(c, r))
		return;
	if (!p->based)
		select.base = p->base = recordings_base(v->recordings, c, r->time);
	p->based = true;
	if (select_sample(&select, r, &part) == SELECT_OUT)
		return;
	for (; p->n_threads <= r->thread; p->n_threads++) {
		if (!grow_array(&p->threads, &p->cap_threads, p->n_threads, sizeof(*p->threads)))
			cli_no_memory();
		p->threads[p->n_threads] = (struct present_thread){ 0, 0 };
	}
	if (!p->threads[r->thread].fresh) {
		if (!grow_array(&p->fresh, &p->cap_fresh, p->n_fresh, sizeof(*p->fresh)))
			cli_no_memory();
		p->fresh[p->n_fresh++] = (uint32_t)r->thread;
	}
	p->threads[r->thread].fresh += v->weight == WEIGHT_NS ? part.weight : 1;
}

void present_record(struct present *p, const struct view *v, const struct capture *c, const struct record *r)
{
	if (!p->on)
		return;
	if (r->type == RECORD_SAMPLE)
		take_sample(p, v, c, &r->sample);
	else if (r->type == RECORD_SEGMENT)
		settle_threads(p, c);
	else if (r->type == RECORD_META)
		take_label(p, &r->meta);
	else if (r->type == RECORD_COMM && r->comm.thread < p->n_threads)
		settle_names(p, c, r->comm.thread);
	else if (r->type == RECORD_MEMBER || r->type == RECORD_OWNER)
		while (p->n_fresh) /* any thread of the process may have samples */
			settle_names(p, c, p->fresh[--p->n_fresh]);
}

void present_end(struct present *p, const struct capture *c)
{
	if (p->on)
		settle_threads(p, c);
}

/* A filter, as the view has it. */
struct asked {
	const char *option, *things;
	const char *const *texts;
	const uint64_t *numbers;
	size_t n;
};

static struct asked asked_of(const struct view *v, enum present_kind kind)
{
	switch (kind) {
	case PRESENT_COMMS:
		return (struct asked){ "--comm", "commands", v->comms, NULL, v->n_comms };
	case PRESENT_PIDS:
		return (struct asked){ "--pid", "processes", NULL, v->pids, v->n_pids };
	case PRESENT_TIDS:
		return (struct asked){ "--tid", "threads", NULL, v->tids, v->n_tids };
	case PRESENT_USERS:
		return (struct asked){ "--uid", "users", v->users, NULL, v->n_users };
	case PRESENT_GROUPS:
		return (struct asked){ "--in", "containers and control groups", v->groups, NULL,
				       v->n_groups };
	default:
		return (struct asked){ "--label", "labels", v->labels, NULL, v->n_labels };
	}
}

/* Returns whether the capture's name matches one text of the filter. */
static bool matches(enum present_kind kind, struct slice name, const char *text)
{
	struct container c;
	size_t n = strlen(text);

	if (kind == PRESENT_COMMS)
		return glob_matches(text, name);
	if (kind == PRESENT_GROUPS && text[0] != '/')
		return container_of(name, &c) && container_is(&c, slice_of(text));
	if (kind == PRESENT_GROUPS)
		return name.n >= n && memcmp(name.p, text, n) == 0;
	return slice_is(name, text);
}

static bool is_asked(const struct asked *a, enum present_kind kind, struct slice name)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->texts ? matches(kind, name, a->texts[i])
			     : strtoull((const char *)name.p, NULL, 10) == a->numbers[i] ||
				       a->numbers[i] == VIEW_MAIN_THREAD)
			return true;
	}
	return false;
}

static bool has_asked(const struct present *p, enum present_kind kind, const struct asked *a)
{
	const struct present_list *l = &p->lists[kind];

	for (uint32_t i = 0; i < l->names.n; i++) {
		if (is_asked(a, kind, intern_get(&l->names, i)))
			return true;
	}
	return false;
}

struct ranked {
	const struct present_list *list;
	uint32_t id;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	uint64_t n = x->list->items[x->id].weight, m = y->list->items[y->id].weight;

	if (n != m)
		return n > m ? -1 : 1;
	return slice_compare(intern_get(&x->list->names, x->id), intern_get(&y->list->names, y->id));
}

static struct ranked *rank_names(const struct present_list *l)
{
	struct ranked *all = calloc(l->names.n + 1, sizeof(*all));

	if (!all)
		cli_no_memory();
	for (uint32_t i = 0; i < l->names.n; i++)
		all[i] = (struct ranked){ l, i };
	qsort(all, l->names.n, sizeof(*all), compare_ranked);
	return all;
}

static void append_name(const struct present *p, enum present_kind kind, uint32_t id, struct buf *out)
{
	const struct present_list *l = &p->lists[kind];
	struct slice name = intern_get(&l->names, id), comm;

	if (kind == PRESENT_GROUPS)
		container_label(out, name);
	else
		buf_bytes(out, name.p, name.n);
	if (l->items[id].named) {
		comm = intern_get(&p->comms, l->items[id].comm);
		buf_byte(out, ' ');
		buf_bytes(out, comm.p, comm.n);
	}
}

static void append_names(const struct present *p, enum present_kind kind, struct buf *out)
{
	const struct present_list *l = &p->lists[kind];
	struct ranked *all = rank_names(l);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->names.n; i++)
		sum += l->items[i].weight;
	for (uint32_t i = 0; i < l->names.n && i < SHOWN; i++) {
		buf_text(out, i ? ", " : "");
		append_name(p, kind, all[i].id, out);
		if (sum)
			buf_printf(out, " (%.0f %%)",
				   100 * (double)l->items[all[i].id].weight / (double)sum);
	}
	if (l->names.n > SHOWN)
		buf_printf(out, " and %zu more", l->names.n - SHOWN);
	free(all);
}

const char *present_guess(const struct intern *names, const char *text)
{
	const char **words = calloc(names->n + 1, sizeof(*words)), *guess;

	if (!words)
		cli_no_memory();
	for (uint32_t i = 0; i < names->n; i++)
		words[i] = (const char *)intern_get(names, i).p;
	guess = cli_guess(text, words);
	free(words);
	return guess;
}

/* Appends the name that the user most likely meant: the nearest to one of the texts. */
static void append_guess(const struct present *p, enum present_kind kind, const struct asked *a,
			 struct buf *out)
{
	const char *guess = NULL;

	for (size_t i = 0; a->texts && i < a->n && !guess; i++)
		guess = present_guess(&p->lists[kind].names, a->texts[i]);
	if (guess)
		buf_printf(out, "; did you mean %s %s?", a->option, guess);
}

void present_append(struct present *p, const struct view *v, struct buf *out)
{
	for (unsigned int k = 0; k < PRESENT_KINDS; k++) {
		enum present_kind kind = (enum present_kind)k;
		struct asked a = asked_of(v, kind);

		if (!a.n || has_asked(p, kind, &a))
			continue;
		buf_printf(out, "; recorded %s: ", a.things);
		if (p->lists[kind].names.n)
			append_names(p, kind, out);
		else
			buf_text(out, "none");
		append_guess(p, kind, &a, out);
	}
}

void present_release(struct present *p)
{
	for (unsigned int k = 0; k < PRESENT_KINDS; k++) {
		intern_release(&p->lists[k].names);
		free(p->lists[k].items);
	}
	intern_release(&p->comms);
	free(p->threads);
	free(p->fresh);
	*p = (struct present){ 0 };
}
