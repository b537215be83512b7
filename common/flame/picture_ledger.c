#include "common/flame/picture_ledger.h"

#include "common/capture/damage.h"
#include "common/capture/sample_counts.h"
#include "common/select/ends.h"

static void print_percent(struct buf *out, uint64_t part, uint64_t whole)
{
	buf_printf(out, "%.2f %%", whole ? 100.0 * (double)part / (double)whole : 0);
}

static void add_fact(struct picture *pic, const char *side, const char *name, struct buf *value)
{
	struct buf full = { 0 };

	if (side)
		buf_printf(&full, "%s: ", side);
	buf_text(&full, name);
	pic->failed = pic->failed || full.failed || value->failed;
	picture_fact(pic, buf_cstr(&full), buf_cstr(value));
	buf_clear(value);
	buf_release(&full);
}

/* Appends "2,970: 2,950 emitted, 20 idle". ticks: only the outcomes of ticks. */
static void print_outcomes(struct buf *out, const uint64_t *outcomes, bool ticks)
{
	const char *between = ": ";

	samples_count(out, outcomes[OUTCOME_EXPECTED], SAMPLES_GROUPED);
	for (unsigned int o = OUTCOME_EMITTED; o < OUTCOMES; o++) {
		if (!outcomes[o] || (ticks && !outcome_is_tick(o)))
			continue;
		buf_text(out, between);
		samples_count(out, outcomes[o], SAMPLES_GROUPED);
		buf_printf(out, " %s", outcome_name(o));
		between = ", ";
	}
}

static void add_samples(struct picture *pic, const struct picture_ledger *l)
{
	const struct capture_totals *t = l->totals;
	struct buf text = { 0 };

	samples_append(&text, t, l->sums->samples, SAMPLES_GROUPED);
	add_fact(pic, l->side, "Samples", &text);
	if (t->outcomes[OUTCOME_EXPECTED]) {
		print_outcomes(&text, t->outcomes, true);
		add_fact(pic, l->side, "Expected", &text);
	}
	if (l->lost[0] || t->outcomes[OUTCOME_EXPECTED] || t->tally[OUTCOME_EXPECTED]) {
		buf_text(&text, l->lost[0] ? l->lost : "nothing");
		add_fact(pic, l->side, "Lost", &text);
	}
	if (t->tally[OUTCOME_EXPECTED]) {
		print_outcomes(&text, t->tally, false);
		add_fact(pic, l->side, "Events", &text);
	}
	if (damage_append(&text, t))
		add_fact(pic, l->side, "Damaged", &text);
	buf_release(&text);
}

static void add_truncated(struct picture *pic, const char *side, const char *half, const uint64_t *by_root)
{
	struct ends e = ends_of(by_root);
	struct buf text = { 0 };

	if (!e.stacks)
		return;
	print_percent(&text, e.truncated, e.stacks);
	buf_printf(&text, " of %s stacks", half);
	if (e.unverified) {
		buf_text(&text, "; ");
		print_percent(&text, e.unverified, e.stacks);
		buf_text(&text, " by frame pointers (unverified)");
	}
	if (e.unknown) {
		buf_text(&text, "; ");
		print_percent(&text, e.unknown, e.stacks);
		buf_text(&text, " ended for an unknown reason");
	}
	add_fact(pic, side, "Truncated", &text);
	buf_release(&text);
}

void picture_ledger_add(struct picture *pic, const struct picture_ledger *l)
{
	struct ends kernel = ends_of(l->sums->kernel);
	struct buf text = { 0 };

	if (l->captures) {
		add_samples(pic, l);
		add_truncated(pic, l->side, "user", l->sums->user);
		if (kernel.truncated)
			add_truncated(pic, l->side, "kernel", l->sums->kernel);
		print_percent(&text, l->sums->unresolved, l->sums->samples);
		buf_text(&text, " of innermost frames");
		add_fact(pic, l->side, "Unresolved", &text);
	}
	if (l->texts) {
		buf_text(&text, l->captures ? "partly from folded text, of which" : "from folded text:");
		buf_text(&text, " the losses are unknown");
		add_fact(pic, l->side, "Ledger", &text);
	}
	buf_release(&text);
}
