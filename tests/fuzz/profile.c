/*
 * Fuzzes lines of records as a capture that is shown in every way: whatever the view calls things, all views
 * count the same samples and as many innermost frames without a name, and each line of folded text is valid.
 * A view taken in between sees each sample once.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-profile [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/folded/folded.h"
#include "common/gather/gather.h"
#include "common/gather/gather_modules.h"
#include "common/stream/record_coding.h"
#include "common/views/peek.h"
#include "common/gather/reason.h"
#include "common/views/top_stacks.h"
#include "common/views/table_view.h"
#include "common/views/tree_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fuzz.h"

static void must(bool good)
{
	if (!good)
		abort();
}

/* The sums seen in between, for captures that are shown on each flush. */
struct seen {
	struct view view;
	uint64_t total;
	struct gather_sums sums;
};

static void look(struct gather *g, struct seen *seen)
{
	struct profile p;

	must(profile_init(&p));
	must(gather_look(g, &p, &seen->view, &seen->sums));
	seen->total += p.total[0];
	profile_release(&p);
}

static void gather_lines(struct gather *g, const char *text, struct seen *seen)
{
	struct buf scratch = { 0 }, error = { 0 };
	char *copy = strdup(text), *line, *save;
	struct record r;

	must(copy);
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!record_parse(&r, line, &scratch, &error))
			continue;
		if (r.type == RECORD_SEGMENT || r.type == RECORD_FLUSH)
			look(g, seen);
		gather_apply(g, &r);
	}
	look(g, seen);
	must(gather_finish(g));
	free(copy);
	buf_release(&scratch);
	buf_release(&error);
}

/* Checks that lines are as folded.h says, and have the profile's weight. tabs: between the parts of a label. */
static void check_folded(const struct profile *p, bool tabs)
{
	struct folded_writer w;
	struct slice line;
	uint64_t sum = 0;

	must(folded_writer_init(&w, p, 1));
	while (folded_writer_next(&w, &line)) {
		const uint8_t *count = memrchr(line.p, ' ', line.n);

		must(line.n < 64 << 10 && line.p[line.n - 1] == '\n' && count);
		for (size_t i = 0; i + 1 < line.n; i++)
			must((line.p[i] >= 0x20 || (tabs && line.p[i] == '\t')) && line.p[i] != 0x7f);
		sum += strtoull((const char *)count, NULL, 10);
	}
	must(!w.line.failed && sum == p->total[0]);
	folded_writer_release(&w);
}

static void check_table(const struct profile *p)
{
	struct table t;
	uint64_t flat = 0;

	must(table_init(&t, p));
	for (size_t i = 0; i < t.n; i++) {
		must(t.rows[i].flat[0] <= t.rows[i].cum[0] && t.rows[i].cum[0] <= p->total[0]);
		flat += t.rows[i].flat[0];
	}
	must(flat <= p->total[0]);
	table_release(&t);
}

/*
 * Checks that no call weighs more than all, and that stacks, and the tree's outermost frames, add up to all.
 */
static void check_views(const struct profile *p)
{
	bool *chosen = calloc(p->labels.n, sizeof(*chosen));
	uint64_t sum = 0, roots = 0, self = 0;
	struct tree_line line;
	struct top_stacks s;
	struct peek k;
	struct tree t;
	size_t n;

	must(chosen);
	memset(chosen, true, p->labels.n);
	must(peek_init(&k, p, chosen));
	for (uint32_t label = 0; label < p->labels.n; label++) {
		const struct peek_call *calls = peek_callers(&k, label, &n);

		for (size_t i = 0; i < n; i++)
			must(calls[i].callee == label && calls[i].weight <= p->total[0]);
		calls = peek_callees(&k, label, &n);
		for (size_t i = 0; i < n; i++)
			must(calls[i].caller == label && !calls[i].command && calls[i].weight <= p->total[0]);
	}
	must(top_stacks_init(&s, p));
	for (size_t i = 0; i < s.n; i++)
		sum += s.list[i].weight;
	must(tree_init(&t, p, p->total[0] / 4, 0));
	while (tree_next(&t, &line)) {
		roots += line.depth ? 0 : line.total;
		self += line.more ? line.total : line.self;
	}
	must(!t.failed && sum == p->total[0] && roots == p->total[0] && self == p->total[0]);
	peek_release(&k);
	top_stacks_release(&s);
	tree_release(&t);
	free(chosen);
}

struct outcome_sums {
	uint64_t total, samples, unresolved;
};

static struct outcome_sums show(const char *text, struct view v, bool apart)
{
	struct outcome_sums sums;
	struct gather_modules modules;
	struct reasons reasons;
	struct profile p;
	struct gather g;
	uint64_t told = 0;
	struct seen seen = { .view = v };

	reasons_init(&reasons);
	gather_modules_init(&modules);
	v.reasons = &reasons;
	v.modules = apart ? &modules : NULL;
	must(profile_init(&p));
	p.stack_max = apart ? 0 : PROFILE_STACK_MAX;
	must(gather_init(&g, &p, 0, &v));
	gather_lines(&g, text, &seen);
	must(seen.total == p.total[0] && seen.sums.samples == g.sums.samples);
	sums = (struct outcome_sums){ p.total[0], g.sums.samples, g.sums.unresolved };
	if (apart)
		must(gather_modules_settle(&modules, &p, 1, PROFILE_STACK_MAX));
	must(p.total[0] == sums.total);
	check_folded(&p, v.parts != 0);
	check_table(&p);
	check_views(&p);
	reasons_sort(&reasons);
	for (size_t i = 0; i < reasons.n; i++)
		told += reasons.list[i].samples;
	must(told <= sums.unresolved);
	gather_release(&g);
	profile_release(&p);
	gather_modules_release(&modules);
	reasons_release(&reasons);
	return sums;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const struct view views[] = {
		{ .keys = { { .by = BY_FUNCTION } }, .n_keys = 1 },
		{ .inlined = true },
		{ .lines = true, .annotate = true },
		{ .inlined = true, .lines = true, .full_paths = true, .annotate = true, .container = true,
		  .truncated = true },
		{ .keys = { { .by = BY_MODULE } }, .n_keys = 1, .inlined = true },
		{ .keys = { { .by = BY_THREAD }, { .by = BY_CPU }, { .by = BY_LINE } }, .n_keys = 3,
		  .inlined = true },
		{ .parts = 1u << BY_FUNCTION | 1u << BY_MODULE | 1u << BY_FILE, .inlined = true,
		  .annotate = true },
		{ .keys = { { .by = BY_LANGUAGE } }, .n_keys = 1, .annotate = true },
		{ .native = NATIVE_ALL, .lines = true },
		{ .native = NATIVE_NONE },
	};
	char *text = malloc(n + 1);
	struct outcome_sums first;

	must(text);
	if (n)
		memcpy(text, p, n);
	text[n] = '\0';
	first = show(text, views[0], false);
	must(first.total == first.samples);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		for (int apart = 0; apart < 2; apart++) {
			struct outcome_sums sums = show(text, views[i], apart);

			must(sums.total == first.total && sums.samples == first.samples);
			/* the innermost frame shown may be another */
			must(views[i].native != NATIVE_LIB || sums.unresolved == first.unresolved);
		}
	}
	free(text);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
