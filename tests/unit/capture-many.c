/*
 * Records of a segment in numbers that no recording has: if the time of one grows with the number of those
 * before it, this takes hours. Also checks kernel symbols against a plain search.
 */
#include "common/capture/capture.h"

#include <stdlib.h>

#include "common/capture/labels.h"
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

/* Checks capture_ksym against the rule in capture.h, with look-ups between the symbols. */
static void random_kernel_symbols(void)
{
	enum { SYMBOLS = 3000, SPACE = 300 };
	static uint64_t address[SYMBOLS], end[SYMBOLS];
	bool good = true;

	begin();
	for (uint32_t i = 0; i < SYMBOLS && good; i++) {
		uint64_t size = random_below(4) ? 1 + random_below(20) : 0, at = random_below(SPACE), last = 0;
		const struct capture_ksym *got;
		uint32_t best = SYMBOLS;

		address[i] = random_below(SPACE);
		end[i] = size ? address[i] + size : 0;
		good &= apply((struct record){ .type = RECORD_FRAME, .frame = { i + 1, 0, FRAME_EXACT, at } });
		good &= apply((struct record){ .type = RECORD_KSYM, .ksym = { .time = i, address[i], size } });
		for (uint32_t k = 0; k <= i; k++)
			last = address[k] <= at && address[k] > last ? address[k] : last;
		/* The newest symbol before the frame counts, otherwise the one after it. */
		for (uint32_t k = 0; k <= i; k++) {
			bool covers = address[k] <= at && (end[k] ? at < end[k] : address[k] == last);

			if (covers && (k < i || best == SYMBOLS))
				best = k;
		}
		if (random_below(3)) /* often several symbols come between two look-ups */
			continue;
		got = capture_ksym(&c, i + 1);
		good &= best == SYMBOLS ? !got : got && got->time == best;
	}
	check(good, "random kernel symbols between look-ups: the choice is that of a plain search");
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

static void kernel_symbols(void)
{
	enum { SYMBOLS = 300000 / SHARE };
	bool good = true;

	begin();
	for (uint64_t i = 0; i < SYMBOLS && good; i++) {
		uint64_t at = (i * 7919 % SYMBOLS) * 16;

		good &= apply((struct record){ .type = RECORD_FRAME, .frame = { i + 1, 0, FRAME_EXACT, at } }) &&
			apply((struct record){ .type = RECORD_KSYM, .ksym = { .address = at, .size = 16 } }) &&
			capture_ksym(&c, (uint32_t)i + 1)->address == at;
	}
	check(good, "kernel symbols, each with a look-up");
}

static void images(void)
{
	enum { IMAGES = 500000 / SHARE };
	bool good = true;
	char text[32];

	begin();
	for (uint32_t i = 0; i < IMAGES && good; i++) {
		snprintf(text, sizeof(text), "[image %06u]", (unsigned int)i);
		good &= apply((struct record){ .type = RECORD_IMAGE, .image.name = slice_of(text) });
		text[1] = 'I';
		good &= apply((struct record){ .type = RECORD_FILE, .file = { .id = i + 1, .path = slice_of(text) } }) &&
			!capture_image(&c, &c.files[i + 1]);
	}
	check(good, "images, each with a look-up of another one");
}

static void labels(void)
{
	enum { LABELS = 300000 / SHARE };
	bool good = true;
	char key[32];

	begin();
	for (uint32_t i = 0; i < LABELS && good; i++) {
		struct slice value;

		snprintf(key, sizeof(key), "label.%u", (unsigned int)i);
		good &= apply((struct record){ .type = RECORD_META, .meta = { slice_of(key), slice_of("v") } }) &&
			capture_label(&c, slice_of(key + strlen("label.")), &value) && slice_is(value, "v") &&
			!capture_label(&c, slice_of("other"), &value);
	}
	check(good, "labels, each with a look-up");
}

static void deep_stack(void)
{
	enum { DEPTH = 3000000 / SHARE, SAMPLES = 30000 / SHARE };
	uint64_t refused = 0;
	bool good = true;

	begin();
	good &= apply((struct record){ .type = RECORD_EVENT, .event = { .id = 1 } }) &&
		apply((struct record){ .type = RECORD_PROCESS, .process = { .id = 1 } }) &&
		apply((struct record){ .type = RECORD_THREAD, .thread = { .id = 1, .process = 1 } }) &&
		apply((struct record){ .type = RECORD_FRAME, .frame = { .id = 1, .process = 1 } });
	for (uint64_t i = NODE_FIRST; i < DEPTH && good; i++)
		good &= apply((struct record){ .type = RECORD_NODE, .node = { i, i > NODE_FIRST ? i - 1 : 0, 1 } });
	for (uint64_t i = 0; i < SAMPLES && good; i++) {
		good &= apply((struct record){ .type = RECORD_MAPPING,
					       .mapping = { .time = i, .process = 1, .start = 4096 * (i + 1), .length = 1 } });
		refused += !apply((struct record){ .type = RECORD_SAMPLE,
						   .sample = { .time = i, .event = 1, .thread = 1, .user = DEPTH - 1 } });
	}
	check(good && refused && refused < SAMPLES,
	      "samples of a deep stack, each after a mapping: some are refused");
	check(capture_totals(&c).refused == refused, "  which is counted");
}

int main(void)
{
	random_kernel_symbols();
	names();
	kernel_symbols();
	images();
	labels();
	deep_stack();
	capture_release(&c);
	return checks_done();
}
