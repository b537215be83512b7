#include "cmd/shared/facts/captions.h"

#include "cmd/shared/facts/summary.h"
#include "common/profile/outermost.h"
#include "common/profile/sanitize.h"

static const char arrow[] = " \xe2\x86\x92 ";

void captions_note(struct buf *filters, const struct option_row *option, const char *value)
{
	bool quoted = value && (!value[0] || strpbrk(value, " ;,'"));

	buf_text(filters, filters->n ? " " : "");
	if (option->value <= UINT8_MAX)
		buf_printf(filters, "-%c", option->value);
	else
		buf_printf(filters, "--%s", option->name);
	buf_text(filters, value ? quoted ? " '" : " " : "");
	if (value && value[0])
		sanitize_append_shown(filters, slice_of(value));
	buf_text(filters, quoted ? "'" : "");
}

void captions_find(struct captions *c, const struct profile *p, const struct view *v)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		uint32_t label;

		c->weight[side] = p->total[side];
		if (!outermost_main(p, side, &label))
			cli_no_memory();
		if (label != OUTERMOST_NONE && !view_roots(v))
			buf_bytes(&c->commands[side], profile_text(p, label).p, profile_text(p, label).n);
	}
}

/* Appends the name of one side, or nothing: a whole system is named by its host, not its busiest command. */
static void append_name(struct captions *c, const struct loaded *l, unsigned int side, struct buf *out)
{
	bool system = l->streams && l->about.host.known && !l->totals.outcomes[OUTCOME_FILTERED];

	about_name(&l->about, system ? "" : buf_cstr(&c->commands[side]), out);
}

static void make_title(struct captions *c, const struct picture *pic, const struct loaded *sides)
{
	struct buf names[PROFILE_SIDES] = { { 0 } };
	bool two = pic->sides > 1;

	for (unsigned int side = 0; side < pic->sides; side++)
		append_name(c, &sides[side], side, &names[side]);
	if (!names[0].n || (two && !names[1].n))
		buf_text(&c->title, two ? "Differential Flame Graph" : "Flame Graph");
	else if (two && strcmp(buf_cstr(&names[0]), buf_cstr(&names[1])) == 0)
		buf_printf(&c->title, "Change of %s", buf_cstr(&names[0]));
	else
		buf_printf(&c->title, "%s%s%s", buf_cstr(&names[0]), two ? arrow : "", buf_cstr(&names[1]));
	c->title.failed = c->title.failed || names[0].failed || names[1].failed;
	buf_release(&names[0]);
	buf_release(&names[1]);
}

static void append_facts(const struct loaded *l, struct buf *out)
{
	if (!l->streams)
		return;
	about_facts(&l->about, l->totals.seconds_ns, false, out);
	if (!out->n)
		buf_text(out, "unknown date");
}

/*
 * "2026-11-21 14:03:20 UTC, 55.7 s, cpu-clock at 199 Hz, 2 CPUs; --comm make", for each side; once if both
 * are of one recording
 */
static void make_subtitle(struct captions *c, const struct picture *pic, const struct loaded *sides)
{
	static const char *const words[PROFILE_SIDES] = { "before: ", "after: " };
	struct buf *out = &c->subtitle, facts[PROFILE_SIDES] = { { 0 } };
	bool alike;

	for (unsigned int side = 0; side < pic->sides; side++)
		append_facts(&sides[side], &facts[side]);
	alike = pic->sides > 1 && strcmp(buf_cstr(&facts[0]), buf_cstr(&facts[1])) == 0;
	for (unsigned int side = 0; side < (alike ? 1 : pic->sides); side++) {
		if (facts[side].n)
			buf_printf(out, "%s%s%s", out->n ? "; " : "",
				   pic->sides > 1 && !alike ? words[side] : "", buf_cstr(&facts[side]));
	}
	if (c->filters.n)
		buf_printf(out, "%s%s", out->n ? "; " : "", buf_cstr(&c->filters));
	for (unsigned int side = 0; side < pic->sides; side++) {
		out->failed = out->failed || facts[side].failed;
		buf_release(&facts[side]);
	}
}

/* The title with the date, so that the tabs of several captures of one program differ. */
static void make_tab(struct captions *c, const struct picture *pic, const struct loaded *sides)
{
	struct buf when = { 0 };

	buf_text(&c->tab, buf_cstr(&c->title));
	if (pic->sides == 1)
		about_facts(&sides[0].about, sides[0].totals.seconds_ns, true, &when);
	if (when.n)
		buf_printf(&c->tab, ", %s", buf_cstr(&when));
	c->tab.failed = c->tab.failed || when.failed;
	buf_release(&when);
}

static double share_of(const struct captions *c, const struct profile *p, unsigned int side)
{
	return c->weight[side] ? (double)p->total[side] / (double)c->weight[side] : 1;
}

static void put_words(struct captions *c, struct picture *pic, const struct loaded *sides,
		      const struct profile *p, const struct view *v)
{
	static const char *const words[PROFILE_SIDES] = { "Before: ", ". After: " };
	struct buf summary = { 0 }, caution = { 0 }, number = { 0 };

	for (unsigned int side = 0; side < pic->sides; side++) {
		double share = share_of(c, p, side), samples = summary_samples(&sides[side], v, share);

		buf_text(&summary, pic->sides > 1 ? words[side] : "");
		summary_append(&summary, &sides[side], v, share);
		if (!caution.n)
			summary_caution(&caution, samples);
		if (pic->sides == 1)
			buf_printf(&number, "%.0f", samples);
	}
	if (summary.failed || caution.failed || number.failed)
		cli_no_memory();
	picture_option(pic, "summary", buf_cstr(&summary));
	if (caution.n)
		picture_option(pic, "caution", buf_cstr(&caution));
	if (pic->sides == 1)
		picture_option(pic, "samples", buf_cstr(&number));
	buf_release(&summary);
	buf_release(&caution);
	buf_release(&number);
}

void captions_put(struct captions *c, struct picture *pic, const struct loaded *sides,
		  const struct profile *p, const struct view *v)
{
	if (!pic->title) {
		make_title(c, pic, sides);
		make_tab(c, pic, sides);
		pic->title = buf_cstr(&c->title);
		pic->tab = buf_cstr(&c->tab);
	}
	if (!pic->subtitle) {
		make_subtitle(c, pic, sides);
		pic->subtitle = c->subtitle.n ? buf_cstr(&c->subtitle) : NULL;
	}
	if (c->title.failed || c->tab.failed || c->subtitle.failed || c->filters.failed)
		cli_no_memory();
	put_words(c, pic, sides, p, v);
}

void captions_release(struct captions *c)
{
	buf_release(&c->filters);
	buf_release(&c->title);
	buf_release(&c->subtitle);
	buf_release(&c->tab);
	buf_release(&c->commands[0]);
	buf_release(&c->commands[1]);
}
