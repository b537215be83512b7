#include "cmd/cprof-top/look.h"

#include <ctype.h>
#include <stdlib.h>

#include "cmd/cprof-top/keyboard.h"
#include "cmd/cprof-top/look_tree.h"
#include "cmd/shared/keys.h"
#include "common/profile/sanitize.h"

enum { TYPED_MAX = 200 };

static const enum view_by usual[] = { BY_FUNCTION, BY_MODULE, BY_PROCESS, BY_THREAD, BY_COMM, BY_CONTAINER };

enum { USUAL = sizeof(usual) / sizeof(usual[0]) };

void look_begin(struct look *l, const struct filters *f, struct view *view, const struct views *views)
{
	bool by_name = view->n_keys == 1 && view->keys[0].by == BY_FUNCTION;

	*l = (struct look){ .n_given = view->n_keys,
			    .given_modules = f->tells_modules && !by_name,
			    .tree = views->shape == SHAPE_TREE,
			    .cum = views->cum };
	memcpy(l->given, view->keys, sizeof(l->given));
	keys_gather_all(view);
	l->gathered = *view;
}

static void drop_step(struct look *l)
{
	struct look_step *s = &l->steps[--l->n_steps];

	if (s->by == BY_FUNCTION && !s->path)
		regfree(&l->calls);
	l->choice = s->choice;
	l->row = s->row;
	free(s->name);
	free(s->path);
	free(l->marked);
	l->marked = NULL;
}

static void drop_search(struct look *l)
{
	if (l->searches)
		regfree(&l->search);
	l->searches = false;
	buf_clear(&l->typed);
}

void look_release(struct look *l)
{
	while (l->n_steps)
		drop_step(l);
	drop_search(l);
	buf_release(&l->typed);
	free(l->marked);
	*l = (struct look){ 0 };
}

/* Returns the last step, if it is into a function: its calls are shown. */
static const struct look_step *calls_shown(const struct look *l)
{
	const struct look_step *s = l->n_steps ? &l->steps[l->n_steps - 1] : NULL;

	return s && s->by == BY_FUNCTION && !s->path ? s : NULL;
}

/* Sets the keys of the choice. A tree keeps its functions below another outermost frame. */
static size_t choose_keys(const struct look *l, struct view_key *keys, bool *modules)
{
	*modules = l->choice || l->given_modules;
	if (calls_shown(l))
		return 0;
	if (l->choice == 0) {
		memcpy(keys, l->given, sizeof(l->given));
		return l->n_given;
	}
	keys[0] = (struct view_key){ usual[l->choice - 1], NULL };
	keys[1] = (struct view_key){ BY_FUNCTION, NULL };
	return usual[l->choice - 1] == BY_FUNCTION ? 0 : l->tree && usual[l->choice - 1] != BY_MODULE ? 2 : 1;
}

static bool passes(const struct look *l, int root, struct slice name)
{
	for (size_t i = 0; i < l->n_steps; i++) {
		if (l->steps[i].root == root && !slice_is(name, l->steps[i].name))
			return false;
	}
	return true;
}

/* Copies the stacks that the steps leave. */
static bool copy_stacks(const struct look *l, const struct profile *from, struct profile *to)
{
	uint32_t *at = calloc(from->n, sizeof(*at)), *depth = calloc(from->n, sizeof(*depth));
	uint32_t *labels = calloc(from->labels.n, sizeof(*labels));
	bool good = profile_init(to) && at && depth && labels;

	for (uint32_t i = 0; good && i < from->labels.n; i++)
		good = profile_label(to, profile_text(from, i), &labels[i]);
	for (size_t i = 1; good && i < from->n; i++) {
		const struct profile_node *node = &from->nodes[i];
		bool left = node->parent == 0 || at[node->parent];

		depth[i] = depth[node->parent] + 1;
		if (!left || !passes(l, (int)depth[i] - 1, profile_text(from, node->label)))
			continue;
		good = profile_child(to, at[node->parent], labels[node->label], &at[i]);
		for (unsigned int side = 0; good && side < PROFILE_SIDES; side++)
			good = profile_claim(to, side, node->self[side]) &&
			       profile_add_at(to, at[i], 0, side, node->self[side]);
	}
	free(at);
	free(depth);
	free(labels);
	return good;
}

void look_show(struct look *l, const struct transform *shape, const struct profile *gathered,
	       struct profile *seen, struct view *seen_view, struct views *views)
{
	const struct look_step *calls = calls_shown(l), *last = l->n_steps ? &l->steps[l->n_steps - 1] : NULL;
	struct view_key keys[VIEW_KEYS];
	struct transform t = *shape;
	bool modules;
	size_t n = choose_keys(l, keys, &modules);

	keys_choose(&l->gathered, keys, n, modules, seen_view, &t.by);
	t.by.joined = !calls && !l->tree;
	t.by.tabs = true;
	profile_release(seen);
	if (!copy_stacks(l, gathered, seen) || !transform_apply(&t, seen) ||
	    (l->tree && !look_tree_cut(l, seen)))
		cli_no_memory();
	views->profile = seen;
	views->view = seen_view;
	views->shape = l->tree ? SHAPE_TREE : calls ? SHAPE_PEEK : SHAPE_TABLE;
	views->peek = calls ? &l->calls : NULL;
	views->search = l->searches && !calls && !l->tree ? &l->search : NULL;
	views->module =
		last && last->by == BY_MODULE && n == 0 ? slice_of(last->name) : (struct slice){ NULL, 0 };
	views->cum = l->cum;
	views->shown = &l->rows;
}

/* Compiles the name of a function as an expression that matches it alone. */
static bool expect_name(regex_t *expression, struct slice name)
{
	struct buf text = { 0 };
	bool good;

	buf_byte(&text, '^');
	for (size_t i = 0; i < name.n; i++) {
		if (strchr("\\^$.[]|()*+?{}", name.p[i]))
			buf_byte(&text, '\\');
		buf_byte(&text, name.p[i]);
	}
	buf_byte(&text, '$');
	good = !text.failed && regcomp(expression, buf_cstr(&text), REG_EXTENDED | REG_NOSUB) == 0;
	buf_release(&text);
	return good;
}

/* Returns the label of the marked row, or of the first. */
static struct slice row_label(const struct look *l, const struct profile *seen)
{
	return profile_text(seen, l->rows.labels[l->row < l->rows.n ? l->row : 0]);
}

/* Appends the label of a row, or its path in a tree. No other row has it. */
static void append_row(const struct look *l, const struct profile *seen, size_t row, struct buf *out)
{
	struct slice label;

	buf_clear(out);
	if (l->tree) {
		look_tree_path(l, seen, row, out);
	} else if (row < l->rows.n) {
		label = profile_text(seen, l->rows.labels[row]);
		buf_bytes(out, label.p, label.n);
	}
	if (out->failed)
		cli_no_memory();
}

static void remember_row(struct look *l, const struct profile *seen)
{
	struct buf text = { 0 };

	append_row(l, seen, l->row, &text);
	free(l->marked);
	l->marked = strdup(buf_cstr(&text));
	if (!l->marked)
		cli_no_memory();
	buf_release(&text);
}

static bool add_step(struct look *l, int root, enum view_by by, struct slice name)
{
	struct look_step *s = &l->steps[l->n_steps];

	if (l->n_steps == LOOK_STEPS || name.n == 0 || (by == BY_FUNCTION && !expect_name(&l->calls, name)))
		return false;
	*s = (struct look_step){ root, by, strndup((const char *)name.p, name.n), l->choice, l->row, NULL };
	if (!s->name)
		cli_no_memory();
	l->n_steps++;
	return true;
}

/* Steps into the row of a tree, to the subtree of its frame. */
static enum look_change step_below(struct look *l, const struct profile *seen)
{
	if (!look_tree_step(l, seen, &l->steps[l->n_steps < LOOK_STEPS ? l->n_steps : 0]))
		return LOOK_SAME;
	l->n_steps++;
	l->row = 0;
	l->marks = false;
	drop_search(l);
	return LOOK_CHANGED;
}

/* Steps into the row: its process, thread, command, container or module, and at last its function. */
static enum look_change step_into(struct look *l, const struct profile *seen)
{
	struct view_key keys[VIEW_KEYS] = { { BY_FUNCTION, NULL } };
	bool modules, stepped = false;
	size_t n = choose_keys(l, keys, &modules);
	struct slice label, function = { NULL, 0 };

	if (l->tree)
		return step_below(l, seen);
	if (calls_shown(l) || !l->rows.n)
		return LOOK_SAME;
	label = row_label(l, seen);
	for (size_t i = 0; i < (n ? n : 1); i++) {
		enum view_by by = n ? keys[i].by : BY_FUNCTION;
		int root = keys_root(&l->gathered, &keys[i]);

		if (by == BY_FUNCTION)
			function = projection_part(label, (unsigned int)i);
		else if (root >= 0 || by == BY_MODULE)
			stepped = add_step(l, root, by, projection_part(label, (unsigned int)i)) || stepped;
	}
	stepped = add_step(l, -1, BY_FUNCTION, function) || stepped;
	if (!stepped)
		return LOOK_SAME;
	l->choice = 1;
	l->row = 0;
	l->marks = false;
	drop_search(l);
	return LOOK_CHANGED;
}

static enum look_change step_back(struct look *l)
{
	if (!l->n_steps && !l->searches)
		return LOOK_SAME;
	if (l->searches)
		drop_search(l);
	else
		drop_step(l);
	return LOOK_CHANGED;
}

static enum look_change move_row(struct look *l, const struct profile *seen, int by)
{
	if (!l->rows.n)
		return LOOK_SAME;
	if (l->marks && (by < 0 ? l->row > 0 : l->row + 1 < l->rows.n))
		l->row += (size_t)by;
	else if (!l->marks)
		l->row = by < 0 ? l->rows.n - 1 : 0;
	l->marks = true;
	remember_row(l, seen);
	return LOOK_CHANGED;
}

/* The next choice that is not what the command line has asked for, which is the first. */
static void next_choice(struct look *l)
{
	enum view_by given = l->n_given ? l->given[0].by : BY_FUNCTION;
	size_t most = l->tree && l->n_given == 2 && l->given[1].by == BY_FUNCTION ? 2 : 1;

	l->choice = (l->choice + 1) % LOOK_CHOICES;
	if (l->choice && l->n_given <= most && usual[l->choice - 1] == given)
		l->choice = (l->choice + 1) % LOOK_CHOICES;
	l->row = 0;
	l->marks = false;
}

/* Searches as far as the expression has been typed. An invalid one finds what the last valid one did. */
static void search_typed(struct look *l)
{
	const char *text = buf_cstr(&l->typed);
	int flags = REG_EXTENDED | REG_NOSUB | REG_ICASE;
	regex_t search;

	for (const char *c = text; *c; c++)
		flags &= isupper((unsigned char)*c) ? ~REG_ICASE : flags;
	if (l->typed.n == 0) {
		drop_search(l);
		return;
	}
	if (regcomp(&search, text, flags) != 0)
		return;
	if (l->searches)
		regfree(&l->search);
	l->search = search;
	l->searches = true;
	l->row = 0;
}

static enum look_change type_key(struct look *l, int key)
{
	if (key == KEY_ENTER) {
		l->typing = false;
	} else if (key == KEY_ESCAPE) {
		l->typing = false;
		drop_search(l);
	} else if (key == KEY_BACKSPACE) {
		while (l->typed.n && (l->typed.p[--l->typed.n] & 0xc0) == 0x80)
			;
		search_typed(l);
	} else if (key >= ' ' && key < 0x100 && l->typed.n < TYPED_MAX) {
		buf_byte(&l->typed, (uint8_t)key);
		search_typed(l);
	} else {
		return LOOK_SAME;
	}
	if (l->typed.failed)
		cli_no_memory();
	return LOOK_CHANGED;
}

enum look_change look_plain_key(struct look *l, int key)
{
	if (key == 'q')
		return LOOK_QUIT;
	if (key != 'p' && key != ' ')
		return LOOK_SAME;
	l->paused = !l->paused;
	return LOOK_CHANGED;
}

enum look_change look_key(struct look *l, const struct profile *seen, int key)
{
	if (l->typing)
		return type_key(l, key);
	switch (key) {
	case 's':
		l->cum = !l->cum && !l->tree;
		return l->tree ? LOOK_SAME : LOOK_CHANGED;
	case 'b':
		while (l->n_steps && (l->tree || calls_shown(l))) /* paths are by the keys */
			drop_step(l);
		next_choice(l);
		return LOOK_CHANGED;
	case '/':
		drop_search(l);
		l->typing = true;
		return LOOK_CHANGED;
	case KEY_UP:
	case 'k':
		return move_row(l, seen, -1);
	case KEY_DOWN:
	case 'j':
		return move_row(l, seen, 1);
	case KEY_ENTER:
		return step_into(l, seen);
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
		return step_back(l);
	default:
		return look_plain_key(l, key);
	}
}

long look_marked(struct look *l, const struct profile *seen)
{
	struct buf text = { 0 };

	if (!l->marks || !l->rows.n)
		return -1;
	for (size_t i = 0; l->marked && l->marked[0] && i < l->rows.n; i++) {
		append_row(l, seen, i, &text);
		if (strcmp(buf_cstr(&text), l->marked) == 0)
			l->row = i;
	}
	buf_release(&text);
	l->row = l->row < l->rows.n ? l->row : l->rows.n - 1;
	return (long)l->row;
}

static void append_choice(const struct look *l, struct buf *out)
{
	struct view shown = { 0 };
	bool modules;

	shown.n_keys = choose_keys(l, shown.keys, &modules);
	for (size_t i = 0; i < keys_columns(&shown); i++)
		buf_printf(out, "%s%s", i ? "," : "by ", keys_name(&shown, i));
	if (!l->tree)
		buf_printf(out, ", %s first", l->cum ? "cum" : "flat");
}

void look_status(const struct look *l, bool changes, struct buf *out)
{
	buf_text(out, l->paused ? "[paused] " : "");
	if (!changes) {
		buf_text(out, "q quit  p pause");
		return;
	}
	for (size_t i = 0; i < l->n_steps; i++) {
		sanitize_append_shown(out, slice_of(l->steps[i].name));
		buf_text(out, " > ");
	}
	if (l->typing || l->searches) {
		buf_byte(out, '/');
		sanitize_append_shown(out, buf_view(&l->typed));
		if (l->typing)
			return;
		buf_text(out, "  ");
	}
	append_choice(l, out);
	buf_printf(out, "  q quit  p pause  %sb by  / search  Enter open  Esc back",
		   l->tree ? "" : "s sort  ");
}
