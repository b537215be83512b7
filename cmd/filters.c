#include "cmd/filters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/export/scriptline.h"
#include "common/profile/folded.h"
#include "common/profile/label.h"

enum { EVENTS_TOLD = 16 };
enum { PEEK = 4096, WATCHED = 4 }; /* bytes; who watches does not wait for more than say what it is */
enum { BATCH = 8 << 20 }; /* of text in no order, see folded.h */

static void add_numbers(const char *option, const char *text, uint64_t **list, size_t *cap, size_t *n)
{
	char *copy = strdup(text), *rest = copy, *one;

	if (!copy)
		cli_no_memory();
	while ((one = strsep(&rest, ","))) {
		if (!grow_array(list, cap, *n, sizeof(**list)))
			cli_no_memory();
		(*list)[(*n)++] = cli_number(option, one, 0, INT32_MAX);
	}
	free(copy);
}

/* A number with up to nine places behind the point, in billionths; what: for the sentence. */
static uint64_t billionths(const char *option, const char *text, const char *what)
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
		cli_usage("%s: \"%s\" is not a number of %s", option, text, what);
	for (; places < 9; places++)
		part *= 10;
	return whole * ONE + part;
}

uint64_t filters_seconds(const char *option, const char *text)
{
	return billionths(option, text, "seconds");
}

static void add_text(const char ***list, size_t *cap, size_t *n, const char *text)
{
	if (!grow_array(list, cap, *n, sizeof(**list)))
		cli_no_memory();
	(*list)[(*n)++] = text;
}

static uint64_t percent(const char *option, const char *text)
{
	uint64_t v = billionths(option, text, "percent");

	if (v > (uint64_t)100 * SHAPE_PERCENT)
		cli_usage("%s: %s is more than 100 percent", option, text);
	return v;
}

/* The shape's expression for each of the options from FILTER_MATCH on. */
static const regex_t **expression(struct shape *s, size_t which)
{
	const regex_t **members[FILTER_EXPRESSIONS] = { &s->match, &s->focus, &s->exclude, &s->base };

	return members[which];
}

static void set_expression(struct filters *f, size_t which, const char *text)
{
	static const char *const options[FILTER_EXPRESSIONS] = { "--match", "--focus", "--exclude", "--base" };
	char why[200];
	int wrong;

	if (*expression(&f->shape, which))
		cli_usage("%s can be given once", options[which]);
	wrong = regcomp(&f->expressions[which], text, REG_EXTENDED | REG_NOSUB);
	if (wrong) {
		regerror(wrong, &f->expressions[which], why, sizeof(why));
		cli_usage("%s: \"%s\": %s", options[which], text, why);
	}
	*expression(&f->shape, which) = &f->expressions[which];
}

static void set_weight(struct filters *f, const char *text)
{
	f->view.ones = strcmp(text, "samples") == 0;
	if (f->view.ones)
		f->view.weight = WEIGHT_SAMPLES;
	else if (strcmp(text, "ns") == 0)
		f->view.weight = WEIGHT_NS;
	else
		cli_usage("--weight: \"%s\" is neither samples nor ns", text);
}

/* Of waits their time counts, unless something else is asked for: how many there were says little. */
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

/* What cprof-record -e takes for another name; a capture made of perf's text has either. */
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
		cli_usage("--event can be given once, with names between commas");
	rest = f->event_text = strdup(text);
	if (!rest)
		cli_no_memory();
	while ((one = strsep(&rest, ","))) {
		if (!*one)
			cli_usage("--event: \"%s\" has an empty name in it", text);
		add_event(f, one);
		if (long_name(one))
			add_event(f, long_name(one));
		if (strncmp(one, "off-cpu", strlen("off-cpu")) == 0)
			weigh_time(f);
	}
	f->view.events = f->events;
}

static void set_half(struct filters *f, enum view_half half)
{
	if (f->view.half != HALF_BOTH && f->view.half != half)
		cli_usage("-U and -K exclude each other");
	f->view.half = half;
}

/* Options that make the profile over when it has been read. */
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
	case FILTER_REVERSE:
		f->shape.reverse = true;
		return true;
	case FILTER_MIN:
		f->shape.min = percent("--min", argument);
		return true;
	default:
		return false;
	}
}

static void set_by(struct filters *f, const char *argument)
{
	static const char *const names[] = {
		[BY_FUNCTION] = "function",
		[BY_MODULE] = "module",
		[BY_PROCESS] = "process",
		[BY_THREAD] = "thread",
		[BY_CONTAINER] = "container",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) == 0) {
			f->view.by = (enum view_by)i;
			return;
		}
	}
	if (strncmp(argument, "label.", 6) != 0 || !argument[6])
		cli_usage("--by: \"%s\" is none of function, module, process, thread, container and label.KEY", argument);
	f->view.by = BY_LABEL;
	f->view.label = argument + 6;
}

bool filters_option(struct filters *f, int option, const char *argument)
{
	struct view *v = &f->view;

	if (shape_option(f, option, argument))
		return true;
	switch (option) {
	case 'U':
		set_half(f, HALF_USER);
		return true;
	case 'K':
		set_half(f, HALF_KERNEL);
		return true;
	case FILTER_PID:
		add_numbers("--pid", argument, &f->pids, &f->cap_pids, &v->n_pids);
		v->pids = f->pids;
		return true;
	case FILTER_TID:
		add_numbers("--tid", argument, &f->tids, &f->cap_tids, &v->n_tids);
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
	case FILTER_LABEL:
		if (!strchr(argument, '='))
			cli_usage("--label: \"%s\" is not of the form key=value", argument);
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
		f->weighed = true;
		return true;
	case FILTER_EVENT:
		add_events(f, argument);
		return true;
	case FILTER_WALL:
		v->wall = true;
		weigh_time(f);
		return true;
	case FILTER_BY:
		set_by(f, argument);
		return true;
	case 'i':
		v->inlined = true;
		return true;
	case 'l':
		v->lines = true;
		return true;
	case FILTER_FULL_PATHS:
		v->lines = v->full_paths = true;
		return true;
	default:
		return false;
	}
}

void filters_check(const struct filters *f)
{
	cli_window(&f->view.from, &f->view.to);
	if (f->view.wall && f->view.n_events)
		cli_usage("--wall is all events that are time; --event chooses some");
	if ((f->view.inlined || f->view.lines) && f->view.by != BY_FUNCTION)
		cli_usage("%s is for --by function alone", f->view.inlined ? "-i" : "-l");
}

void filters_release(struct filters *f)
{
	free(f->pids);
	free(f->tids);
	free(f->comms);
	free(f->events);
	free(f->event_text);
	free(f->groups);
	free(f->labels);
	intern_release(&f->event_names);
	intern_release(&f->counted_names);
	buf_release(&f->chosen);
	if (f->view.modules)
		modules_release(&f->modules);
	for (size_t i = 0; i < FILTER_EXPRESSIONS; i++) {
		if (*expression(&f->shape, i))
			regfree(&f->expressions[i]);
	}
}

uint64_t losses_count(const struct capture_totals *t)
{
	uint64_t lost = 0;

	for (unsigned int o = 0; o < OUTCOMES; o++)
		lost += outcome_is_lost(o) ? t->outcomes[o] : 0;
	return lost;
}

uint64_t losses_events(const struct capture_totals *t)
{
	uint64_t lost = 0;

	for (unsigned int o = 0; o < OUTCOMES; o++)
		lost += outcome_is_lost_event(o) ? t->tally[o] : 0;
	return lost;
}

/* "12 of 11880 expected samples lost (ring-full 12)" */
static void print_lost(struct buf *out, uint64_t lost, const uint64_t *outcomes, const char *expected, const char *what,
		       bool (*is_lost)(uint64_t outcome))
{
	const char *between = " (";

	buf_printf(out, "%" PRIu64, lost);
	if (outcomes[OUTCOME_EXPECTED])
		buf_printf(out, " of %" PRIu64 "%s", outcomes[OUTCOME_EXPECTED], expected);
	buf_printf(out, " %s%s lost", what, lost == 1 ? "" : "s");
	for (unsigned int o = 0; o < OUTCOMES; o++) {
		if (!is_lost(o) || !outcomes[o])
			continue;
		buf_printf(out, "%s%s %" PRIu64, between, outcome_name(o), outcomes[o]);
		between = ", ";
	}
	buf_byte(out, ')');
}

void losses_print(struct buf *out, const struct capture_totals *t)
{
	uint64_t lost = losses_count(t), events = losses_events(t);
	uint64_t sideband = t->outcomes[OUTCOME_SIDEBAND_LOST], waits = t->outcomes[OUTCOME_WAITS_LOST];

	if (lost)
		print_lost(out, lost, t->outcomes, " expected", "sample", outcome_is_lost);
	if (events) {
		buf_text(out, lost ? ", " : "");
		print_lost(out, events, t->tally, "", "event", outcome_is_lost_event);
	}
	if (sideband)
		buf_printf(out, "%s%" PRIu64 " records of processes and mappings lost", lost || events ? ", " : "", sideband);
	if (waits)
		buf_printf(out, "%s%" PRIu64 " records of waiting time lost", lost || events || sideband ? ", " : "", waits);
}

static void add_totals(struct loaded *sum, const struct capture_totals *t)
{
	struct capture_totals *to = &sum->totals;

	for (size_t i = 0; i < OUTCOMES; i++)
		to->outcomes[i] += t->outcomes[i];
	for (size_t i = 0; i < COSTS; i++) {
		if (!cost_is_peak(i))
			to->costs[i] += t->costs[i];
		else if (t->costs[i] > to->costs[i])
			to->costs[i] = t->costs[i];
	}
	to->segments += t->segments;
	to->ended += t->ended;
	to->samples += t->samples;
	to->waits += t->waits;
	to->others += t->others;
	for (size_t i = 0; i < OUTCOMES; i++)
		to->tally[i] += t->tally[i];
	for (size_t i = 0; i < CAPTURE_WAITS; i++)
		to->waited[i] += t->waited[i];
	to->refused += t->refused;
	to->refused_records += t->refused_records;
	to->seconds_ns += t->seconds_ns;
	to->damages += t->damages;
	to->cuts_told += t->cuts_told;
	to->blocks_damaged += t->blocks_damaged;
}

static void add_sums(struct loaded *sum, const struct gather_sums *s)
{
	sum->sums.samples += s->samples;
	sum->sums.unresolved += s->unresolved;
	sum->sums.symbols += s->symbols;
	sum->sums.counted = sum->sums.counted || s->counted;
	for (size_t i = 0; i < ENDS; i++) {
		sum->sums.user[i] += s->user[i];
		sum->sums.kernel[i] += s->kernel[i];
	}
}

static int next_record(const struct filters_taker *t, struct reader *r, int fd, struct record *rec)
{
	if (t->wait)
		t->wait(t->context, r, fd);
	return reader_next(r, rec);
}

/* What an event's samples add: ticks, of clocks and of cycles, are samples alike unless time is asked for. */
static const char *unit_of(const struct view *v, const struct record_event *e)
{
	if (slice_is(e->unit, "events"))
		return "events";
	return v->weight != WEIGHT_NS ? "samples" : slice_is(e->unit, "ns") ? "ns" : "no time";
}

/* Of several events that were chosen all have the same unit, or the sum is one of nothing: samples alone add up always. */
static void check_unit(struct filters *f, const struct record_event *e)
{
	const char *unit = unit_of(&f->view, e);
	struct buf name = { 0 };

	if (f->view.apart || f->view.ones || !view_names_event(&f->view, e->name))
		return;
	if (!f->chosen_unit) {
		f->chosen_unit = unit;
		label_append(&f->chosen, e->name);
	}
	label_append(&name, e->name);
	if (name.failed || f->chosen.failed)
		cli_no_memory();
	if (strcmp(unit, f->chosen_unit) != 0)
		cli_die(STATUS_USAGE, "--event: %s (%s) and %s (%s) do not add up; choose one of them, or --weight samples",
			buf_cstr(&f->chosen), f->chosen_unit, buf_cstr(&name), unit);
	buf_release(&name);
}

/* The events that there are, for who asks for others; and how many samples passed of how many. */
static void note_event(struct filters *f, const struct record *rec)
{
	uint32_t id;

	if (rec->type == RECORD_EVENT && f->event_names.n < EVENTS_TOLD && !intern_add(&f->event_names, rec->event.name, &id))
		cli_no_memory();
	if (rec->type == RECORD_EVENT)
		check_unit(f, &rec->event);
}

void filters_warn_none(const struct filters *f, const char *what)
{
	const struct view *v = &f->view;
	bool others = v->n_pids || v->n_tids || v->n_comms || v->n_groups || v->n_labels || v->from.kind || v->to.kind;
	struct buf text = { 0 };

	if (f->samples && !f->passed) {
		buf_printf(&text, "; none of %" PRIu64 " sample%s is what was asked for", f->samples, f->samples == 1 ? "" : "s");
		for (uint32_t i = 0; (v->n_events || !others) && i < f->event_names.n; i++) {
			buf_text(&text, i ? ", " : ", the events there are ");
			label_append(&text, intern_get(&f->event_names, i));
		}
	}
	if (text.failed)
		cli_no_memory();
	cli_warn("no sample counts, %s%s", what, text.n ? buf_cstr(&text) : "");
	buf_release(&text);
}

static enum status load_stream(struct filters *f, int fd, const char *name, struct slice taken,
			       const struct filters_taker *t, struct loaded *sum)
{
	struct reader_choice choice = { &f->view, view_wants };
	struct reader *r = reader_new(fd, name);
	struct capture_totals totals = { 0 };
	struct gather_sums sums = { 0 };
	struct record rec;
	int got;

	if (!r || !t->begin(t->context))
		cli_no_memory();
	reader_unread(r, taken);
	if (t->chooses && view_by_clock(&f->view))
		reader_choose(r, &choice);
	while ((got = next_record(t, r, fd, &rec)) > 0) {
		const char *wrong = t->record(t->context, &rec);

		note_event(f, &rec);
		if (wrong)
			reader_complain(r, wrong);
	}
	if (!t->end(t->context, &totals, &sums))
		cli_no_memory();
	sum->streams++;
	sum->good += totals.segments > 0 || (got == 0 && !reader_damage(r)); /* none may be wanted */
	if (got < 0 && !reader_refused(r))
		cli_die(STATUS_SYSTEM, "%s", reader_error(r));
	/* A reader that gives up, at a newer version say, has no record to tell it. */
	totals.damages += got < 0;
	add_totals(sum, &totals);
	add_sums(sum, &sums);
	f->samples += totals.samples;
	f->passed += sums.samples;
	return cli_reader_done(r, got);
}

/* What was asked for and folded text cannot answer; NULL: nothing. */
static const char *needs_capture(const struct filters *f)
{
	const struct view *v = &f->view;

	return v->n_pids ? "--pid" : v->n_tids ? "--tid" : v->from.kind ? "--from" : v->to.kind ? "--to" :
	       v->half == HALF_USER ? "-U" : v->half == HALF_KERNEL ? "-K" :
	       v->n_events ? "--event" : v->wall ? "--wall" : v->n_groups ? "--in" : v->n_labels ? "--label" : v->by == BY_MODULE ? "--by module" :
	       v->by == BY_CONTAINER ? "--by container" : v->by == BY_LABEL ? "--by label" : f->watch ? "-w" : NULL;
}

void filters_warn_bad(const char *name, const struct scan *s)
{
	const char *more = s->bad > 1 ? ", and others like it" : "";

	if (s->bad == s->lines && s->halves == s->bad)
		more = "; this is one profile: a second operand is missing, or a second count in each line";
	else if (s->bad == s->lines)
		more = "; this is not folded text";
	cli_warn("%s: line %" PRIu64 ": %s%s", name, s->first_bad, s->why, more);
}

void filters_lines_died(const struct lines *l, const char *name)
{
	int error = errno;

	if (l->no_file)
		cli_die(STATUS_SYSTEM, "a temporary file in %s (TMPDIR): %s", lines_directory(), strerror(error));
	cli_die(STATUS_SYSTEM, "%s%s%s", name, name[0] ? ": " : "", strerror(error));
}

static enum status load_text(struct filters *f, int fd, const char *name, struct slice taken,
			     struct profile *p, unsigned int side, struct loaded *sum)
{
	enum status status = STATUS_OK;
	struct folded_reader r;

	/* Text cannot say what it does not hold; better to refuse than to let everything pass. */
	if (needs_capture(f))
		cli_die(STATUS_USAGE, "%s: %s needs a capture, this is folded text", name, needs_capture(f));
	if (!folded_reader_init(&r, fd, taken, p, side))
		cli_no_memory();
	if (f->columns == COLUMNS_GUESSED && scan_looks_compared(taken))
		f->columns = COLUMNS_TWO;
	r.both = f->columns == COLUMNS_TWO;
	r.roots = f->comms;
	r.n_roots = f->view.n_comms;
	r.root_only = view_by_root(f->view.by);
	r.lines = f->lines;
	r.batch = f->lines || f->full ? 0 : BATCH;
	r.full = f->full;
	r.budget = f->budget;
	r.context = f->context;
	if (folded_read(&r) < 0)
		filters_lines_died(f->lines && f->lines->no_file ? f->lines : &r.held_lines, name);
	if (r.two_columns) {
		status = STATUS_DAMAGED;
		cli_warn("%s: each line has two counts, as cprof-diff --folded and difffolded.pl write them: "
			 "this is a comparison, not one profile", name);
	} else if (r.scan.bad) {
		status = STATUS_DAMAGED;
		filters_warn_bad(name, &r.scan);
	}
	sum->texts++;
	sum->counts += r.two_columns ? 0 : r.samples;
	sum->good += !r.two_columns && (r.scan.bad < r.scan.lines || r.scan.lines == 0);
	folded_reader_release(&r);
	return status;
}

size_t filters_peek(int fd, const char *name, uint8_t *to, size_t size, size_t enough)
{
	size_t n = 0;

	while (n < enough) {
		ssize_t got = read(fd, to + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			cli_die(STATUS_SYSTEM, "%s: %s", name, strerror(errno));
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return n;
}

enum status filters_read(struct filters *f, const char *path, const struct filters_taker *t, struct profile *p,
			 unsigned int side, struct loaded *sum)
{
	int fd = cli_open(path);
	const char *name = fd == STDIN_FILENO ? "standard input" : path;
	uint8_t start[PEEK];
	struct slice taken = { start, filters_peek(fd, name, start, PEEK, f->watch ? WATCHED : PEEK) };
	enum status status = STATUS_OK;

	if (taken.n == 0 && !needs_capture(f)) {
		cli_warn("%s: empty input, no sample in it", name);
		sum->empty++;
	} else if (folded_is_markup(taken)) {
		cli_warn("%s: this is HTML or XML, neither a capture nor folded text", name);
		status = STATUS_DAMAGED;
	} else if (script_looks_like(taken)) {
		status = STATUS_DAMAGED;
		cli_warn("%s: this is the text of perf script, which cprof-convert -f perfscript -t stream makes a capture of", name);
	} else if (folded_looks_like(taken)) {
		status = load_text(f, fd, name, taken, p, side, sum);
	} else {
		status = load_stream(f, fd, name, taken, t, sum);
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return status;
}

/* Captures into a profile. */
struct gathering {
	struct gather g;
	struct profile *p;
	unsigned int side;
	const struct view *view;
	const struct filters_watch *watch;
	struct filters *f;
};

static bool begin_gathering(void *context)
{
	struct gathering *it = context;

	return gather_init(&it->g, it->p, it->side, it->view);
}

static const char *gather_record(void *context, const struct record *r)
{
	struct gathering *it = context;

	if (it->watch)
		it->watch->see(it->watch->context, &it->g, r);
	return gather_apply(&it->g, r);
}

static void wait_watched(void *context, struct reader *r, int fd)
{
	const struct filters_watch *w = ((struct gathering *)context)->watch;

	w->wait(w->context, r, fd);
}

/* The names of the events that the view counts, of the last segment: all of them have the same as a rule. */
static void note_counted(struct filters *f, const struct capture *c)
{
	uint32_t id;

	for (uint64_t i = 1; i < CAPTURE_EVENTS && f->counted_names.n < EVENTS_TOLD; i++) {
		if (c->events[i].id && view_lists_event(&f->view, c, i) &&
		    !intern_add(&f->counted_names, c->events[i].name, &id))
			cli_no_memory();
	}
}

void filters_events(const struct filters *f, struct buf *out)
{
	if (!f->view.n_events && f->view.weight != WEIGHT_EVENTS)
		return;
	for (uint32_t i = 0; i < f->counted_names.n; i++) {
		buf_text(out, i ? ", " : "");
		label_append(out, intern_get(&f->counted_names, i));
	}
}

static bool end_gathering(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct gathering *it = context;
	bool good = gather_finish(&it->g);

	note_counted(it->f, &it->g.capture);
	*totals = capture_totals(&it->g.capture);
	*sums = it->g.sums;
	gather_release(&it->g);
	return good;
}

enum status filters_load(struct filters *f, const char *path, struct profile *p, unsigned int side,
			 struct loaded *sum)
{
	struct gathering it = { .p = p, .side = side, .view = &f->view, .watch = f->watch, .f = f };
	struct filters_taker t = { &it, begin_gathering, gather_record, end_gathering, f->watch ? wait_watched : NULL,
				   .chooses = true };
	enum status status;

	status = filters_read(f, path, &t, p, side, sum);
	if (sum->sums.counted && f->view.weight == WEIGHT_SAMPLES)
		f->view.weight = WEIGHT_EVENTS;
	return status;
}

void filters_keep_apart(struct filters *f)
{
	modules_init(&f->modules);
	f->view.modules = &f->modules;
}

void filters_settle(struct filters *f, struct profile *p, unsigned int sides, size_t stack_max)
{
	if (!modules_settle(&f->modules, p, sides, stack_max))
		cli_no_memory();
}

void filters_shape(const struct filters *f, struct profile *p)
{
	if (!shape_apply(&f->shape, p))
		cli_no_memory();
}
