#include "cmd/shared/keys.h"

#include <stdlib.h>
#include <string.h>

static const struct key {
	const char *name, *things;
	bool text; /* folded text has it */
} known[] = {
	[BY_FUNCTION] = { "function", "functions", true },
	[BY_MODULE] = { "module", "modules", false },
	[BY_LANGUAGE] = { "language", "languages", false },
	[BY_LINE] = { "line", "lines", false },
	[BY_FILE] = { "file", "files", false },
	[BY_SYSCALL] = { "syscall", "system calls", true },
	[BY_PROCESS] = { "process", "processes", true },
	[BY_THREAD] = { "thread", "threads", true },
	[BY_COMM] = { "comm", "commands", true },
	[BY_CPU] = { "cpu", "CPUs", false },
	[BY_CONTAINER] = { "container", "containers", false },
	[BY_USER] = { "user", "users", false },
	[BY_WAKER] = { "waker", "wakers", true },
	[BY_LOCK] = { "lock", "locks", true },
	[BY_CULPRIT] = { "culprit", NULL, false },
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* The words of other programs. */
static const char *const others[][2] = {
	{ "dso", "module" },	{ "object", "module" },	   { "lib", "module" },	    { "sym", "function" },
	{ "symbol", "function" }, { "pid", "process" },	   { "tid", "thread" },	    { "command", "comm" },
	{ "cgroup", "container" }, { "pod", "container" }, { "srcline", "line" },   { "source", "file" },
	{ "core", "cpu" },	{ "lang", "language" },	   { "uid", "user" },
};

static struct view_key parse_key(const char *name)
{
	for (size_t i = 0; i < KNOWN; i++) {
		if (known[i].name && strcmp(name, known[i].name) == 0)
			return (struct view_key){ (enum view_by)i, NULL };
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(name, others[i][0]) == 0)
			cli_usage("invalid --by \"%s\" (did you mean %s?)", name, others[i][1]);
	}
	if (strncmp(name, "label.", 6) != 0 || !name[6])
		cli_invalid("--by", name);
	return (struct view_key){ BY_LABEL, name + 6 };
}

static bool same_key(const struct view_key *a, const struct view_key *b)
{
	return a->by == b->by && (a->by != BY_LABEL || strcmp(a->label, b->label) == 0);
}

static void add_key(struct view *v, size_t at, struct view_key key)
{
	if (v->n_keys == VIEW_KEYS)
		cli_usage("--by takes at most %d keys", VIEW_KEYS);
	memmove(v->keys + at + 1, v->keys + at, (v->n_keys - at) * sizeof(*v->keys));
	v->keys[at] = key;
	v->n_keys++;
}

void keys_parse(struct filters *f, const char *argument)
{
	char *rest, *one;

	free(f->key_text);
	rest = f->key_text = strdup(argument);
	if (!rest)
		cli_no_memory();
	f->view.n_keys = 0;
	while ((one = strsep(&rest, ","))) {
		struct view_key key = parse_key(one);

		for (size_t i = 0; i < f->view.n_keys; i++) {
			if (same_key(&f->view.keys[i], &key))
				cli_usage("invalid --by \"%s\" (expected each key once)", argument);
		}
		add_key(&f->view, f->view.n_keys, key);
	}
}

bool keys_take_culprit(struct view *v)
{
	size_t at = 0;

	if (!view_has_key(v, BY_CULPRIT))
		return false;
	while (v->keys[at].by != BY_CULPRIT)
		at++;
	if (v->n_keys == 1) {
		v->keys[0].by = BY_THREAD;
		return true;
	}
	v->n_keys--;
	memmove(v->keys + at, v->keys + at + 1, (v->n_keys - at) * sizeof(*v->keys));
	return true;
}

/* Returns the number of the part that a kind of key has in labels of these parts. */
static unsigned int part_of(unsigned int parts, enum view_by by)
{
	return (unsigned int)__builtin_popcount(parts & ((1u << by) - 1));
}

static void add_column(struct projection *j, enum projection_kind kind, unsigned int index)
{
	j->columns[j->n_columns++] = (struct projection_column){ kind, index };
}

static void set_columns(struct filters *f, bool modules)
{
	struct projection *j = &f->shape.by;
	const struct view *v = &f->view;
	unsigned int root = 0;

	if (v->n_keys == 0)
		add_column(j, COLUMN_PART, part_of(v->parts, BY_FUNCTION));
	for (size_t i = 0; i < v->n_keys; i++) {
		enum view_by by = v->keys[i].by;

		if (by == BY_SYSCALL)
			add_column(j, COLUMN_SYSCALL, 0);
		else if (by > BY_SYSCALL)
			add_column(j, COLUMN_ROOT, root++);
		else
			add_column(j, COLUMN_PART, part_of(v->parts, by));
	}
	if (modules)
		add_column(j, COLUMN_PART, part_of(v->parts, BY_MODULE));
	j->roots = root;
}

/* Returns whether labels are already what the columns show. */
static bool is_shown(const struct projection *j, unsigned int parts)
{
	size_t n = (size_t)__builtin_popcount(parts);

	for (size_t i = 0; i < j->n_columns; i++) {
		if (j->columns[i].kind != COLUMN_PART || j->columns[i].index != i)
			return false;
	}
	return j->n_columns == n && (n == 1 || j->tabs);
}

/* A control group or container around the command is a key like the others, if there are others. */
static void take_container(struct view *v)
{
	const struct view_key container = { BY_CONTAINER, NULL };

	if (!v->container || view_roots(v) == 0)
		return;
	if (!view_has_key(v, BY_CONTAINER))
		add_key(v, 0, container);
	v->container = false;
}

void keys_check(struct filters *f)
{
	struct transform *s = &f->shape;
	struct view *v = &f->view;
	unsigned int kinds = view_frame_keys(v);
	bool blamed = view_has_key(v, BY_WAKER) || view_has_key(v, BY_LOCK);
	bool looked_at = s->match || s->focus || s->exclude || s->base || s->norm ||
			 view_has_key(v, BY_SYSCALL);
	bool by_name = v->n_keys == 1 && v->keys[0].by == BY_FUNCTION; /* asked for, and for nothing else */
	bool modules = f->tells_modules && kinds & 1u << BY_FUNCTION && !(kinds & 1u << BY_MODULE) && !by_name;

	if (v->n_keys > 1 && blamed)
		cli_usage("--by waker or lock takes no other keys");
	if ((v->inlined || v->lines) && !(kinds & (1u << BY_FUNCTION | 1u << BY_LINE | 1u << BY_FILE)))
		cli_usage("%s requires --by function", v->inlined ? "-i" : "-l");
	v->lines = v->lines && !(kinds & (1u << BY_LINE | 1u << BY_FILE));
	if (blamed) /* its frame is not of the sample */
		return;
	take_container(v);
	v->whole = kinds || looked_at;
	v->parts = kinds | (looked_at ? 1u << BY_FUNCTION : 0) | (modules ? 1u << BY_MODULE : 0);
	s->by.joined = f->joined;
	s->by.tabs = f->joined || f->tells_modules;
	set_columns(f, modules);
	s->by.asked = s->by.roots ? v->whole || (f->joined && v->n_keys > 1) : !is_shown(&s->by, v->parts);
	s->by.asked = s->by.asked || view_has_key(v, BY_SYSCALL);
}

void keys_forget_modules(struct filters *f)
{
	struct view *v = &f->view;

	if (!f->tells_modules || !(v->parts >> BY_MODULE & 1) || !view_has_key(v, BY_FUNCTION) ||
	    view_has_key(v, BY_MODULE))
		return;
	f->shape.by.n_columns--;
	f->shape.by.asked = true;
	v->parts &= ~(1u << BY_MODULE);
}

size_t keys_columns(const struct view *v)
{
	return v->n_keys ? v->n_keys : 1;
}

const char *keys_name(const struct view *v, size_t column)
{
	const struct view_key *key = &v->keys[column];

	if (v->n_keys == 0)
		return known[BY_FUNCTION].name;
	return key->by == BY_LABEL ? key->label - strlen("label.") : known[key->by].name;
}

const char *keys_things(const struct view *v)
{
	if (v->n_keys > 1)
		return "rows";
	if (v->n_keys == 0)
		return known[BY_FUNCTION].things;
	return v->keys[0].by == BY_LABEL ? "labels" : known[v->keys[0].by].things;
}

const char *keys_need_capture(const struct view *v)
{
	for (size_t i = 0; i < v->n_keys; i++) {
		if (v->keys[i].by == BY_LABEL)
			return "label";
		if (!known[v->keys[i].by].text)
			return known[v->keys[i].by].name;
	}
	return NULL;
}

void keys_gather_all(struct view *v)
{
	static const enum view_by usual[] = { BY_PROCESS, BY_THREAD, BY_COMM, BY_CONTAINER };
	unsigned int kinds = view_frame_keys(v);

	v->parts |= kinds | 1u << BY_FUNCTION | 1u << BY_MODULE;
	v->whole = true;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		const struct view_key key = { usual[i], NULL };

		if (v->n_keys < VIEW_KEYS && (v->n_keys == 0 || !view_has_key(v, usual[i])))
			add_key(v, v->n_keys, key);
	}
}

int keys_root(const struct view *gathered, const struct view_key *key)
{
	int root = 0;

	for (size_t i = 0; i < gathered->n_keys; i++) {
		if (gathered->keys[i].by > BY_SYSCALL && same_key(&gathered->keys[i], key))
			return root;
		root += gathered->keys[i].by > BY_SYSCALL;
	}
	return -1;
}

void keys_choose(const struct view *gathered, const struct view_key *keys, size_t n, bool modules,
		 struct view *shown, struct projection *by)
{
	unsigned int kinds;

	*shown = *gathered;
	shown->n_keys = n;
	if (n)
		memcpy(shown->keys, keys, n * sizeof(*keys));
	kinds = view_frame_keys(shown);
	modules = modules && kinds & 1u << BY_FUNCTION && !(kinds & 1u << BY_MODULE);
	by->n_columns = 0;
	by->roots = view_roots(gathered);
	by->asked = true;
	if (n == 0)
		add_column(by, COLUMN_PART, part_of(gathered->parts, BY_FUNCTION));
	for (size_t i = 0; i < n; i++) {
		if (keys[i].by == BY_SYSCALL)
			add_column(by, COLUMN_SYSCALL, 0);
		else if (keys[i].by > BY_SYSCALL)
			add_column(by, COLUMN_ROOT, (unsigned int)keys_root(gathered, &keys[i]));
		else
			add_column(by, COLUMN_PART, part_of(gathered->parts, keys[i].by));
	}
	if (modules)
		add_column(by, COLUMN_PART, part_of(gathered->parts, BY_MODULE));
	else
		shown->parts &= ~(1u << BY_MODULE);
}
