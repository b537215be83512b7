/* Checks stacks summed by their text: sorted as by qsort, the same with any budget, file errors reported. */
#include "common/folded/stack_sums.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/lib/check.h"

enum { STACKS = 3000 };

static char texts[STACKS][600];
static uint64_t sums[STACKS];

static void must(bool good)
{
	if (!good)
		abort();
}

/* Uses few letters and long common prefixes, so that sorting and merging have to look far into the texts. */
static void make_text(char *to, size_t cap)
{
	size_t n = 1 + (size_t)(random_u64() % (cap - 2)), same = (size_t)(random_u64() % n);

	for (size_t i = 0; i < n; i++)
		to[i] = i < same ? 'x' : (char)("a;b "[random_u64() % 4]);
	to[n] = '\0';
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Checks that all stacks come out, in order, each text once. */
static bool sum_with(size_t budget, size_t added, size_t *runs)
{
	static char *order[STACKS];
	struct slice stack;
	struct stack_sums l;
	uint64_t count;
	bool good = true;
	size_t n = 0;

	random_state = 7;
	memset(sums, 0, sizeof(sums));
	stack_sums_init(&l, budget);
	for (size_t i = 0; i < added; i++) {
		size_t at = (size_t)(random_u64() % STACKS), add = (size_t)(random_u64() % 3);

		sums[at] += add;
		must(stack_sums_add(&l, slice_of(texts[at]), add));
	}
	*runs = l.n_runs;
	for (size_t i = 0; i < STACKS; i++) {
		if (sums[i])
			order[n++] = texts[i];
	}
	qsort(order, n, sizeof(*order), by_text);
	must(stack_sums_sort(&l));
	for (size_t i = 0; i < n; i++) {
		good = good && stack_sums_next(&l, &stack, &count) == 1 && slice_is(stack, order[i]) &&
		       count == sums[(size_t)(order[i] - texts[0]) / sizeof(texts[0])];
	}
	good = good && stack_sums_next(&l, &stack, &count) == 0;
	stack_sums_release(&l);
	return good;
}

static bool sorts(size_t n)
{
	struct slice *s = calloc(n + 1, sizeof(*s));
	struct text_item *items = calloc(n + 1, sizeof(*items));
	bool good = true;

	must(s && items);
	for (size_t i = 0; i < n; i++) {
		s[i] = slice_of(texts[random_u64() % STACKS]);
		items[i].id = (uint32_t)i;
	}
	text_sort(s, items, n);
	for (size_t i = 1; i < n; i++)
		good = good && slice_compare(s[items[i - 1].id], s[items[i].id]) <= 0;
	free(s);
	free(items);
	return good;
}

/* Checks the error for a full file system, or a limit: it is the system's message. */
static bool fails(const char *directory, rlim_t file_size, int want)
{
	struct rlimit limit, before;
	struct stack_sums l;
	bool good = true;

	setenv("TMPDIR", directory, 1);
	must(getrlimit(RLIMIT_FSIZE, &before) == 0);
	limit = (struct rlimit){ file_size, before.rlim_max };
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	stack_sums_init(&l, 20000);
	errno = 0;
	for (size_t i = 0; good && i < STACKS; i++)
		good = stack_sums_add(&l, slice_of(texts[i]), 1);
	good = !good && errno == want;
	stack_sums_release(&l);
	must(setrlimit(RLIMIT_FSIZE, &before) == 0);
	return good;
}

int main(void)
{
	static const struct {
		size_t budget, added;
	} tries[] = { { 0, 60000 }, { 400000, 60000 }, { 100000, 60000 }, { 20000, 20000 }, { 1, 64 * 64 + 64 } };
	size_t runs, most = 0;

	for (size_t i = 0; i < STACKS; i++) {
		make_text(texts[i], i % 3 ? 20 : sizeof(texts[i]) - 12);
		sprintf(texts[i] + strlen(texts[i]), "%zu", i); /* no two are equal */
	}
	for (size_t n = 0; n < 3000; n += n < 40 ? 1 : 997)
		check(sorts(n), "texts, some of them equal, are sorted");
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		check(sum_with(tries[i].budget, tries[i].added, &runs), "all stacks with their sums, in order");
		check((runs == 0) == (tries[i].budget == 0), "  by runs where there is a budget");
		most = runs > most ? runs : most;
	}
	check(most > 1 && most < 256, "  of which there are never many");
	check(fails("/nonexistent", RLIM_INFINITY, ENOENT), "a directory that is not there");
	signal(SIGXFSZ, SIG_IGN);
	check(fails("/tmp", 1000, EFBIG), "a file that cannot grow");
	return checks_done();
}
