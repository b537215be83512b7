/*
 * Fuzzes lines of records as a capture of waits whose causes are shown in every way: chains divide the waits
 * and keep their sum, and no other view has more time than they have.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-blame [-m N] FILE ...					replays, and N changed copies too
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/blame/blame.h"
#include "common/blame/lock_sums.h"
#include "common/blame/waker_rows.h"
#include "common/blame/what_if.h"
#include "common/stream/record_coding.h"
#include "tests/lib/fuzz.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void apply_lines(struct blame *b, const char *text)
{
	struct buf scratch = { 0 }, error = { 0 };
	char *copy = strdup(text), *line, *save;
	struct record r;

	must(copy);
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (record_parse(&r, line, &scratch, &error))
			blame_apply(b, &r);
	}
	must(blame_finish(b));
	free(copy);
	buf_release(&scratch);
	buf_release(&error);
}

/* Returns the time in stacks; *wall: that of all threads before waits were divided. */
static uint64_t show(const char *text, const struct view *v, uint64_t *wall)
{
	struct profile p;
	struct blame b;
	uint64_t total;

	must(profile_init(&p));
	must(blame_init(&b, &p, 0, v));
	apply_lines(&b, text);
	total = p.total[0];
	*wall = b.wall.total[0];
	blame_release(&b);
	profile_release(&p);
	return total;
}

static void check_rows(const struct what_if *w)
{
	for (size_t i = 0; i < w->n; i++) {
		must(isfinite(w->rows[i].least) && isfinite(w->rows[i].most));
		must(w->rows[i].least >= 0 && w->rows[i].least <= w->rows[i].most);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct what_if w = { .function = "f", .share = 0.5 }, requests = { "f", 1, .requests = "*" };
	struct waker_rows wakers = { 0 };
	struct lock_sums locks;
	char *text = malloc(n + 1);
	uint64_t wall, chains;

	must(text);
	if (n)
		memcpy(text, p, n);
	text[n] = '\0';
	lock_sums_init(&locks);

	chains = show(text, &(struct view){ .wall = true, .weight = WEIGHT_NS, .blame = BLAME_CHAINS }, &wall);
	must(chains == wall);
	show(text, &(struct view){ .wall = true, .weight = WEIGHT_NS, .blame = BLAME_WAKERS, .wakers = &wakers },
	     &wall);
	show(text, &(struct view){ .wall = true, .weight = WEIGHT_NS, .blame = BLAME_LOCKS, .locks = &locks },
	     &wall);
	show(text, &(struct view){ .weight = WEIGHT_NS, .blame = BLAME_CULPRITS, .keys = { { BY_FUNCTION } },
				   .n_keys = 1 },
	     &wall);
	show(text, &(struct view){ .wall = true, .weight = WEIGHT_NS, .blame = BLAME_REPLAY, .what_if = &w },
	     &wall);
	check_rows(&w);
	what_if_release(&w);
	show(text, &(struct view){ .wall = true, .weight = WEIGHT_NS, .blame = BLAME_REPLAY,
				   .what_if = &requests, .from = { TIME_ARG_OFFSET, 1, 0 },
				   .to = { TIME_ARG_OFFSET, INT64_MAX / 2, 0 } },
	     &wall);
	check_rows(&requests);
	what_if_release(&requests);
	waker_rows_release(&wakers);
	lock_sums_release(&locks);
	free(text);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
