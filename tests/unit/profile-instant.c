/* Checks time_arg_overlaps() and time_arg_overlap() against a count of each second of a range. */
#include "common/select/time_arg.h"

#include "tests/lib/check.h"

#define SECOND INT64_C(1000000000)

enum { DAY = 86400, TRIES = 3000, STEP = 97 };

static struct time_arg some(void)
{
	struct time_arg w = { 0 };
	char text[64];

	switch (random_below(3)) {
	case 0:
		return w;
	case 1:
		snprintf(text, sizeof(text), "@%d", (int)(1000000 + random_below(3 * DAY)));
		break;
	default:
		snprintf(text, sizeof(text), "%02d:%02d:%02d", (int)random_below(24), (int)random_below(60), (int)random_below(60));
		break;
	}
	if (!time_arg_parse(&w, text, 0, (long)random_below(DAY) - DAY / 2))
		check(false, text);
	return w;
}

static bool passes(const struct time_arg *from, const struct time_arg *to, int64_t first, int64_t last)
{
	for (int64_t t = first; t <= last; t += SECOND) {
		if (time_arg_between(from, to, 0, t))
			return true;
	}
	return false;
}

/*
 * Returns the number of seconds of [first, last) that pass; *rest: the number after the last one that does.
 */
static uint64_t count(const struct time_arg *from, const struct time_arg *to, int64_t first, int64_t last, uint64_t *rest)
{
	uint64_t n = 0;

	*rest = 0;
	for (int64_t t = first; t < last; t += SECOND) {
		bool passed = time_arg_between(from, to, t - 500000 * SECOND, t);

		n += passed;
		*rest = passed ? 0 : *rest + 1;
	}
	return n;
}

/* Replaces a moment by an offset from a first sample at 500000 s after 1970, in half of the cases. */
static void make_offset(struct time_arg *w)
{
	if (w->kind == TIME_ARG_MOMENT && random_below(2)) {
		w->kind = TIME_ARG_OFFSET;
		w->ns -= 500000 * SECOND;
	}
}

static void check_overlaps(void)
{
	unsigned int wrong = 0, late = 0, whole = 0, none = 0, some_of_it = 0;

	for (int i = 0; i < TRIES; i++) {
		struct time_arg from = some(), to = some();
		uint64_t seconds = random_below(i % 2 ? 3 * DAY : STEP), want, rest, got, before;
		int64_t last = (int64_t)(1000000 + random_below(3 * DAY)) * SECOND;

		if (to.kind == TIME_ARG_DAYTIME)
			to.midnight = from.kind == TIME_ARG_DAYTIME ? from.midnight : to.midnight;
		make_offset(&from);
		make_offset(&to);
		want = count(&from, &to, last - (int64_t)seconds * SECOND, last, &rest);
		got = time_arg_overlap(&from, &to, last - 500000 * SECOND, last, seconds * SECOND, &before);
		wrong += got != want * SECOND;
		late += want && before != rest * SECOND;
		none += !want;
		whole += want == seconds && seconds;
		some_of_it += want && want < seconds;
	}
	check_is(wrong, 0, "as much of a stretch lies inside as counting its seconds gives");
	check_is(late, 0, "and the last of it ends where they end");
	check(none > TRIES / 10 && whole > TRIES / 10 && some_of_it > TRIES / 10, "none of it, all of it and a part of it happen");
}

/* Tries extreme numbers: the sanitizers check them, if built with. */
static void check_extremes(void)
{
	static const int64_t times[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	unsigned int more = 0;

	for (int i = 0; i < TRIES; i++) {
		struct time_arg from = some(), to = some();
		int64_t after = times[random_below(5)], clock = times[random_below(5)];
		uint64_t n = (uint64_t)times[random_below(5)], before;

		make_offset(&from);
		make_offset(&to);
		more += time_arg_overlap(&from, &to, after, clock, n, &before) > n;
	}
	check_is(more, 0, "never more than there is");
}

/* Spans after the first sample, spans before now, and texts that are neither. NOT: not a time. */
static void check_spans(void)
{
	enum { NOT = -1 };
	static const int64_t now = 1000000 * SECOND;
	static const struct {
		const char *text;
		int kind;
		int64_t ns;
	} rows[] = {
		{ "12.5", TIME_ARG_OFFSET, 12500000000 }, { "12s", TIME_ARG_OFFSET, 12 * SECOND },
		{ "1m30s", TIME_ARG_OFFSET, 90 * SECOND }, { "1 hour 5min", TIME_ARG_OFFSET, 3900 * SECOND },
		{ "1.5h", TIME_ARG_OFFSET, 5400 * SECOND }, { "0.25 ms", TIME_ARG_OFFSET, 250000 },
		{ "-1h", TIME_ARG_MOMENT, now - 3600 * SECOND },
		{ "-90s", TIME_ARG_MOMENT, now - 90 * SECOND },
		{ "-90", NOT, 0 }, { "-1d 2h", TIME_ARG_MOMENT, now - 93600 * SECOND },
		{ "1 hour ago", TIME_ARG_MOMENT, now - 3600 * SECOND },
		{ "1w ago", TIME_ARG_MOMENT, now - 604800 * SECOND },
		{ "-9w", TIME_ARG_MOMENT, 0 },
		{ "", NOT, 0 }, { "-", NOT, 0 }, { "s", NOT, 0 }, { "1x", NOT, 0 }, { "1h30", NOT, 0 },
		{ "ago", NOT, 0 },
		{ "-1h ago", NOT, 0 }, { "12 ago", NOT, 0 }, { "1h  ago", NOT, 0 }, { "1 H", NOT, 0 },
		{ "--1h", NOT, 0 },
		{ "1.h", NOT, 0 }, { "1.5.5h", NOT, 0 }, { "+1h", NOT, 0 }, { "15251w", NOT, 0 },
		{ "99999999999999999w", NOT, 0 }, { "12s ", NOT, 0 }, { "last week", NOT, 0 },
		{ "2262-01-01Z", TIME_ARG_MOMENT, 9214646400 * SECOND },
		{ "2300-01-01", TIME_ARG_MOMENT, INT64_MAX }, { "9999-12-31", TIME_ARG_MOMENT, INT64_MAX },
		{ "24:00", TIME_ARG_DAYTIME, DAY * SECOND }, { "24:30", NOT, 0 }, { "24:00:01", NOT, 0 },
		{ "23:59:60", TIME_ARG_DAYTIME, DAY * SECOND },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct time_arg w = { 0 };
		int kind = time_arg_parse(&w, rows[i].text, now, 0) ? (int)w.kind : NOT;

		check(kind == rows[i].kind && (kind == NOT || w.ns == rows[i].ns), rows[i].text);
	}
}

/* 00:00 to 24:00 is every day as a whole, in any zone. */
static void check_whole_day(void)
{
	struct time_arg from = { 0 }, to = { 0 };
	int64_t last = 1000000 * SECOND;
	uint64_t n = 3 * DAY * SECOND, before;

	check(time_arg_parse(&from, "00:00", 0, 3600) && time_arg_parse(&to, "24:00", 0, 3600),
	      "times of a day");
	check(passes(&from, &to, last, last) && time_arg_overlaps(&from, &to, last, last),
	      "the whole day has each moment");
	check_is(time_arg_overlap(&from, &to, last, last, n, &before), n, "and all of a stretch of days");
	check_is(before, 0, "up to its end");
}

int main(void)
{
	unsigned int missed = 0, more = 0, wanted = 0, unwanted = 0;

	for (int i = 0; i < TRIES; i++) {
		struct time_arg from = some(), to = some();
		int64_t first = (int64_t)(1000000 + random_below(3 * DAY)) * SECOND, last;
		bool mixed = from.kind && to.kind && from.kind != to.kind, truly, told;

		if (from.kind == TIME_ARG_DAYTIME && to.kind == TIME_ARG_DAYTIME) /* one day has one midnight */
			to.midnight = from.midnight;
		else if (from.kind == TIME_ARG_MOMENT && to.kind == TIME_ARG_MOMENT && from.ns >= to.ns) /* commands refuse this */
			to.ns = from.ns + SECOND;
		last = first + (int64_t)random_below(i % 2 ? 3 * DAY : STEP) * SECOND;
		truly = passes(&from, &to, first, last);
		told = time_arg_overlaps(&from, &to, first, last);
		missed += truly && !told;
		more += told && !truly && !mixed;
		wanted += told;
		unwanted += !told;
	}
	check_is(missed, 0, "no stretch is passed over that holds what is asked for");
	check_is(more, 0, "none is taken that does not, where both times are of one kind, or one is alone");
	check(wanted > TRIES / 10 && unwanted > TRIES / 10, "both happen");
	check_overlaps();
	check_extremes();
	check_spans();
	check_whole_day();
	return checks_done();
}
