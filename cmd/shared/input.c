#include "cmd/shared/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/shared/keys.h"
#include "cmd/shared/naming.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/terminal/progress.h"
#include "common/base/intern.h"
#include "common/blame/blame.h"
#include "common/flame/kind.h"
#include "common/import/pprof_parse.h"
#include "common/perfscript/script_line.h"
#include "common/folded/folded.h"
#include "common/profile/sanitize.h"
#include "common/select/select.h"
#include "common/stream/reader.h"

enum { EVENTS_LISTED = 16 };
enum { PEEK = 4096, WATCHED = 4 }; /* bytes; a watched capture need only show its kind */
enum { TEXT_LINES = 100 }; /* a longer text of which most lines are bad is another text */
enum { BATCH = 8 << 20 }; /* bytes of unordered text, see folded.h */

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
	to->cut_records += t->cut_records;
	to->blocks_damaged += t->blocks_damaged;
}

static void add_sums(struct loaded *sum, const struct gather_sums *s)
{
	sum->sums.samples += s->samples;
	sum->sums.unresolved += s->unresolved;
	sum->sums.symbols += s->symbols;
	sum->sums.lines += s->lines;
	sum->sums.scripts += s->scripts;
	for (size_t i = 0; i < LANGUAGES; i++) {
		for (size_t state = 0; state < LANG_STATES; state++)
			sum->sums.languages[i][state] += s->languages[i][state];
	}
	sum->sums.counted = sum->sums.counted || s->counted;
	for (size_t i = 0; i < DOINGS; i++)
		sum->sums.doing[i] += s->doing[i];
	for (size_t i = 0; i < ENDS; i++) {
		sum->sums.user[i] += s->user[i];
		sum->sums.kernel[i] += s->kernel[i];
	}
}

void loaded_add(struct loaded *sum, const struct loaded *one)
{
	sum->streams += one->streams;
	sum->texts += one->texts;
	sum->counts += one->counts;
	sum->good += one->good;
	sum->empty += one->empty;
	add_totals(sum, &one->totals);
	add_sums(sum, &one->sums);
	sum->hits += one->hits;
	about_add(&sum->about, &one->about);
}

static int next_record(const struct operand_taker *t, struct reader *r, int fd, struct record *rec)
{
	if (t->wait)
		t->wait(t->context, r, fd);
	return reader_next(r, rec);
}

/*
 * Returns the unit of an event's samples. Ticks of clocks and of cycles are both samples, except for --weight
 * ns.
 */
static const char *unit_of(const struct view *v, const struct record_event *e)
{
	if (slice_is(e->unit, "events"))
		return "events";
	return v->weight != WEIGHT_NS ? "samples" : slice_is(e->unit, "ns") ? "ns" : "not time";
}

/* All events of --event must have one unit, otherwise their sum means nothing. Only samples always add up. */
static void check_unit(struct filters *f, const struct record_event *e)
{
	const char *unit = unit_of(&f->view, e);
	struct buf name = { 0 };

	if (f->view.apart || f->view.ones || !select_names_event(&f->view, e->name))
		return;
	if (!f->chosen_unit) {
		f->chosen_unit = unit;
		sanitize_append(&f->chosen, e->name);
	}
	sanitize_append(&name, e->name);
	if (name.failed || f->chosen.failed)
		cli_no_memory();
	if (strcmp(unit, f->chosen_unit) != 0)
		cli_die(STATUS_USAGE, "--event: cannot add %s (%s) and %s (%s): choose one of them, or use --weight samples",
			buf_cstr(&f->chosen), f->chosen_unit, buf_cstr(&name), unit);
	buf_release(&name);
}

/*
 * Notes the recording of a segment; the names and times that there are, for filters_warn_none; and checks the
 * units of events.
 */
static void note_record(struct filters *f, const struct capture *c, const struct record *rec)
{
	uint32_t id;

	if (!recordings_see(&f->recordings, c, rec))
		cli_no_memory();
	present_record(&f->present, &f->view, c, rec);
	if (rec->type == RECORD_SEGMENT)
		time_range_note(&f->range, &f->recordings, c);
	if (rec->type == RECORD_SOURCE)
		naming_source(f, c, &rec->source);
	if (rec->type == RECORD_EVENT && f->event_names.n < EVENTS_LISTED &&
	    !intern_add(&f->event_names, rec->event.name, &id))
		cli_no_memory();
	if (rec->type == RECORD_EVENT)
		check_unit(f, &rec->event);
}

/* Returns whether the view wants the segment; notes the time of one that is left out. */
static bool wants_segment(const void *filters, const struct segment_extent *x)
{
	struct filters *f = (struct filters *)(uintptr_t)filters;
	bool wants = select_wants(&f->view, x);

	if (!wants)
		time_range_add(&f->range, x->from, x->to, false);
	return wants;
}

/* Returns the number of samples of events that the view counts, selected or not. */
static uint64_t samples_viewed(const struct view *v, const struct capture_totals *t)
{
	return v->n_events ? t->samples : t->samples - (v->wall ? 0 : t->waits) - (v->apart ? 0 : t->others);
}

static enum status load_stream(struct filters *f, int fd, const char *name, struct slice taken,
			       const struct operand_taker *t, struct loaded *sum)
{
	struct reader_choice choice = { f, wants_segment };
	struct reader *r = reader_new(fd, name);
	struct capture_totals totals = { 0 };
	struct gather_sums sums = { 0 };
	bool files = false;
	struct record rec;
	int got;

	if (!r || !t->begin(t->context))
		cli_no_memory();
	reader_unread(r, taken);
	if (t->chooses && select_by_clock(&f->view))
		reader_choose(r, &choice);
	while ((got = next_record(t, r, fd, &rec)) > 0) {
		const char *wrong;

		note_record(f, t->capture, &rec);
		wrong = t->record(t->context, &rec);
		files = files || rec.type == RECORD_MAPPING || rec.type == RECORD_KSYM;
		filters_check_alike(f, name);
		if (wrong)
			reader_complain(r, wrong);
	}
	present_end(&f->present, t->capture);
	time_range_note(&f->range, &f->recordings, t->capture);
	recordings_end(&f->recordings, t->capture);
	filters_note_waits(f, name, t->capture);
	if (!t->end(t->context, &totals, &sums))
		cli_no_memory();
	filters_check_alike(f, name);
	sum->streams++;
	sum->good += totals.segments > 0 || (got == 0 && !reader_damage(r)); /* it may want none */
	if (got < 0 && !reader_refused(r))
		cli_die(STATUS_SYSTEM, "%s", reader_error(r));
	/*
	 * A reader that gives up, for example at a newer version, delivers no record that counts as damage.
	 */
	totals.damages += got < 0;
	add_totals(sum, &totals);
	add_sums(sum, &sums);
	if (files)
		naming_hint(f, name, &sums);
	f->samples += samples_viewed(&f->view, &totals);
	f->waits += totals.waits;
	f->passed += sums.samples;
	return operand_reader_done(r, got, fd);
}

void operands_report(struct filters *f)
{
	naming_report(f);
	filters_report_waits(f);
}

bool operands_count_time(const struct loaded *l, const struct profile *p, unsigned int side)
{
	enum { SAMPLED_MOST = 1000000 };
	struct slice text;

	for (size_t i = 1; l->texts && i < p->n; i++) {
		enum kind kind;

		if (p->nodes[i].self[side] < SAMPLED_MOST)
			continue;
		kind = kind_of(profile_text(p, p->nodes[i].label), &text);
		if (kind == KIND_SLEEPING || kind == KIND_UNINTERRUPTIBLE || kind == KIND_QUEUED)
			return true;
	}
	return false;
}

void operands_hint_time(const struct filters *f, const struct loaded *l, const struct profile *p,
			unsigned int side)
{
	if (f->view.weight == WEIGHT_SAMPLES && operands_count_time(l, p, side))
		cli_warn("counts of waits in folded text look like nanoseconds: "
			 "--weight ns shows them as time");
}

const char *operand_needs_capture(const struct filters *f)
{
	const struct view *v = &f->view;

	return v->n_pids ? "--pid" : v->n_tids ? "--tid" :
	       v->from.kind ? (f->from_option ? f->from_option : "--from") :
	       v->to.kind ? (f->to_option ? f->to_option : "--to") :
	       v->half == HALF_USER ? "-U" : v->half == HALF_KERNEL ? "-K" :
	       v->latency ? "--weight latency" : v->n_events ? "--event" : v->blame ? filters_blame(f) :
	       v->wall ? "--wall" : v->n_groups ? "--in" : v->n_users ? "--uid" :
	       v->n_labels ? "--label" : f->watch ? "-w" : NULL;
}

void operand_warn_bad(const char *name, const struct folded_scan *s)
{
	const char *more = s->bad > 1 ? ", and others like it" : "";

	if (s->bad == s->lines && s->halves == s->bad)
		more = "; this is one profile: a second operand is missing, or a second count in each line";
	else if (s->bad == s->lines)
		more = "; this is not folded text";
	cli_warn("%s: line %" PRIu64 ": %s%s", name, s->first_bad, s->why, more);
}

void operand_lines_died(const struct stack_sums *l, const char *name)
{
	int error = errno;

	if (l->no_file)
		cli_die(STATUS_SYSTEM, "cannot write a temporary file in %s (TMPDIR): %s", stack_sums_directory(), strerror(error));
	cli_die(STATUS_SYSTEM, "%s%s%s", name, name[0] ? ": " : "", strerror(error));
}

/*
 * Moves the text's stacks below their keys, all of which are the outermost frame. Returns false if out of
 * memory.
 */
static bool move_stacks(const struct filters *f, struct profile *p, const struct profile *text)
{
	uint32_t *at = calloc(text->n, sizeof(*at));
	bool good = at;

	for (size_t i = 1; good && i < text->n; i++) {
		const struct profile_node *node = &text->nodes[i];
		struct slice name = profile_text(text, node->label);
		uint32_t label, parent = at[node->parent];

		good = profile_label(p, name, &label);
		for (size_t k = 0; good && node->parent == 0 && k < f->shape.by.roots; k++)
			good = profile_child(p, parent, label, &parent);
		at[i] = parent;
		if (good && (node->parent == 0 || view_shows_frames(&f->view)))
			good = (!view_shows_frames(&f->view) || profile_child(p, parent, label, &at[i]));
		for (unsigned int side = 0; good && side < PROFILE_SIDES; side++) {
			if (node->self[side])
				good = profile_claim(p, side, node->self[side]) &&
				       profile_add_at(p, at[i], 0, side, node->self[side]);
		}
	}
	free(at);
	return good;
}

static enum status load_text(struct filters *f, int fd, const char *name, struct slice taken,
			     struct profile *p, unsigned int side, struct loaded *sum)
{
	bool keyed = f->shape.by.roots > 0 && (view_shows_frames(&f->view) || f->shape.by.roots > 1);
	struct profile own = { 0 };
	struct folded_reader r;
	enum status status;

	/* Folded text lacks what these options need: refuse it rather than let every stack pass. */
	if (operand_needs_capture(f))
		cli_die(STATUS_USAGE, "%s: %s requires a capture, not folded text", name,
			operand_needs_capture(f));
	if (keys_need_capture(&f->view))
		cli_die(STATUS_USAGE, "%s: --by %s requires a capture, not folded text", name,
			keys_need_capture(&f->view));
	if (f->for_captures)
		cli_warn("%s: %s has no effect on folded text", name, f->for_captures);
	f->for_captures = NULL; /* reported once */
	if (keyed && !profile_init(&own))
		cli_no_memory();
	if (!folded_reader_init(&r, fd, taken, keyed ? &own : p, side))
		cli_no_memory();
	if (f->columns == COLUMNS_GUESSED && folded_scan_looks_compared(taken))
		f->columns = COLUMNS_TWO;
	r.both = f->columns == COLUMNS_TWO;
	r.roots = f->comms;
	r.n_roots = f->view.n_comms;
	r.root_only = !view_shows_frames(&f->view);
	r.lines = f->lines;
	r.batch = f->lines || f->full ? 0 : BATCH;
	r.full = keyed ? NULL : f->full;
	r.budget = f->budget;
	r.context = f->context;
	if (folded_read(&r) < 0)
		operand_lines_died(f->lines && f->lines->no_file ? f->lines : &r.held_lines, name);
	status = operand_check(fd); /* if it was cut short, so is the last line */
	if (status == STATUS_OK && r.two_columns) {
		status = STATUS_DAMAGED;
		cli_warn("%s: each line has two counts, as cprof-diff --folded and difffolded.pl write them: "
			 "this is a comparison, not one profile", name);
	} else if (status == STATUS_OK && r.scan.bad) {
		status = STATUS_DAMAGED;
		operand_warn_bad(name, &r.scan);
	}
	if (r.scan.bad < r.scan.lines && r.scan.bad * (r.scan.lines < TEXT_LINES ? 6 : 10) > 5 * r.scan.lines)
		cli_die(STATUS_DAMAGED, "%s: %" PRIu64 " of %" PRIu64 " lines are not folded text: nothing is shown", name,
			r.scan.bad, r.scan.lines);
	sum->texts++;
	sum->counts += r.two_columns ? 0 : r.samples;
	sum->good += !r.two_columns && (r.scan.bad < r.scan.lines || r.scan.lines == 0);
	folded_reader_release(&r);
	if (keyed && !move_stacks(f, p, &own))
		cli_no_memory();
	profile_release(&own);
	return status;
}

enum status operand_read(struct filters *f, const char *path, const struct operand_taker *t, struct profile *p,
			 unsigned int side, struct loaded *sum)
{
	struct naming naming;
	int fd = naming_open(&naming, f, path);
	const char *name = operand_name(path);
	uint8_t start[PEEK];
	struct slice taken = { start, 0 };
	enum status status, closed;

	if (!f->watch)
		progress_begin(name, fd);
	taken.n = operand_peek(fd, name, start, PEEK, f->watch ? WATCHED : PEEK);
	status = taken.n ? STATUS_OK : operand_check(fd);
	if (status != STATUS_OK) {
		; /* a compressed file without content */
	} else if (taken.n == 0 && !operand_needs_capture(f) && !keys_need_capture(&f->view)) {
		cli_warn("%s: empty input, no sample in it", name);
		sum->empty++;
	} else if (folded_is_markup(taken)) {
		cli_warn("%s: this is HTML or XML, neither a capture nor folded text", name);
		status = STATUS_DAMAGED;
	} else if (folded_is_json(taken)) {
		cli_warn("%s: this is JSON, neither a capture nor folded text", name);
		status = STATUS_DAMAGED;
	} else if (script_looks_like(taken)) {
		status = STATUS_DAMAGED;
		cli_warn("%s: this is perf script text: convert it with cprof-convert -f perfscript -t stream", name);
	} else if (folded_looks_like(taken)) {
		status = load_text(f, fd, name, taken, p, side, sum);
	} else if (pprof_looks_like(taken)) {
		status = STATUS_DAMAGED;
		cli_warn("%s: this is a profile of pprof: convert it with cprof-convert -t stream", name);
	} else {
		status = load_stream(f, fd, name, taken, t, sum);
	}
	closed = naming_close(&naming, f, fd);
	progress_end();
	return directory_done(path, closed > status ? closed : status);
}

/* Reading captures into a profile. */
struct gathering {
	struct gather g;
	struct gather cpu; /* with cpu_beside: CPU time on side 1 */
	struct view cpu_view;
	bool uncounted; /* a segment with samples does not say how many threads ran */
	struct profile *p;
	unsigned int side;
	const struct view *view;
	const struct operand_watch *watch;
	struct filters *f;
	struct about *about;
	const char *name; /* for messages */
};

static bool begin_gathering(void *context)
{
	struct gathering *it = context;
	const struct operand_taker *also = it->f->also;

	it->uncounted = false;
	it->cpu_view = *it->view;
	it->cpu_view.latency = LATENCY_NOT;
	it->cpu_view.reasons = it->cpu_view.states = NULL;
	if (it->f->cpu_beside && !gather_init(&it->cpu, it->p, 1, &it->cpu_view))
		return false;
	return (!also || also->begin(also->context)) && gather_init(&it->g, it->p, it->side, it->view);
}

/* Notes at the end of a segment whether it says how many threads ran. */
static void note_latency(struct gathering *it)
{
	const struct capture *c = &it->g.capture;

	it->uncounted = it->uncounted || (c->sampled && !capture_meta(c, META_PARALLELISM).n);
}

static const char *gather_record(void *context, const struct record *r)
{
	struct gathering *it = context;

	if (it->watch)
		it->watch->see(it->watch->context, &it->g, r);
	if (it->f->also) /* both find the same wrong */
		it->f->also->record(it->f->also->context, r);
	if (r->type == RECORD_SEGMENT) {
		about_take(it->about, &it->g.capture);
		note_latency(it);
	}
	if (it->f->cpu_beside)
		gather_apply(&it->cpu, r);
	return gather_apply(&it->g, r);
}

static void wait_watched(void *context, struct reader *r, int fd)
{
	const struct operand_watch *w = ((struct gathering *)context)->watch;

	w->wait(w->context, r, fd);
}

/*
 * Notes the names of the events that the view counts in the last segment; usually all segments have the same.
 */
static void note_counted(struct filters *f, const struct capture *c)
{
	uint32_t id;

	for (uint64_t i = 1; i < CAPTURE_EVENTS && f->counted_names.n < EVENTS_LISTED; i++) {
		if (c->events[i].id && select_lists_event(&f->view, c, i) &&
		    !intern_add(&f->counted_names, c->events[i].name, &id))
			cli_no_memory();
	}
}

/* Warns of an option that the capture has no data for. */
static void warn_lacking(const struct gathering *it)
{
	const struct gather_sums *sums = &it->g.sums;

	if (it->view->lines && sums->symbols && !sums->lines && !sums->scripts)
		cli_warn("%s: no machine code has a line: run cprof-sym -l, with debug information", it->name);
}

static bool end_gathering(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct gathering *it = context;
	const struct operand_taker *also = it->f->also;
	bool good = gather_finish(&it->g) && (!also || also->end(also->context, totals, sums));

	if (it->f->cpu_beside) {
		good = gather_finish(&it->cpu) && good;
		gather_release(&it->cpu);
	}
	note_latency(it);
	if (it->view->latency && it->uncounted)
		cli_die(STATUS_USAGE,
			"%s: --weight latency is not available: nobody counted running threads: "
			"record with cprof-record --latency",
			it->name);
	about_take(it->about, &it->g.capture);
	note_counted(it->f, &it->g.capture);
	*totals = capture_totals(&it->g.capture);
	*sums = it->g.sums;
	warn_lacking(it);
	gather_release(&it->g);
	return good;
}

/* Reading captures into a profile of who made threads wait. */
struct blaming {
	struct blame b;
	struct profile *p;
	unsigned int side;
	struct filters *f;
	struct loaded *sum;
	const char *name; /* for messages */
};

static bool begin_blaming(void *context)
{
	struct blaming *it = context;

	return blame_init(&it->b, it->p, it->side, &it->f->view);
}

static const char *blame_record(void *context, const struct record *r)
{
	return blame_apply(&((struct blaming *)context)->b, r);
}

static bool end_blaming(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct blaming *it = context;
	bool good = blame_finish(&it->b);
	const struct capture *c = &it->b.gather.capture;

	about_take(&it->sum->about, c);
	*totals = capture_totals(&it->b.gather.capture);
	*sums = it->b.gather.sums;
	it->sum->hits += it->b.culprits.hits;
	blame_release(&it->b);
	return good;
}

static enum status load_blame(struct filters *f, const char *path, struct profile *p, unsigned int side,
			      struct loaded *sum)
{
	struct blaming it = { .p = p, .side = side, .f = f, .sum = sum, .name = operand_name(path) };
	struct operand_taker t = { &it, &it.b.gather.capture, begin_blaming, blame_record, end_blaming, NULL,
				   .chooses = false };

	return operand_read(f, path, &t, p, side, sum);
}

enum status operand_load(struct filters *f, const char *path, struct profile *p, unsigned int side,
			 struct loaded *sum)
{
	struct gathering it = { .p = p, .side = side, .view = &f->view, .watch = f->watch, .f = f,
				.about = &sum->about,
				.name = operand_name(path) };
	struct operand_taker t = { &it,		   &it.g.capture, begin_gathering,
				   gather_record, end_gathering, f->watch ? wait_watched : NULL,
				   .chooses = true };
	enum status status;

	if (f->view.blame)
		return load_blame(f, path, p, side, sum);
	status = operand_read(f, path, &t, p, side, sum);
	if (sum->sums.counted && f->view.weight == WEIGHT_SAMPLES)
		f->view.weight = WEIGHT_EVENTS;
	return status;
}
