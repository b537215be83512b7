/*
 * Records of a segment in numbers that no recording has: if the time of one grows with the number of those
 * before it, this takes hours.
 */
#include "common/capture/capture.h"

#include <stdlib.h>

#include "tests/lib/check.h"

#ifdef __SANITIZE_ADDRESS__ /* takes much longer */
enum { SHARE = 10 };
#else
enum { SHARE = 1 };
#endif

static struct capture c;

static void begin(void)
{
	capture_release(&c);
	if (!capture_init(&c))
		abort();
}

static bool apply(struct record r)
{
	return !capture_apply(&c, &r);
}

static void names(void)
{
	enum { NAMES = 1500000 / SHARE };
	struct record r = { .type = RECORD_SYMBOL, .symbol = { .frame = 1, .source = NAME_DEBUG } };
	bool good;

	begin();
	good = apply((struct record){ .type = RECORD_FRAME, .frame = { .id = 1 } });
	for (uint64_t i = 0; i < NAMES && good; i++) {
		r.symbol.from = NAMES - i;
		good &= apply(r);
	}
	check(good && capture_symbol_from(&c, 1, 77)->from == 77, "names of one frame, each before all others");
}

int main(void)
{
	names();
	capture_release(&c);
	return checks_done();
}
