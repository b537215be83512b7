/* A stretch of time against what is asked for, by trying each second of it. */
#include "common/profile/instant.h"

#include "tests/check.h"

#define SECOND INT64_C(1000000000)

enum { DAY = 86400, TRIES = 3000, STEP = 97 };

static struct instant some(void)
{
	struct instant w = { 0 };
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
	if (!instant_parse(&w, text, (long)random_below(DAY) - DAY / 2))
		check(false, text);
	return w;
}

static bool passes(const struct instant *from, const struct instant *to, int64_t first, int64_t last)
{
	for (int64_t t = first; t <= last; t += SECOND) {
		if (instant_between(from, to, 0, t))
			return true;
	}
	return false;
}

int main(void)
{
	unsigned int missed = 0, more = 0, wanted = 0, unwanted = 0;

	for (int i = 0; i < TRIES; i++) {
		struct instant from = some(), to = some();
		int64_t first = (int64_t)(1000000 + random_below(3 * DAY)) * SECOND, last;
		bool mixed = from.kind && to.kind && from.kind != to.kind, truly, told;

		if (from.kind == INSTANT_DAYTIME && to.kind == INSTANT_DAYTIME) /* one day has one midnight */
			to.midnight = from.midnight;
		else if (from.kind == INSTANT_MOMENT && to.kind == INSTANT_MOMENT && from.ns >= to.ns) /* commands refuse this */
			to.ns = from.ns + SECOND;
		last = first + (int64_t)random_below(i % 2 ? 3 * DAY : STEP) * SECOND;
		truly = passes(&from, &to, first, last);
		told = instant_overlaps(&from, &to, first, last);
		missed += truly && !told;
		more += told && !truly && !mixed;
		wanted += told;
		unwanted += !told;
	}
	check(missed == 0, "no stretch is passed over that holds what is asked for");
	check(more == 0, "none is taken that does not, where both times are of one kind, or one is alone");
	check(wanted > TRIES / 10 && unwanted > TRIES / 10, "both happen");
	return checks_done();
}
