#include "cmd/cprof-top/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-top/keyboard.h"
#include "cmd/cprof-top/look.h"
#include "cmd/cprof-top/screen.h"
#include "cmd/shared/facts/header.h"
#include "cmd/shared/facts/losses.h"
#include "cmd/shared/terminal/text_colour.h"
#include "common/capture/sample_counts.h"
#include "common/select/select.h"
#include "common/stream/reader.h"

/*
 * A recorder writes once a second, a few milliseconds early or late: a window that is nearly long enough
 * counts as complete.
 */
enum { SECOND = 1000000000, NEARLY = SECOND / 4 };

/* The samples and figures of one window. */
struct window {
	struct profile profile;
	struct gather_sums sums;
	uint64_t weight;
	double share; /* share of the weight that --match and the like left, from 0 to 1 */
	bool shaped;
};

struct live {
	struct views *how;
	struct filters *f;
	const char *name; /* name of the capture for messages */
	uint64_t period;
	bool fit;
	struct screen screen;
	bool looks;             /* keys change the table or tree by look; other views they only pause */
	struct look look;
	struct profile seen;    /* likewise, the window as it is shown, and its view */
	struct view seen_view;
	struct view view;       /* the view of the filters, with modules of its own */
	struct gather_modules modules;
	struct window coming, shown;
	struct header header;   /* that of the window shown */
	struct capture_totals before;
	uint64_t covered_ns; /* time covered by the ledger at the window's start */
	uint64_t past_ns;    /* the same for earlier segments */
	bool events;             /* the view sums counted events */
	bool begun, beats;       /* beats: the capture has a ledger, which advances even without samples */
	uint64_t now, from, due; /* capture time: now; the window's start; its end */
};

/* The gatherer's own table at the end is by the keys of the command line; windows are gathered by all. */
static void keep_keys(struct live *v)
{
	const struct view *all = &v->look.gathered;

	v->view.whole = all->whole;
	v->view.parts = all->parts;
	v->view.n_keys = all->n_keys;
	memcpy(v->view.keys, all->keys, sizeof(v->view.keys));
}

static void window_init(struct live *v)
{
	v->coming = (struct window){ 0 };
	gather_modules_init(&v->modules);
	v->view = v->f->view;
	v->view.modules = v->view.modules ? &v->modules : NULL;
	if (v->looks)
		keep_keys(v);
	v->view.reasons = v->view.states = NULL;
	if (!profile_init(&v->coming.profile))
		cli_no_memory();
}

/* Fits a table to the terminal. One line is left for the cursor. */
static void fit_table(const struct live *v)
{
	if (!v->fit || !v->screen.on)
		return;
	v->how->rows = 0;
	v->how->lines = v->screen.lines - 1;
}

/* Makes the profile that is shown of the window. */
static void shape_window(struct live *v, struct window *w)
{
	struct views views = *v->how;

	if (v->looks) {
		struct look all = v->look; /* the header stays when keys open rows or search */

		all.n_steps = 0;
		all.searches = false;
		look_show(&all, &v->f->shape, &w->profile, &v->seen, &v->seen_view, &views);
		w->share = w->weight ? (double)v->seen.total[0] / (double)w->weight : 0;
	} else if (!w->shaped) {
		filters_shape(v->f, &w->profile);
		w->share = w->weight ? (double)w->profile.total[0] / (double)w->weight : 0;
	}
	w->shaped = true;
}

static void print_window(struct live *v, const struct buf *text)
{
	struct buf status = { 0 };
	long row;

	if (v->screen.on && v->screen.keys >= 0) {
		row = v->looks ? look_marked(&v->look, &v->seen) : -1;
		look_status(&v->look, v->looks, &status);
		if (status.failed)
			cli_no_memory();
		row += row < 0 ? 0 : (long)v->look.rows.line;
		screen_draw(&v->screen, text, row, v->look.rows.line, buf_cstr(&status));
		buf_release(&status);
	} else if (v->screen.on) {
		screen_draw(&v->screen, text, -1, 0, NULL);
	} else if (fwrite(text->p, 1, text->n, stdout) != text->n || fflush(stdout) != 0) {
		cli_die(STATUS_SYSTEM, "standard output: cannot write: %s", strerror(errno));
	}
}

static void draw_window(struct live *v)
{
	struct buf text = { 0 };
	struct view called;
	struct views views;

	fit_table(v);
	views = *v->how;
	views.profile = &v->shown.profile;
	if (v->looks) {
		v->look.rows.n = 0;
		look_show(&v->look, &v->f->shape, &v->shown.profile, &v->seen, &v->seen_view, &views);
	}
	called = *views.view;
	called.weight = v->events ? WEIGHT_EVENTS : called.weight;
	views.view = &called;
	views.samples = v->shown.share * (double)v->shown.sums.samples;
	views.colour = colour_on();
	header_print(&v->header, &text);
	views_text(&views, &text);
	if (!v->screen.on)
		buf_byte(&text, '\n');
	if (text.failed)
		cli_no_memory();
	print_window(v, &text);
	buf_release(&text);
}

static uint64_t subtract_floor(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Returns the number of ticks whose outcome is known. */
static uint64_t ticks_counted(const uint64_t *outcomes)
{
	uint64_t sum = 0;

	for (unsigned int o = OUTCOME_EMITTED; o < OUTCOMES; o++)
		sum += outcome_is_tick(o) ? outcomes[o] : 0;
	return sum;
}

/* Returns the time between ticks on a CPU, or 0 if there is no clock. */
static uint64_t tick_ns(const struct capture *c)
{
	for (unsigned int i = 1; i < CAPTURE_EVENTS; i++) {
		if (c->events[i].millihertz && capture_wait(c, i) == CAPTURE_RUNS)
			return (uint64_t)SECOND * 1000 / c->events[i].millihertz;
	}
	return 0;
}

/*
 * Returns the time that the segment's ledger covers. It lags the time of writing: samples may still wait for
 * tables, and missing ticks are recorded a second later. 0: unknown, because the ledger is not per CPU.
 */
static uint64_t segment_covered_ns(const struct capture *c)
{
	uint64_t most = 0, cpus = 0, ticks = 0;

	for (size_t i = 1; i < c->n_ledger; i++)
		most = c->ledger[i][OUTCOME_EXPECTED] > most ? c->ledger[i][OUTCOME_EXPECTED] : most;
	for (size_t i = 0; i < c->n_ledger && most; i++) {
		/* Do not count a CPU that was online for less than half of the time: it comes and goes. */
		cpus += i > 0 && c->ledger[i][OUTCOME_EXPECTED] > most / 2;
		ticks += ticks_counted(c->ledger[i]);
	}
	return cpus ? ticks * tick_ns(c) / cpus : 0;
}

/* Returns the length of the window: ledger time if known, otherwise capture time. */
static uint64_t window_ns(struct live *v, const struct capture *c)
{
	uint64_t covered = v->past_ns + segment_covered_ns(c);
	uint64_t window = subtract_floor(covered, v->covered_ns);

	v->covered_ns = covered > v->covered_ns ? covered : v->covered_ns;
	return window ? window : subtract_floor(v->now, v->from);
}

/* Every expected tick gets an outcome sooner or later. The window counts only ticks that have one. */
static void set_expected(uint64_t *outcomes, const struct capture_totals *t)
{
	if (t->outcomes[OUTCOME_EXPECTED])
		outcomes[OUTCOME_EXPECTED] = ticks_counted(outcomes);
}

/* Returns whether the view sums counted events. The capture shows that before the first such event comes. */
static bool adds_events(const struct live *v, const struct capture *c)
{
	for (uint64_t i = 1; i < CAPTURE_EVENTS; i++) {
		if (c->events[i].id && capture_is_counted(c, i) && select_lists_event(&v->view, c, i))
			return v->view.weight != WEIGHT_NS && !v->view.ones;
	}
	return false;
}

/*
 * Adds the line "Window". For counted events the line gives their number too, because a sample may
 * stand for many events.
 */
static void add_window(struct live *v, const struct capture_totals *t)
{
	struct buf text = { 0 };

	if (v->events)
		buf_printf(&text, "%" PRIu64 " events (%" PRIu64 " samples) in %.2f s", v->shown.weight,
			   v->shown.sums.samples, (double)t->seconds_ns / 1e9);
	else
		samples_append(&text, t, v->shown.sums.samples, 0);
	header_add(&v->header, "Window", "%s", buf_cstr(&text));
	buf_release(&text);
}

/* Makes the header: figures of the window, and of the recording since its start. */
static void make_header(struct live *v, const struct capture *c, const struct capture_totals *t)
{
	struct loaded l = { .streams = 1, .sums = v->shown.sums };
	struct header_want want = { &v->view, v->how->verbose, true, v->shown.share, NULL, NULL,
				    NULL };
	uint64_t open = subtract_floor(t->outcomes[OUTCOME_EXPECTED], ticks_counted(t->outcomes));
	struct buf lost = { 0 };

	for (unsigned int o = 0; o < OUTCOMES; o++) {
		l.totals.outcomes[o] = subtract_floor(t->outcomes[o], v->before.outcomes[o]);
		l.totals.tally[o] = subtract_floor(t->tally[o], v->before.tally[o]);
	}
	for (unsigned int i = 0; i < CAPTURE_WAITS; i++)
		l.totals.waited[i] = subtract_floor(t->waited[i], v->before.waited[i]);
	set_expected(l.totals.outcomes, t);
	l.totals.samples = subtract_floor(t->samples, v->before.samples);
	l.totals.waits = subtract_floor(t->waits, v->before.waits);
	l.totals.others = subtract_floor(t->others, v->before.others);
	l.totals.refused = subtract_floor(t->refused, v->before.refused);
	l.totals.refused_records = subtract_floor(t->refused_records, v->before.refused_records);
	l.totals.damages = subtract_floor(t->damages, v->before.damages);
	l.totals.cut_records = subtract_floor(t->cut_records, v->before.cut_records);
	l.totals.blocks_damaged = subtract_floor(t->blocks_damaged, v->before.blocks_damaged);
	l.totals.seconds_ns = window_ns(v, c);
	header_release(&v->header);
	v->events = adds_events(v, c);
	about_take(&l.about, c);
	add_window(v, &l.totals);
	header_make(&v->header, &l, &want);
	losses_print(&lost, t);
	if (v->how->verbose || lost.n) {
		if (!lost.n)
			buf_text(&lost, losses_waits(t) ? "no sample, no wait lost" : "nothing lost");
		if (open)
			buf_printf(&lost, ", %" PRIu64 " tick%s still open", open, open == 1 ? "" : "s");
		header_add(&v->header, "Recording", "%" PRIu64 " samples in %.2f s, %s", samples_ticks(t),
			   (double)t->seconds_ns / 1e9, buf_cstr(&lost));
	}
	buf_release(&lost);
}

static void gather_window(struct live *v, struct gather *g)
{
	if (!gather_look(g, &v->coming.profile, &v->view, &v->coming.sums))
		cli_no_memory();
	filters_check_alike(v->f, v->name);
}

/* Shows the window that has ended. */
static void show_coming(struct live *v, const struct capture *c, const struct capture_totals *t)
{
	shape_window(v, &v->coming);
	profile_release(&v->shown.profile);
	v->shown = v->coming;
	make_header(v, c, t);
	draw_window(v);
}

/* While the view is paused, time goes on. */
static void drop_coming(struct live *v, const struct capture *c)
{
	profile_release(&v->coming.profile);
	window_ns(v, c);
}

static void end_window(struct live *v, struct gather *g)
{
	struct capture_totals t = capture_totals(&g->capture);

	gather_window(v, g);
	if (v->view.modules && !gather_modules_settle(&v->modules, &v->coming.profile, 1, 0))
		cli_no_memory();
	gather_modules_release(&v->modules);
	v->coming.weight = v->coming.profile.total[0];
	if (!(v->look.paused && v->screen.drawn))
		show_coming(v, &g->capture, &t);
	else
		drop_coming(v, &g->capture);
	window_init(v);
	v->before = t;
	v->from = v->now;
	v->due += v->period;
	if (v->due + 2 * NEARLY < v->now + v->period) /* the recorder was clearly late */
		v->due = v->now + v->period;
}

/* Sets the time. The first window begins with the recording, if the capture has its start time. */
static void take_time(struct live *v, const struct gather *g, uint64_t time)
{
	uint64_t start;

	if (!v->begun) {
		start = capture_meta_number(&g->capture, "start-monotonic-ns");
		v->begun = true;
		v->from = start && start < time ? start : time;
		v->due = v->from + v->period;
	}
	v->now = time;
}

/* A ledger record brings the window's figures, so the window ends there and not between samples. */
static void advance_ledger(struct live *v, const struct gather *g, uint64_t time)
{
	v->beats = true;
	take_time(v, g, time);
}

/*
 * Returns whether to show a window, now that a block has been read. On a terminal the last window is not
 * shown, because the table of the whole capture follows.
 */
static bool is_due(const struct live *v, const struct gather *g)
{
	bool last = g->capture.end_seen && g->capture.end_reason != END_CONTINUES;

	return v->begun && (last ? !v->screen.on && v->now > v->from : v->now + NEARLY >= v->due);
}

/* Resets the window at another capture, unless the segment continues the last one. */
static void begin_segment(struct live *v, const struct gather *g)
{
	if (g->capture.end_seen && g->capture.end_reason == END_CONTINUES)
		return;
	v->begun = v->beats = false;
}

static void watch_record(void *context, struct gather *g, const struct record *r)
{
	struct live *v = context;

	if (r->type == RECORD_SAMPLE && (!v->begun || !v->beats)) {
		take_time(v, g, r->sample.time);
	} else if (r->type == RECORD_LEDGER) {
		advance_ledger(v, g, r->ledger.time);
	} else if (r->type == RECORD_COST) {
		advance_ledger(v, g, r->cost.time);
	} else if (r->type == RECORD_SEGMENT) {
		gather_window(v, g);
		v->past_ns += segment_covered_ns(&g->capture);
		begin_segment(v, g);
	} else if (r->type == RECORD_FLUSH && is_due(v, g)) {
		end_window(v, g);
	}
}

/* Does what the keys say. */
static void take_keys(struct live *v)
{
	bool changed = false;
	int key;

	while ((key = keyboard_next()) != KEY_NONE) {
		enum look_change change =
			v->looks ? look_key(&v->look, &v->seen, key) : look_plain_key(&v->look, key);

		if (change == LOOK_QUIT) {
			screen_leave(&v->screen);
			exit(STATUS_OK);
		}
		changed = changed || change == LOOK_CHANGED;
		/* The next key may be about the rows that this one shows. */
		if (change == LOOK_CHANGED && v->screen.drawn)
			draw_window(v);
	}
}

static void wait_for(void *context, struct reader *r, int fd)
{
	struct live *v = context;
	enum screen_event event;

	if (!v->screen.on || reader_ready(r))
		return;
	while ((event = screen_wait(&v->screen, fd)) != SCREEN_INPUT) {
		if (event == SCREEN_KEYS)
			take_keys(v);
		else if (v->screen.drawn)
			draw_window(v);
	}
}

/* Opens the keyboard, if there is a screen. Keys change only tables and trees, which are gathered for it. */
static void open_keys(struct live *v, const char *path)
{
	v->screen.keys = -1;
	if (v->screen.on)
		v->screen.keys = keyboard_open(strcmp(path, "-") == 0);
	v->looks = v->screen.keys >= 0 && (v->how->shape == SHAPE_TABLE || v->how->shape == SHAPE_TREE);
	if (!v->looks)
		return;
	v->view = v->f->view;
	look_begin(&v->look, v->f, &v->view, v->how);
	v->f->view.all_ids = true;
}

enum status live_load(struct filters *f, const char *path, struct profile *p, struct loaded *l,
		      struct views *views, unsigned int seconds, bool fit)
{
	struct live v = { .how = views, .f = f, .name = strcmp(path, "-") == 0 ? "standard input" : path,
			  .period = (uint64_t)seconds * SECOND, .fit = fit && views->shape == SHAPE_TABLE };
	struct operand_watch watch = { &v, wait_for, watch_record };
	enum status status;

	screen_open(&v.screen);
	open_keys(&v, path);
	window_init(&v);
	f->watch = &watch;
	status = operand_load(f, path, p, 0, l);
	f->watch = NULL;
	screen_leave(&v.screen);
	keyboard_close();
	if (v.screen.drawn)
		putchar('\n');
	look_release(&v.look);
	profile_release(&v.seen);
	profile_release(&v.coming.profile);
	profile_release(&v.shown.profile);
	gather_modules_release(&v.modules);
	header_release(&v.header);
	return status;
}
