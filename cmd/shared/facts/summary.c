#include "cmd/shared/facts/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cmd/shared/facts/losses.h"
#include "common/capture/sample_counts.h"
#include "common/select/select.h"
#include "common/stats/interval.h"

/* Prints shares as percentages that add up: each is the difference between two rounded sums. */
struct shares {
	struct buf *out;
	double scale;    /* percent of a unit of weight */
	double step;     /* the last decimal place */
	int places;
	uint64_t before; /* weight printed so far */
	bool bare;       /* without the percent sign */
};

static double round_to(double v, double step)
{
	return step * round(v / step);
}

static struct shares shares_begin(struct buf *out, double percent, uint64_t total)
{
	int places = percent >= 10 ? 0 : percent >= 1 ? 1 : 2;

	return (struct shares){ .out = out, .places = places, .step = pow(10, -places),
				.scale = total ? percent / (double)total : 0 };
}

/* Prints a part, unless it is rounded to zero. Returns whether it did. */
static bool print_share(struct shares *s, uint64_t weight, const char *between, const char *what)
{
	double from = round_to((double)s->before * s->scale, s->step);
	double to = round_to((double)(s->before + weight) * s->scale, s->step);

	s->before += weight;
	if (to - from < s->step / 2)
		return false;
	buf_printf(s->out, "%s%.*f%s %s", between, s->places, to - from, s->bare ? "" : " %", what);
	s->bare = true;
	return true;
}

/* "24 user, 8 kernel, 2 unnamed" */
static void print_running(struct shares *s, const uint64_t *doing)
{
	static const char *const names[] = { "user", "kernel", "unnamed", "not sampled" };
	const char *between = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (print_share(s, doing[i], between, names[i]))
			between = ", ";
	}
}

/* Code without names is not unnamed if it was only not looked up, because the view shows no functions. */
static void doing_shown(const struct loaded *l, const struct view *v, uint64_t doing[DOINGS])
{
	memcpy(doing, l->sums.doing, sizeof(l->sums.doing));
	if (l->sums.symbols || view_names_functions(v))
		return;
	doing[DOING_USER] += doing[DOING_UNNAMED];
	doing[DOING_UNNAMED] = 0;
}

static uint64_t sum_doing(const uint64_t *doing, enum gather_doing from, enum gather_doing to)
{
	uint64_t sum = 0;

	for (unsigned int i = from; i < (unsigned int)to; i++)
		sum += doing[i];
	return sum;
}

/* "34 % running (24 user, 8 kernel, 2 unnamed), 60 sleeping, 6 for a CPU" */
static void print_wall(struct buf *out, const uint64_t *doing, uint64_t total)
{
	static const char *const names[] = { "sleeping", "uninterruptible", "for a CPU", "throttled" };
	struct shares all = shares_begin(out, 100, total), inner = all;
	const char *between = "";

	if (print_share(&all, sum_doing(doing, DOING_USER, DOING_SLEEPING), "", "running (")) {
		inner.bare = true;
		print_running(&inner, doing);
		buf_byte(out, ')');
		between = ", ";
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (print_share(&all, doing[DOING_SLEEPING + i], between, names[i]))
			between = ", ";
	}
}

/* Returns whether the samples are all that the ledger counts, so that they are a share of the CPUs' time. */
static bool covers_ledger(const struct loaded *l, const struct view *v)
{
	const uint64_t *outcomes = l->totals.outcomes;

	return outcomes[OUTCOME_EXPECTED] && !v->wall && !v->latency && !l->sums.counted && !l->texts &&
	       l->totals.samples && l->sums.samples == samples_ticks(&l->totals);
}

static void print_cpus(struct buf *out, const struct loaded *l, const struct view *v)
{
	uint64_t doing[DOINGS];
	const uint64_t *outcomes = l->totals.outcomes;
	const struct about_fact *cpus = &l->about.cpus;
	uint64_t total = sum_doing(l->sums.doing, DOING_USER, DOINGS);
	double percent = 100 * (double)samples_ticks(&l->totals) / (double)outcomes[OUTCOME_EXPECTED];
	struct shares s = shares_begin(out, percent, total);

	if (outcomes[OUTCOME_FILTERED])
		buf_printf(out, "%.*f %% of %s: ", s.places, percent,
			   cpus->known && !cpus->differs ? cpus->text : "the CPUs");
	else
		buf_printf(out, "CPUs %.*f %% busy: ", s.places, percent);
	s.bare = true;
	doing_shown(l, v, doing);
	print_running(&s, doing);
}

/* "114 of 3,981 samples", "5.23 s", "12,400 events" */
static void print_total(struct buf *out, const struct loaded *l, const struct view *v, uint64_t total)
{
	uint64_t ticks = samples_ticks(&l->totals);

	if (v->weight == WEIGHT_NS) {
		about_length(total, out);
		if (v->latency)
			buf_printf(out, " in which a %s ran",
				   v->latency == LATENCY_GROUP ? "control group" : "process");
		return;
	}
	samples_count(out, total, SAMPLES_GROUPED);
	if (!l->sums.counted && l->sums.samples == total && total < ticks) {
		buf_text(out, " of ");
		samples_count(out, ticks, SAMPLES_GROUPED);
	}
	buf_printf(out, " %s", l->sums.counted && !v->ones ? "events" : "samples");
}

/* Returns whether the view selects waits alone, so that the thread waited in each of the stacks. */
static bool are_waits(const struct view *v)
{
	for (size_t i = 0; i < v->n_events; i++) {
		if (!select_names_waits(v->events[i]))
			return false;
	}
	return v->n_events;
}

static void print_selected(struct buf *out, const struct loaded *l, const struct view *v)
{
	uint64_t total = sum_doing(l->sums.doing, DOING_USER, DOINGS);
	struct shares s = shares_begin(out, 100, total);
	uint64_t doing[DOINGS];

	print_total(out, l, v, total);
	if (are_waits(v))
		buf_text(out, v->weight == WEIGHT_NS ? " of waits" : ", all waits");
	if (!total || are_waits(v))
		return;
	buf_text(out, ": ");
	doing_shown(l, v, doing);
	if (sum_doing(doing, DOING_SLEEPING, DOINGS))
		print_wall(out, doing, total);
	else
		print_running(&s, doing);
}

static void print_lost(struct buf *out, const struct capture_totals *t)
{
	uint64_t lost = losses_count(t) + losses_events(t);
	uint64_t expected = t->outcomes[OUTCOME_EXPECTED] + t->tally[OUTCOME_EXPECTED];

	if (!lost && !expected) {
		buf_text(out, "; losses unknown");
		return;
	}
	buf_text(out, "; ");
	samples_count(out, lost, SAMPLES_GROUPED);
	buf_text(out, losses_waits(t) ? " samples" : " lost");
	if (lost && expected)
		buf_printf(out, " (%.2g %%)", 100 * (double)lost / (double)expected);
	if (losses_waits(t)) {
		buf_text(out, ", ");
		samples_count(out, t->outcomes[OUTCOME_WAITS_LOST], SAMPLES_GROUPED);
		buf_text(out, " waits lost");
	}
	if (t->damages || t->blocks_damaged || t->refused)
		buf_text(out, "; damaged");
}

static void print_waited(struct buf *out, const struct capture_totals *t)
{
	uint64_t waited = samples_waited(t);

	if (!waited)
		return;
	buf_text(out, "; ");
	about_length(waited, out);
	buf_text(out, " waited (--wall)");
}

void summary_append(struct buf *out, const struct loaded *l, const struct view *v, double share)
{
	if (!l->streams) {
		if (v->weight == WEIGHT_NS)
			about_length(l->counts, out);
		else
			samples_count(out, l->counts, SAMPLES_GROUPED);
		buf_text(out, v->weight == WEIGHT_NS ? "" : " samples");
		buf_text(out, " from folded text; losses unknown");
	} else {
		if (covers_ledger(l, v))
			print_cpus(out, l, v);
		else
			print_selected(out, l, v);
		print_lost(out, &l->totals);
		if (covers_ledger(l, v))
			print_waited(out, &l->totals);
	}
	if (share < 1)
		buf_printf(out, "; %.*f %% of this shown", share < 0.1 ? 2 : 0, 100 * share);
}

double summary_samples(const struct loaded *l, const struct view *v, double share)
{
	double counts = v->weight == WEIGHT_SAMPLES ? (double)l->counts : 0;

	if ((l->texts && v->weight != WEIGHT_SAMPLES) || (l->totals.waits && (v->wall || v->n_events)))
		return 0;
	return share * ((double)l->sums.samples + counts);
}

void summary_caution(struct buf *out, double samples)
{
	struct interval i = interval_wilson(samples / 2, samples, INTERVAL_95);

	if (samples >= 0.5 && samples < SUMMARY_FEW)
		buf_printf(out, "only %.0f sample%s: shares may be off by %.0f points (95 %%)", samples,
			   samples < 1.5 ? "" : "s", 100 * (i.high - i.low) / 2);
}
