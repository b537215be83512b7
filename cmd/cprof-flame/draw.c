#include "cmd/cprof-flame/flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/shared/facts/losses.h"
#include "cmd/shared/keys.h"
#include "common/flame/picture_ledger.h"
#include "common/flame/svg.h"
#include "common/page/page.h"

static void add_ledgers(struct flame_settings *s, const struct filters *f, const struct loaded *sides)
{
	struct picture *pic = &s->pic;
	bool same = pic->sides == 1 || (!sides[0].streams && !sides[1].streams);
	struct buf lost = { 0 };

	if (f->view.blame == BLAME_CHAINS)
		picture_fact(pic, "Causes",
			     "\"<- web\" inside a wait is the thread that ended it, with its stacks "
			     "meanwhile; [timer], [disk] and the like ended waits without a thread");
	filters_events(f, &lost);
	if (lost.n)
		picture_fact(pic, "Event", buf_cstr(&lost));
	buf_clear(&lost);
	for (unsigned int side = 0; side < (same ? 1 : PROFILE_SIDES); side++) {
		const struct loaded *l = &sides[side];

		losses_print(&lost, &l->totals);
		picture_ledger_add(pic, &(struct picture_ledger){ .side = same ? NULL : side ? "After" : "Before", .totals = &l->totals,
						  .sums = &l->sums, .lost = buf_cstr(&lost), .captures = l->streams,
						  .texts = l->texts });
		buf_clear(&lost);
	}
	buf_release(&lost);
}

/* Sets the weight of a sample, for the tests of text with the counts of both sides; its time is not known. */
static void set_up_tests(struct flame_settings *s, const struct view *v)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		s->setup.unit[side] = v->weight == WEIGHT_SAMPLES ? 1 : INFINITY;
		s->setup.runs[side] = 1;
	}
}

void flame_finish_settings(struct flame_settings *s, struct filters *f, struct profile *p,
			   const struct loaded *sides)
{
	const char *countname = s->pic.look.countname;
	bool reverse = f->shape.reverse;

	if (!s->sides[0].n)
		set_up_tests(s, &f->view);
	filters_settle(f, p, s->pic.sides, 0);
	captions_find(&s->captions, p, &f->view);
	if (s->sides[0].n)
		sides_join(s->sides, f, p);
	f->shape.reverse = reverse && s->svg;
	if (sides[0].texts && sides[0].streams)
		keys_forget_modules(f);
	filters_shape(f, p);
	if (reverse)
		picture_option(&s->pic, "reverse", "1");
	if (s->pic.inverted)
		picture_option(&s->pic, "inverted", "1");
	captions_put(&s->captions, &s->pic, sides, p, &f->view);
	s->pic.unit = countname && f->view.weight != WEIGHT_NS ? countname : view_unit(&f->view);
	add_ledgers(s, f, sides);
}

static void print_picture(struct flame_settings *s)
{
	struct buf out = { 0 };
	bool whole = s->svg ? svg_append(&out, &s->pic) : page_append(&out, &s->pic);

	if (s->pic.failed || out.failed || (s->svg && !whole))
		cli_no_memory();
	if (!whole)
		cli_die(STATUS_SYSTEM, "cannot draw the page: a part of it is missing from this program (built incorrectly)");
	fwrite(out.p, 1, out.n, stdout);
	buf_release(&out);
	cli_stdout_done();
}

/* Reports that all boxes are grey, if they were tested: a picture of the same data looks like that. */
static void warn_grey(const struct flame_settings *s, const struct profile *p,
		      const struct verdicts *verdicts, const struct view *v)
{
	const double *unit = s->setup.unit;

	if (verdicts->grey && p->total[0] && p->total[1] && isfinite(unit[0]) && isfinite(unit[1]))
		cli_warn(SIDES_CHANGED, (size_t)0, verdicts->names, keys_things(v));
}

void flame_draw(struct flame_settings *s, const struct profile *p, const struct filters *f,
		const struct loaded *sides)
{
	uint64_t texts = sides[0].texts + sides[1].texts, streams = sides[0].streams + sides[1].streams;
	struct picture *pic = &s->pic;
	struct verdicts verdicts = { 0 };
	struct heatmap_data moments = { 0 };
	struct flame_tree tree;

	if (!flame_tree_init(&tree, p, texts && streams, f->shape.reverse && s->svg) ||
	    ((s->svg || pic->sides > 1) && !flame_tree_sum(&tree)))
		cli_no_memory();
	pic->tree = &tree;
	if (pic->sides > 1) {
		if (!verdicts_init(&verdicts, &tree, &s->setup))
			cli_no_memory();
		pic->verdicts = &verdicts;
		warn_grey(s, p, &verdicts, &f->view);
	}
	if (s->heatmap) {
		if (!heatmap_data_init(&moments, &tree, &s->origins, f->view.moment_ns, !s->slice_ms))
			cli_no_memory();
		if (moments.slices > HEATMAP_SLICES)
			cli_die(STATUS_USAGE, "cannot draw the heat map: it would have %" PRIu64 " slices of %" PRIu64
				" ms, more than %d; choose a shorter time with --from and --to, or a longer --slice",
				moments.slices, moments.slice_ns / 1000000, HEATMAP_SLICES);
		pic->moments = &moments;
	}
	if (s->search.compiled && !search_apply(&s->search, pic))
		cli_no_memory();
	print_picture(s);
	verdicts_release(&verdicts);
	heatmap_data_release(&moments);
	flame_tree_release(&tree);
}
