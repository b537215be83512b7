#include "cmd/shared/facts/losses.h"

#include <inttypes.h>

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

bool losses_waits(const struct capture_totals *t)
{
	return t->waits || t->outcomes[OUTCOME_WAITS_LOST];
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

/* Data about processes that the recorder could not have. */
static void print_missing(struct buf *out, size_t begin, const uint64_t *costs)
{
	static const struct {
		enum cost cost;
		const char *one, *rest;
	} rows[] = {
		{ COST_MAPPINGS_UNREAD, "time", "the mappings of a process not read" },
		{ COST_MAPPINGS_CUT, "time", "the mappings of a process cut" },
		{ COST_MAPPINGS_LEFT_OUT, "mapping", "left out" },
		{ COST_FILES_UNOPENED, "file", "not opened" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t n = costs[rows[i].cost];

		if (n)
			buf_printf(out, "%s%" PRIu64 " %s%s %s", out->n > begin ? ", " : "", n, rows[i].one,
				   n == 1 ? "" : "s", rows[i].rest);
	}
}

void losses_print(struct buf *out, const struct capture_totals *t)
{
	size_t begin = out->n;
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
	print_missing(out, begin, t->costs);
}
