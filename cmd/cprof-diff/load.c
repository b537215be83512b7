#include "cmd/cprof-diff/diff.h"

#include <math.h>

#include "cmd/shared/losses.h"
#include "common/stats/added.h"

/*
 * Counts of text are samples, unless they are recognizably not. If a side has several files, each is a run,
 * and its part is noted.
 */
static void end_text(struct added *a, struct diff_findings *o, struct diff_side *side, bool ns)
{
	added_end(a, &o->p);
	if (a->unit >= ADDED_UNIT_LEAST)
		side->samples += (double)(a->weight / a->unit);
	else
		side->samples += ns && a->weight ? INFINITY : (double)a->weight;
	if (side->n > 1) {
		side->runs++;
		if (!added_mark(a, &o->p))
			cli_no_memory();
	}
}

/* Sums what the warnings need to know of a whole side. */
static void add_loaded(struct loaded *sum, const struct loaded *one)
{
	sum->streams += one->streams;
	sum->texts += one->texts;
	sum->good += one->good;
	sum->empty += one->empty;
	sum->totals.samples += one->totals.samples;
	sum->sums.samples += one->sums.samples;
	sum->sums.symbols += one->sums.symbols;
	for (size_t i = 0; i < ENDS; i++)
		sum->sums.user[i] += one->sums.user[i];
}

static enum status load_one(struct filters *f, const char *name, struct diff_findings *o, struct diff_side *side,
			    unsigned int number)
{
	struct loaded one = { 0 };
	struct buf text = { 0 };
	uint32_t runs = o->p.runs;
	enum status status;
	struct added a;

	if (!added_begin(&a, &o->p, number))
		cli_no_memory();
	status = operand_load(f, name, &o->p, number, &one);
	losses_print(&text, &one.totals);
	if (text.n)
		cli_warn("%s: %s", name, buf_cstr(&text));
	buf_release(&text);
	side->runs += o->p.runs - runs;
	side->samples += (double)one.sums.samples;
	if (one.texts)
		end_text(&a, o, side, f->view.weight != WEIGHT_SAMPLES);
	added_release(&a);
	add_loaded(&side->loaded, &one);
	return status;
}

enum status diff_load(struct filters *f, struct diff_findings *o, struct diff_settings *s)
{
	enum status status = STATUS_OK;

	if (!s->folded && !s->raw)
		f->view.moment_ns = CHANGES_SLICE_MS * 1000000;
	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		struct diff_side *side = &s->sides[number];

		for (size_t i = 0; i < side->n; i++) {
			enum status one = load_one(f, side->names[i], o, side, number);

			status = one > status ? one : status;
		}
		o->setup.unit[number] = !isfinite(side->samples) ? INFINITY :
					side->samples > 0 ? (double)o->p.total[number] / side->samples : 1;
		side->had = side->loaded.totals.samples > 0 || o->p.total[number] > 0 ||
			    (side->loaded.texts && f->view.n_comms);
		o->setup.timed[number] = side->loaded.streams && !side->loaded.texts;
		o->setup.runs[number] = side->runs;
	}
	return status;
}

bool diff_comparable(const struct diff_side *sides)
{
	const struct loaded *a = &sides[0].loaded, *b = &sides[1].loaded;

	return (a->good && (b->good || b->empty)) || (a->empty && b->good);
}
