#include "cmd/shared/sides_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/shared/facts/losses.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/result_file.h"
#include "common/base/array.h"
#include "common/profile/outermost.h"
#include "common/profile/sanitize.h"
#include "common/stats/added.h"

size_t sides_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return (size_t)(argc - 1 - i);
	}
	return 0;
}

void sides_add(struct side *side, char *name)
{
	if (!grow_array(&side->names, &side->cap, side->n, sizeof(*side->names)))
		cli_no_memory();
	side->names[side->n++] = name;
}

static void share_operands(struct side sides[PROFILE_SIDES], char **names, size_t n)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		for (size_t i = 0; i < n; i++)
			sides_add(&sides[side], names[i]);
		sides[side].shared = true;
	}
}

bool sides_take(struct side sides[PROFILE_SIDES], char **names, size_t n, size_t after)
{
	size_t before = after && after < n ? n - after : n / 2;

	if (!after && sides_are_parts(sides, n)) {
		share_operands(sides, names, n);
		return true;
	}
	if (n < PROFILE_SIDES || (n != PROFILE_SIDES && before != n - after))
		return false;
	for (size_t i = 0; i < n; i++)
		sides_add(&sides[i >= before], names[i]);
	return true;
}

void sides_open_result(const struct side sides[PROFILE_SIDES])
{
	struct side all = { 0 };

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		for (size_t i = 0; i < sides[side].n; i++)
			sides_add(&all, sides[side].names[i]);
	}
	sides_add(&all, NULL);
	result_open(all.names);
	free(all.names);
}

/* " from 14:03:20 to 14:05": the part of the window that is the side's own. */
static void append_window(const struct side *side, struct buf *out)
{
	const struct side_bound *bounds[] = { &side->from, &side->to };

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (!side->windowed || !bounds[i]->text)
			continue;
		buf_text(out, i == 0 ? " from " : bounds[0]->text ? " to " : " until ");
		sanitize_append(out, slice_of(bounds[i]->text));
	}
}

/* Returns how many bytes of the text are whole characters and at most this many. */
static int fitting_bytes(const struct buf *text, size_t most)
{
	size_t n = text->n < most ? text->n : most;

	while (n && n < text->n && (text->p[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

void sides_name(struct side sides[PROFILE_SIDES])
{
	struct buf name = { 0 }, window = { 0 };
	unsigned int dashes = 0;
	char more[32] = "";

	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		struct side *side = &sides[number];

		for (size_t i = 0; i < side->n; i++)
			dashes += strcmp(side->names[i], "-") == 0;
		sanitize_append(&name, slice_of(side->names[0]));
		append_window(side, &window);
		if (side->n > 1)
			snprintf(more, sizeof(more), " and %zu more", side->n - 1);
		snprintf(side->title, sizeof(side->title), "%.*s%s%.50s",
			 fitting_bytes(&name, more[0] || window.n ? 170 : 255), buf_cstr(&name), more,
			 buf_cstr(&window));
		if (name.failed || window.failed)
			cli_no_memory();
		more[0] = '\0';
		buf_clear(&name);
		buf_clear(&window);
	}
	buf_release(&window);
	buf_release(&name);
	if (dashes > 1)
		cli_usage("standard input can be one of the two, not both");
}

/*
 * Counts of text are samples, unless they are recognizably not. If a side has several files, each is a run,
 * and its part is noted.
 */
static void end_text(struct added *a, struct profile *p, struct side *side, bool ns)
{
	added_end(a, p);
	if (a->unit >= ADDED_UNIT_LEAST)
		side->samples += (double)(a->weight / a->unit);
	else
		side->samples += ns && a->weight ? INFINITY : (double)a->weight;
	if (side->n > 1) {
		side->runs++;
		if (!added_mark(a, p))
			cli_no_memory();
	}
}

static enum status load_one(struct filters *f, const char *name, struct profile *p, struct side *side,
			    unsigned int number, bool losses)
{
	struct loaded one = { 0 };
	struct buf text = { 0 };
	uint32_t runs = p->runs;
	enum status status;
	struct added a;

	if (!added_begin(&a, p, number))
		cli_no_memory();
	status = operand_load(f, name, p, number, &one);
	losses_print(&text, &one.totals);
	if (text.n && losses)
		cli_warn("%s: %s", name, buf_cstr(&text));
	buf_release(&text);
	side->runs += p->runs - runs;
	side->samples += (double)one.sums.samples;
	if (one.texts)
		end_text(&a, p, side, f->view.weight != WEIGHT_SAMPLES);
	added_release(&a);
	loaded_add(&side->loaded, &one);
	return status;
}

/* Reads all operands of a side, and all captures of those that are directories. */
static enum status load_side(struct filters *f, struct profile *p, struct side *side, unsigned int number,
			     bool losses)
{
	enum status status = STATUS_OK;
	char **each;

	sides_add(side, NULL);
	side->n--;
	recordings_forget(&f->recordings);
	for (each = directory_operands(side->names, &f->view); *each; each++) {
		enum status one = load_one(f, *each, p, side, number, losses);

		status = one > status ? one : status;
	}
	return status;
}

/* Warns of a file that is given twice, which is usually a mistake. */
static void warn_twice(const struct side sides[PROFILE_SIDES])
{
	bool windowed = sides[0].windowed || sides[1].windowed; /* then both sides can have one file */
	size_t n = sides[0].n + sides[1].n;
	struct stat *files = calloc(n, sizeof(*files));

	if (!files)
		cli_no_memory();
	for (size_t i = 0; i < n; i++) {
		unsigned int number = i >= sides[0].n;
		const char *name = sides[number].names[i - (number ? sides[0].n : 0)];
		size_t before = 0;

		if (stat(name, &files[i]) != 0 || !S_ISREG(files[i].st_mode))
			continue;
		while (files[before].st_ino != files[i].st_ino || files[before].st_dev != files[i].st_dev)
			before++;
		if (before < i && ((before >= sides[0].n) == number || !windowed))
			cli_warn("%s: the same file %s", name,
				 (before >= sides[0].n) == number ? "twice on one side" : "on both sides");
	}
	free(files);
}

enum status sides_load(struct side sides[PROFILE_SIDES], struct filters *f, struct profile *p,
		       struct changes_setup *setup, bool losses)
{
	const struct time_arg from = f->view.from, to = f->view.to;
	enum status status = STATUS_OK;

	warn_twice(sides);
	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		struct side *side = &sides[number];
		enum status one;

		f->view.from = side->from.at;
		f->view.to = side->to.at;
		f->from_option = side->from.option;
		f->to_option = side->to.option;
		one = load_side(f, p, side, number, losses);
		status = one > status ? one : status;
		if (operands_count_time(&side->loaded, p, number))
			side->samples = INFINITY;
		setup->unit[number] = !isfinite(side->samples) ? INFINITY :
				      side->samples > 0 ? (double)p->total[number] / side->samples : 1;
		side->had = side->loaded.totals.samples > 0 || p->total[number] > 0 ||
			    (side->loaded.texts && f->view.n_comms);
		if (side->windowed && !p->total[number])
			filters_append_range(f, &side->there);
		setup->timed[number] = side->loaded.streams && !side->loaded.texts;
		setup->runs[number] = side->runs;
	}
	operands_report(f);
	f->view.from = from;
	f->view.to = to;
	return status;
}

void sides_join(const struct side sides[PROFILE_SIDES], struct filters *f, struct profile *p)
{
	uint32_t *main = f->shape.join;
	struct buf name = { 0 };

	if (!outermost_main(p, 0, &main[0]) || !outermost_main(p, 1, &main[1]))
		cli_no_memory();
	if (view_roots(&f->view) || main[0] == main[1])
		return;
	if (main[0] == OUTERMOST_NONE || main[1] == OUTERMOST_NONE)
		return;
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		struct slice text = profile_text(p, main[side]);

		buf_text(&name, side ? " \xe2\x86\x92 " : "");
		buf_bytes(&name, text.p, text.n);
	}
	if (name.failed || !profile_label(p, buf_view(&name), &f->shape.joined))
		cli_no_memory();
	f->shape.joins = true;
	cli_warn("%s and %s have different commands, compared under one root: %s", sides[0].title,
		 sides[1].title, buf_cstr(&name));
	buf_release(&name);
}

void sides_warn_order(const struct side sides[PROFILE_SIDES])
{
	const struct about *a = &sides[0].loaded.about, *b = &sides[1].loaded.about;

	if (a->first && b->first && b->last < a->first)
		cli_warn("%s was recorded before %s: the first side is before and the second one after",
			 sides[1].title, sides[0].title);
}

enum status sides_report_empty(struct side sides[PROFILE_SIDES], struct filters *f, const struct profile *p,
			       bool strict)
{
	enum status status = STATUS_OK;
	struct buf there = { 0 };

	filters_append_there(f, &there);
	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		struct side *side = &sides[number];

		if (p->total[number] || (side->loaded.empty && !strict))
			continue;
		if (side->had) {
			cli_warn("0 samples of %s are compared: the options exclude all that it has%s",
				 side->title, buf_cstr(side->there.n ? &side->there : &there));
			buf_clear(&there); /* it is about both sides */
		} else {
			cli_warn("0 samples of %s are compared: it has none", side->title);
		}
		status = side->had && status != STATUS_DAMAGED ? STATUS_USAGE : STATUS_DAMAGED;
	}
	buf_release(&there);
	return status;
}

bool sides_comparable(const struct side sides[PROFILE_SIDES])
{
	const struct loaded *a = &sides[0].loaded, *b = &sides[1].loaded;

	return (a->good && (b->good || b->empty)) || (a->empty && b->good);
}

void sides_release(struct side sides[PROFILE_SIDES])
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		free(sides[side].names);
		buf_release(&sides[side].there);
	}
}
