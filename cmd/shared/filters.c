#include "cmd/shared/filters.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/shared/keys.h"
#include "cmd/shared/operands/directory.h"
#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/profile/sanitize.h"
#include "common/select/select.h"

/* word: stands for the number UINT64_MAX; NULL: none does. */
static void add_numbers(const char *option, const char *text, const char *word, uint64_t **list, size_t *cap,
			size_t *n)
{
	char *copy = strdup(text), *rest = copy, *one;

	if (!copy)
		cli_no_memory();
	while ((one = strsep(&rest, ","))) {
		if (!grow_array(list, cap, *n, sizeof(**list)))
			cli_no_memory();
		if (word && strcmp(one, word) == 0) {
			(*list)[(*n)++] = UINT64_MAX;
			continue;
		}
		if (isalpha((unsigned char)one[0]))
			cli_usage("invalid %s \"%s\" (expected numbers; --comm selects by command name)", option, one);
		(*list)[(*n)++] = cli_number(option, one, 0, INT32_MAX);
	}
	free(copy);
}

uint64_t filters_seconds(const char *option, const char *text)
{
	enum { ONE = 1000000000 };
	uint64_t whole = 0, part = 0;
	int n = 0, places = 0, used = 0;
	bool good = sscanf(text, "%9" SCNu64 "%n", &whole, &n) == 1 && text[0] != '-' && text[0] != '+';

	if (good && text[n] == '.') {
		good = sscanf(text + n + 1, "%9" SCNu64 "%n", &part, &places) == 1 && text[n + 1] != '-' &&
		       text[n + 1] != '+';
		used = 1 + places;
	}
	if (!good || text[n + used] != '\0' || strpbrk(text, " \t\n"))
		cli_usage("invalid %s \"%s\" (expected a number of seconds)", option, text);
	for (; places < 9; places++)
		part *= 10;
	return whole * ONE + part;
}

static void add_text(const char ***list, size_t *cap, size_t *n, const char *text)
{
	if (!grow_array(list, cap, *n, sizeof(**list)))
		cli_no_memory();
	(*list)[(*n)++] = text;
}

/* Returns the shape's expression for an option, counted from FILTER_MATCH. */
static const regex_t **expression_of(struct transform *s, size_t which)
{
	const regex_t **members[FILTER_EXPRESSIONS] = { &s->match, &s->focus, &s->exclude, &s->base };

	return members[which];
}

static void set_expression(struct filters *f, size_t which, const char *text)
{
	static const char *const options[FILTER_EXPRESSIONS] = { "--match", "--focus", "--exclude", "--base" };
	char why[200];
	int wrong;

	if (*expression_of(&f->shape, which))
		cli_usage("%s can be given only once", options[which]);
	wrong = regcomp(&f->expressions[which], text, REG_EXTENDED | REG_NOSUB);
	if (wrong) {
		regerror(wrong, &f->expressions[which], why, sizeof(why));
		cli_usage("invalid %s \"%s\": %s", options[which], text, why);
	}
	*expression_of(&f->shape, which) = &f->expressions[which];
	f->expression_texts[which] = text;
}

static void set_weight(struct filters *f, const char *text)
{
	f->weighed = true;
	f->view.ones = strcmp(text, "samples") == 0;
	f->view.latency = strcmp(text, "latency") == 0		  ? LATENCY_PROCESS
			  : strcmp(text, "latency=container") == 0 ? LATENCY_GROUP
								   : LATENCY_NOT;
	if (f->view.latency && !f->has_latency)
		cli_invalid("--weight", text);
	if (f->view.latency)
		f->view.weight = WEIGHT_NS;
	else if (f->view.ones)
		f->view.weight = WEIGHT_SAMPLES;
	else if (strcmp(text, "ns") == 0)
		f->view.weight = WEIGHT_NS;
	else
		cli_invalid("--weight", text);
}

/* Waits count by their time unless --weight says otherwise: their number means little. */
static void weigh_time(struct filters *f)
{
	if (!f->weighed)
		f->view.weight = WEIGHT_NS;
}

static void add_event(struct filters *f, const char *name)
{
	if (!grow_array(&f->events, &f->cap_events, f->view.n_events, sizeof(*f->events)))
		cli_no_memory();
	f->events[f->view.n_events++] = name;
}

/* Returns another name of an event. cprof-record -e accepts both, and captures of perf's text have either. */
static const char *long_name(const char *name)
{
	static const char *const names[][2] = {
		{ "cs", "context-switches" }, { "faults", "page-faults" }, { "migrations", "cpu-migrations" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i][0]) == 0)
			return names[i][1];
	}
	return NULL;
}

static void add_events(struct filters *f, const char *text)
{
	char *rest, *one;

	if (f->event_text)
		cli_usage("--event can be given only once, with names separated by commas");
	rest = f->event_text = strdup(text);
	if (!rest)
		cli_no_memory();
	while ((one = strsep(&rest, ","))) {
		if (!*one)
			cli_usage("invalid --event \"%s\" (expected names separated by commas, none of them empty)", text);
		add_event(f, one);
		if (long_name(one))
			add_event(f, long_name(one));
		if (select_names_waits(one))
			weigh_time(f);
	}
	f->view.events = f->events;
}

static void set_half(struct filters *f, enum view_half half)
{
	if (f->view.half != HALF_BOTH && f->view.half != half)
		cli_usage("-U and -K are mutually exclusive");
	f->view.half = half;
}

/* Options that transform the profile after reading. */
static bool shape_option(struct filters *f, int option, const char *argument)
{
	switch (option) {
	case FILTER_MATCH:
	case FILTER_FOCUS:
	case FILTER_EXCLUDE:
	case FILTER_BASE:
		set_expression(f, (size_t)(option - FILTER_MATCH), argument);
		return true;
	case FILTER_NORM:
		f->shape.norm = true;
		return true;
	case FILTER_COLLAPSE:
		f->shape.collapse = true;
		return true;
	case FILTER_NO_NAMES:
		f->names = f->hints = false;
		return true;
	case FILTER_REVERSE:
		f->shape.reverse = true;
		return true;
	case FILTER_MIN:
		f->shape.min = (uint64_t)(cli_percent("--min", argument) * TRANSFORM_PERCENT + 0.5);
		return true;
	default:
		return false;
	}
}

static void blame(struct filters *f, enum view_blame what)
{
	if (f->view.blame && f->view.blame != what)
		cli_usage("--blame, --what-if and --by waker, culprit or lock are mutually exclusive");
	f->view.blame = what;
	f->view.wall = true;
	weigh_time(f);
}

void filters_replay(struct filters *f, struct what_if *w)
{
	blame(f, BLAME_REPLAY);
	f->view.what_if = w;
}

const char *filters_blame(const struct filters *f)
{
	static const char *const names[] = {
		[BLAME_CHAINS] = "--blame",
		[BLAME_WAKERS] = "--by waker",
		[BLAME_CULPRITS] = "--by culprit",
		[BLAME_LOCKS] = "--by lock",
		[BLAME_REPLAY] = "--what-if",
	};

	return names[f->view.blame];
}

static void set_native(struct filters *f, const char *argument)
{
	static const char *const names[] = {
		[NATIVE_LIB] = "lib", [NATIVE_ALL] = "all", [NATIVE_NONE] = "none",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) == 0) {
			f->view.native = (enum view_native)i;
			return;
		}
	}
	cli_invalid("--native", argument);
}

/* Options that say how frames are shown, not which samples count. */
static bool frame_option(struct filters *f, int option, const char *argument)
{
	struct view *v = &f->view;

	switch (option) {
	case FILTER_BY:
		keys_parse(f, argument);
		if (view_has_key(&f->view, BY_WAKER))
			blame(f, BLAME_WAKERS);
		if (view_has_key(&f->view, BY_LOCK))
			blame(f, BLAME_LOCKS);
		if (keys_take_culprit(&f->view))
			blame(f, BLAME_CULPRITS);
		return true;
	case 'i':
		f->for_captures = "-i";
		v->inlined = true;
		return true;
	case 'l':
		f->for_captures = "-l";
		v->lines = true;
		return true;
	case FILTER_NATIVE:
		f->for_captures = "--native";
		set_native(f, argument);
		return true;
	case FILTER_FULL_PATHS:
		f->for_captures = "--full-paths";
		v->lines = v->full_paths = true;
		return true;
	default:
		return false;
	}
}

bool filters_option(struct filters *f, int option, const char *argument)
{
	struct view *v = &f->view;

	if (shape_option(f, option, argument) || frame_option(f, option, argument))
		return true;
	switch (option) {
	case 'U':
		set_half(f, HALF_USER);
		return true;
	case 'K':
		set_half(f, HALF_KERNEL);
		return true;
	case FILTER_PID:
		add_numbers("--pid", argument, NULL, &f->pids, &f->cap_pids, &v->n_pids);
		v->pids = f->pids;
		return true;
	case FILTER_TID:
		add_numbers("--tid", argument, "main", &f->tids, &f->cap_tids, &v->n_tids);
		v->tids = f->tids;
		return true;
	case FILTER_COMM:
		add_text(&f->comms, &f->cap_comms, &v->n_comms, argument);
		v->comms = f->comms;
		return true;
	case FILTER_IN:
		add_text(&f->groups, &f->cap_groups, &v->n_groups, argument);
		v->groups = f->groups;
		return true;
	case FILTER_UID:
		add_text(&f->users, &f->cap_users, &v->n_users, argument);
		v->users = f->users;
		return true;
	case FILTER_LABEL:
		if (!strchr(argument, '='))
			cli_usage("invalid --label \"%s\" (expected KEY=VALUE)", argument);
		add_text(&f->labels, &f->cap_labels, &v->n_labels, argument);
		v->labels = f->labels;
		return true;
	case FILTER_FROM:
		cli_instant(&v->from, "--from", argument);
		return true;
	case FILTER_TO:
		cli_instant(&v->to, "--to", argument);
		return true;
	case FILTER_WEIGHT:
		set_weight(f, argument);
		return true;
	case FILTER_LATENCY:
		set_weight(f, "latency");
		return true;
	case FILTER_EVENT:
		add_events(f, argument);
		return true;
	case FILTER_WALL:
		v->wall = true;
		weigh_time(f);
		return true;
	case FILTER_BLAME:
		blame(f, BLAME_CHAINS);
		return true;
	default:
		return false;
	}
}

/* Only samples of CPU time know how many threads ran. */
static void check_latency(const struct filters *f)
{
	if (f->view.wall || f->view.n_events)
		cli_usage("--weight latency and %s are mutually exclusive",
			  f->view.blame ? filters_blame(f) : f->view.wall ? "--wall" : "--event");
}

void filters_check(struct filters *f)
{
	const struct view *v = &f->view;

	f->present.on = v->n_pids || v->n_tids || v->n_comms || v->n_groups || v->n_users ||
			v->n_labels;
	f->view.alike = &f->alike;
	f->view.recordings = &f->recordings;
	cli_window(&f->view.from, "--from", &f->view.to, "--to");
	if (f->view.latency)
		check_latency(f);
	if (f->view.wall && f->view.n_events)
		cli_usage("%s and --event are mutually exclusive",
			  f->view.blame ? filters_blame(f) : "--wall");
	if (f->view.blame == BLAME_CHAINS && (!view_frame_keys(&f->view) || view_roots(&f->view) || view_has_key(&f->view, BY_SYSCALL)))
		cli_usage("--blame requires --by function, module or language");
	if (f->view.blame && f->view.weight != WEIGHT_NS)
		cli_usage("--weight samples and %s are mutually exclusive", filters_blame(f));
	keys_check(f);
}

void filters_release(struct filters *f)
{
	free(f->pids);
	free(f->tids);
	free(f->comms);
	free(f->events);
	free(f->event_text);
	free(f->key_text);
	free(f->groups);
	free(f->users);
	free(f->labels);
	intern_release(&f->event_names);
	intern_release(&f->unwaited);
	intern_release(&f->counted_names);
	buf_release(&f->chosen);
	buf_release(&f->none);
	present_release(&f->present);
	mixed_events_release(&f->alike);
	recordings_release(&f->recordings);
	intern_release(&f->notes.named);
	intern_release(&f->notes.unnamed);
	intern_release(&f->notes.missing);
	if (f->view.modules)
		gather_modules_release(&f->modules);
	for (size_t i = 0; i < FILTER_EXPRESSIONS; i++) {
		if (*expression_of(&f->shape, i))
			regfree(&f->expressions[i]);
	}
}

/* Appends the recorded events, and the nearest to a name of --event. */
static void append_events(const struct filters *f, struct buf *out)
{
	const char *guess = NULL;

	for (uint32_t i = 0; i < f->event_names.n; i++) {
		buf_text(out, i ? ", " : "; recorded events: ");
		sanitize_append(out, intern_get(&f->event_names, i));
	}
	for (size_t i = 0; i < f->view.n_events && !guess; i++)
		guess = present_guess(&f->event_names, f->view.events[i]);
	if (guess)
		buf_printf(out, "; did you mean --event %s?", guess);
}

void filters_append_range(struct filters *f, struct buf *out)
{
	uint64_t first, last;

	if (!select_by_clock(&f->view)) {
		time_range_append_length(&f->range, out);
		return;
	}
	if (directory_left_out(&first, &last))
		time_range_add(&f->range, first, last, true);
	time_range_append_clock(&f->range, out);
}

void filters_append_there(struct filters *f, struct buf *out)
{
	const struct view *v = &f->view;
	bool timed = v->from.kind || v->to.kind, others = f->present.on || timed;

	if (f->samples && !f->passed) {
		buf_printf(out, "; none of %" PRIu64 " sample%s matches the options", f->samples,
			   f->samples == 1 ? "" : "s");
		if (v->n_events || !others)
			append_events(f, out);
	}
	if ((f->samples || f->waits) && !f->passed)
		present_append(&f->present, v, out);
	if (f->waits && !f->passed && !v->wall && !v->n_events)
		buf_printf(out, "; %" PRIu64 " wait%s not counted (--wall)", f->waits,
			   f->waits == 1 ? " is" : "s are");
	if (timed && !f->passed)
		filters_append_range(f, out);
	buf_bytes(out, f->none.p, f->none.n);
	if (out->failed)
		cli_no_memory();
}

void filters_warn_none(struct filters *f, const char *what)
{
	struct buf text = { 0 };

	filters_append_there(f, &text);
	cli_warn("no samples selected, %s%s", what, text.n ? buf_cstr(&text) : "");
	buf_release(&text);
}

void filters_events(const struct filters *f, struct buf *out)
{
	if (!f->view.n_events && f->view.weight != WEIGHT_EVENTS)
		return;
	for (uint32_t i = 0; i < f->counted_names.n; i++) {
		buf_text(out, i ? ", " : "");
		sanitize_append(out, intern_get(&f->counted_names, i));
	}
}

/* Returns the option that shows nothing, or less than it says, without waiting time; NULL: none does. */
static const char *needs_waits(const struct filters *f)
{
	const struct view *v = &f->view;

	for (size_t i = 0; i < v->n_events; i++) {
		if (!select_names_waits(v->events[i]))
			return NULL;
	}
	return v->blame ? filters_blame(f) : v->wall ? "--wall" : v->n_events ? "--event off-cpu" : NULL;
}

void filters_note_waits(struct filters *f, const char *name, const struct capture *c)
{
	const struct capture_totals totals = capture_totals(c);
	/* The time of a profile from elsewhere may include waits, with no event of their own. */
	bool imported = slice_is(capture_meta(c, "recorder"), "pprof") && !f->view.blame;
	uint32_t id;

	if (!needs_waits(f) || !totals.samples)
		return;
	if (totals.waits || capture_has_waits(c) || imported)
		f->waited = true;
	else if (!intern_add(&f->unwaited, slice_of(name), &id))
		cli_no_memory();
}

void filters_report_waits(struct filters *f)
{
	static const char why[] = "no waiting time was recorded: record with cprof-record --off-cpu";
	size_t n = f->unwaited.n;
	struct buf names = { 0 };

	if (n == 1)
		buf_printf(&names, "%s: ", (const char *)intern_get(&f->unwaited, 0).p);
	else
		buf_printf(&names, "%zu captures: ", n);
	if (names.failed)
		cli_no_memory();
	if (n && !f->waited)
		cli_die(STATUS_USAGE, "%s%s is not available: %s", buf_cstr(&names), needs_waits(f), why);
	if (n)
		cli_warn("%s%s", buf_cstr(&names), why);
	buf_release(&names);
}

static const char *unit_name(bool counted)
{
	return counted ? "events" : "samples";
}

void filters_check_alike(struct filters *f, const char *name)
{
	struct mixed_events *a = &f->alike;

	if (!a->other.n)
		return;
	cli_die(STATUS_USAGE, "%s: cannot add or compare %s (%s) here and %s (%s) earlier: choose with --event, or use "
		"--weight samples", name, buf_cstr(&a->other), unit_name(a->other_counted), buf_cstr(&a->first),
		unit_name(a->first_counted));
}

void filters_keep_apart(struct filters *f)
{
	gather_modules_init(&f->modules);
	f->view.modules = &f->modules;
}

void filters_settle(struct filters *f, struct profile *p, unsigned int sides, size_t stack_max)
{
	if (!gather_modules_settle(&f->modules, p, sides, stack_max))
		cli_no_memory();
}

void filters_shape(struct filters *f, struct profile *p)
{
	const struct transform *t = &f->shape;
	uint64_t *weights = t->match || t->focus || t->base ? present_weights(p) : NULL;
	uint64_t before = p->total[0] + p->total[1];

	if (!transform_apply(t, p))
		cli_no_memory();
	if (weights && before && p->total[0] + p->total[1] == 0 && !f->none.n) {
		const struct present_asked asked[] = {
			{ "--match", f->expression_texts[0], t->match },
			{ "--focus", f->expression_texts[FILTER_FOCUS - FILTER_MATCH], t->focus },
			{ "--base", f->expression_texts[FILTER_BASE - FILTER_MATCH], t->base },
		};

		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
			present_functions(p, weights, &asked[i], &f->none);
	}
	free(weights);
}
