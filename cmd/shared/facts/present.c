#include "cmd/shared/facts/present.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/shared/cli.h"
#include "common/base/array.h"
#include "common/base/glob.h"
#include "common/capture/container.h"

enum { SHOWN = 8 };	/* names of a list */
enum { GAP = 1 << 18 }; /* numbers of threads and processes that may be missing; more is damage */

static uint32_t add_text(struct present *p, struct slice text)
{
	uint32_t id;

	if ((p->texts.n == 0 && !intern_add(&p->texts, (struct slice){ NULL, 0 }, &id)) ||
	    !intern_add(&p->texts, text, &id))
		cli_no_memory();
	return id;
}

static void add_name(struct present *p, enum present_kind kind, struct slice name, uint32_t comm,
		     uint64_t samples)
{
	struct present_list *l = &p->lists[kind];
	bool known;
	uint32_t id;

	known = intern_find(&l->names, name, &id);
	if (!known &&
	    (!intern_add(&l->names, name, &id) || !grow_array(&l->items, &l->cap, id, sizeof(*l->items))))
		cli_no_memory();
	if (!known)
		l->items[id] = (struct present_name){ 0, comm };
	l->items[id].samples += samples;
}

static void add_number(struct present *p, enum present_kind kind, uint64_t number, uint32_t comm,
		       uint64_t samples)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	add_name(p, kind, slice_of(text), comm, samples);
}

/* Adds what the thread has run so far to its names, before one of them changes. */
static void settle_thread(struct present *p, struct present_thread *t)
{
	const struct present_process *process =
		t->process < p->n_processes ? &p->processes[t->process] : NULL;
	uint64_t n = t->samples;

	t->samples = 0;
	if (!n)
		return;
	add_name(p, PRESENT_COMMS, p->texts.n ? intern_get(&p->texts, t->comm) : (struct slice){ NULL, 0 }, 0,
		 n);
	add_number(p, PRESENT_TIDS, t->tid, t->comm, n);
	if (!process)
		return;
	add_number(p, PRESENT_PIDS, process->pid, t->comm, n);
	if (process->group)
		add_name(p, PRESENT_GROUPS, intern_get(&p->texts, process->group), 0, n);
}

static void settle_threads(struct present *p)
{
	for (size_t i = 0; i < p->n_threads; i++)
		settle_thread(p, &p->threads[i]);
}

static void begin_segment(struct present *p)
{
	settle_threads(p);
	p->n_threads = p->n_processes = 0;
	idmap_clear(&p->groups);
}

/* Makes room for element number of an array, and clears those between. */
static bool make_room(void *array, size_t *cap, size_t *n, uint64_t number, size_t size)
{
	if (number > *n + GAP)
		return false;
	for (; *n <= number; ++*n) {
		if (!grow_array(array, cap, *n, size))
			cli_no_memory();
		memset(*(uint8_t **)array + *n * size, 0, size);
	}
	return true;
}

static void take_process(struct present *p, const struct record_process *r)
{
	uint32_t group = r->parent && r->parent < p->n_processes ? p->processes[r->parent].group : 0;

	if (make_room(&p->processes, &p->cap_processes, &p->n_processes, r->id, sizeof(*p->processes)))
		p->processes[r->id] = (struct present_process){ r->pid, group };
}

static void take_thread(struct present *p, const struct record_thread *r)
{
	if (make_room(&p->threads, &p->cap_threads, &p->n_threads, r->id, sizeof(*p->threads)))
		p->threads[r->id] = (struct present_thread){ r->process, r->tid, 0, 0 };
}

static void take_comm(struct present *p, const struct record_comm *r)
{
	if (r->thread >= p->n_threads)
		return;
	settle_thread(p, &p->threads[r->thread]);
	p->threads[r->thread].comm = add_text(p, r->comm);
}

static void take_member(struct present *p, const struct record_member *r)
{
	uint32_t group;

	if (r->process >= p->n_processes || !idmap_find(&p->groups, r->cgroup, &group))
		return;
	if (p->processes[r->process].group)
		settle_threads(p);
	p->processes[r->process].group = group;
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
	add_name(p, PRESENT_LABELS, buf_view(&text), 0, 0);
	buf_release(&text);
}

static void take_other(struct present *p, const struct record *r)
{
	switch (r->type) {
	case RECORD_SEGMENT:
		begin_segment(p);
		break;
	case RECORD_META:
		take_label(p, &r->meta);
		break;
	case RECORD_PROCESS:
		take_process(p, &r->process);
		break;
	case RECORD_THREAD:
		take_thread(p, &r->thread);
		break;
	case RECORD_COMM:
		take_comm(p, &r->comm);
		break;
	case RECORD_CGROUP:
		if (!idmap_set(&p->groups, r->cgroup.id, add_text(p, r->cgroup.path)))
			cli_no_memory();
		break;
	case RECORD_MEMBER:
		take_member(p, &r->member);
		break;
	default:
		break;
	}
}

void present_record(struct present *p, const struct record *r)
{
	if (!p->on)
		return;
	if (r->type == RECORD_SAMPLE && r->sample.thread < p->n_threads)
		p->threads[r->sample.thread].samples++;
	else if (r->type != RECORD_SAMPLE)
		take_other(p, r);
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
			     : strtoull((const char *)name.p, NULL, 10) == a->numbers[i])
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
	uint64_t n = x->list->items[x->id].samples, m = y->list->items[y->id].samples;

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
	if ((kind == PRESENT_PIDS || kind == PRESENT_TIDS) && p->texts.n) {
		comm = intern_get(&p->texts, l->items[id].comm);
		buf_text(out, comm.n ? " " : "");
		buf_bytes(out, comm.p, comm.n);
	}
}

static void append_names(const struct present *p, enum present_kind kind, struct buf *out)
{
	const struct present_list *l = &p->lists[kind];
	struct ranked *all = rank_names(l);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->names.n; i++)
		sum += l->items[i].samples;
	for (uint32_t i = 0; i < l->names.n && i < SHOWN; i++) {
		buf_text(out, i ? ", " : "");
		append_name(p, kind, all[i].id, out);
		if (sum)
			buf_printf(out, " (%.0f %%)",
				   100 * (double)l->items[all[i].id].samples / (double)sum);
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
	settle_threads(p);
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
	intern_release(&p->texts);
	idmap_release(&p->groups);
	free(p->threads);
	free(p->processes);
	*p = (struct present){ 0 };
}
