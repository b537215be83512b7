/*
 * Makes rows from edges: cuts them into pages, and makes each run of pushes or pops one row. Otherwise each
 * push is an edge and a row of its own, and half of all rows are such.
 *
 * A run needs a rule of its own, and all tables together have 65,536. The tables of 2,330 installed files
 * would have 40,000 rules if every run became one row; they have 10,000 (and 8 % more rows) if a run must
 * occur four times in its file.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/unwind/edges.h"
#include "common/unwind/ruleset.h"

enum { RUN_BYTES = 16, POP_BYTES = 2, RUN_USES = 4, PAGE_BYTES = 1 << UNWIND_PAGE_SHIFT };

struct maker {
	const struct edges *e;
	const struct unwind_rule *rules; /* the edges' */
	uint32_t *numbers;               /* and their numbers in the table, or RULE_NONE */
	struct ruleset out;
	struct ruleset runs;             /* all possible runs, */
	uint32_t *uses;                  /* and how often each occurs */
	size_t cap_uses;
	bool keep_rbx;
	struct unwind_table *t;
	size_t cap_rows, cap_pages;
	bool failed, too_large;
};

/* A register's save, for bp and bx alike. */
struct place {
	uint8_t how;
	int32_t at;
};

/*
 * In a run a slot holds the register while it is not below rsp: from the push that fills it to the pop that
 * empties it. Returns true if a run with this place so far can take in an edge with place next; cfa is
 * next's, before that of the previous edge. After the pop, next may say "in the register" or still name the
 * slot, which has the same value.
 */
static bool place_joins(struct place *place, struct place next, bool pushes, int64_t before, int64_t cfa)
{
	if (pushes && place->how == UNWIND_SAME && next.how == UNWIND_AT_CFA && next.at < -before && next.at >= -cfa) {
		*place = next;
		return true;
	}
	if (place->how == UNWIND_AT_CFA && place->at < -cfa && next.how == UNWIND_SAME)
		return true;
	return place->how == next.how && place->at == next.at;
}

/* Returns true if the first edge's place means the same in a run. */
static bool place_begins(struct place place, int64_t cfa)
{
	return place.how != UNWIND_AT_CFA || place.at >= -cfa;
}

/* The edges that one row stands for so far, and the contents of that row. Rules made from code are in no run. */
struct run {
	uint32_t start, last; /* where the row is; where the last edge begins */
	struct place bp, bx;
	int64_t cfa;          /* at the last edge */
	int64_t step;         /* 8 for pushes, -8 for pops, 0 before the first */
	uint16_t mask;
};

/* Takes in the next edge as one more push or pop; a pop only if no other instruction fits before it. */
static bool run_steps(struct run *run, const struct edge *e, const struct unwind_rule *r)
{
	int64_t step = r->cfa - run->cfa;
	struct place bp = run->bp, bx = run->bx;

	if (r->kind != UNWIND_CFA_RSP || r->reg || e->start - run->start > RUN_BYTES || (step != 8 && step != -8) ||
	    (run->step && step != run->step) || (step < 0 && e->start - run->last > POP_BYTES) ||
	    !place_joins(&bp, (struct place){ r->bp, r->bp_at }, step > 0, run->cfa, r->cfa) ||
	    !place_joins(&bx, (struct place){ r->bx, r->bx_at }, step > 0, run->cfa, r->cfa))
		return false;
	run->bp = bp;
	run->bx = bx;
	run->mask |= (uint16_t)(1 << (e->start - run->start - 1));
	run->last = e->start;
	run->step = step;
	run->cfa = r->cfa;
	return true;
}

/*
 * Returns how many edges after k one row at this offset (k's own, or the start of a page) can include, and
 * the rule of that row.
 */
static size_t find_run(const struct maker *m, size_t k, uint32_t start, struct unwind_rule *out)
{
	const struct edge *e = m->e->items;
	const struct unwind_rule *first = &m->rules[e[k].rule];
	struct run run = { .start = start, .last = start, .bp = { first->bp, first->bp_at },
			   .bx = { first->bx, first->bx_at }, .cfa = first->cfa };
	uint32_t page_last = start | (PAGE_BYTES - 1);
	size_t i = k + 1;

	if (first->kind != UNWIND_CFA_RSP || first->reg || !place_begins(run.bp, run.cfa) || !place_begins(run.bx, run.cfa))
		return 0;
	while (i < m->e->n && e[i].start <= page_last && run_steps(&run, &e[i], &m->rules[e[i].rule]))
		i++;
	*out = (struct unwind_rule){
		.kind = run.step > 0 ? UNWIND_PUSHES : UNWIND_POPS, .bp = run.bp.how, .bx = run.bx.how,
		.cfa = first->cfa, .bp_at = run.bp.at, .bx_at = (int16_t)run.bx.at, .mask = run.mask,
	};
	return i - k - 1;
}

/* If no frame depends on rbx it is not followed. */
static void drop_rbx(const struct maker *m, struct unwind_rule *rule)
{
	if (!m->keep_rbx && rule->kind >= UNWIND_CFA_RSP && rule->kind != UNWIND_SIGNAL) {
		rule->bx = UNWIND_LOST;
		rule->bx_at = 0;
	}
}

static void count_runs(struct maker *m)
{
	const struct edge *e = m->e->items;

	for (size_t k = 0; k < m->e->n; k++) {
		struct unwind_rule rule;
		size_t n = e[k].rule == EDGE_GAP ? 0 : find_run(m, k, e[k].start, &rule);
		uint32_t number;

		if (!n)
			continue;
		k += n;
		drop_rbx(m, &rule);
		number = ruleset_add(&m->runs, &rule);
		if (number == RULE_NONE)
			continue;
		if (!grow_array(&m->uses, &m->cap_uses, number, sizeof(*m->uses))) {
			m->failed = true;
			return;
		}
		m->uses[number]++;
	}
}

/* Like find_run, but only if the run is frequent enough. */
static size_t find_good_run(const struct maker *m, size_t k, uint32_t start, struct unwind_rule *rule)
{
	size_t n = find_run(m, k, start, rule);
	uint32_t number;

	if (!n)
		return 0;
	drop_rbx(m, rule);
	number = ruleset_find(&m->runs, rule);
	return number != RULE_NONE && m->uses[number] >= RUN_USES ? n : 0;
}

/* Returns the rule's number in the table. */
static uint32_t table_rule(struct maker *m, struct unwind_rule rule)
{
	uint32_t number;

	drop_rbx(m, &rule);
	number = ruleset_add(&m->out, &rule);
	m->failed |= m->out.failed;
	m->too_large |= m->out.too_large;
	return number;
}

static uint32_t edge_rule(struct maker *m, uint32_t rule)
{
	if (m->numbers[rule] == RULE_NONE)
		m->numbers[rule] = table_rule(m, m->rules[rule]);
	return m->numbers[rule];
}

static void add_row(struct maker *m, struct unwind_page *page, uint32_t start, uint32_t rule)
{
	struct unwind_table *t = m->t;

	if (m->failed || m->too_large)
		return;
	if (t->n_rows >= UNWIND_TABLE_ROWS || page->n >= UNWIND_PAGE_ROWS) {
		m->too_large = true;
		return;
	}
	if (!extend_array(&t->rows, &m->cap_rows, t->n_rows, sizeof(*t->rows))) {
		m->failed = true;
		return;
	}
	t->rows[t->n_rows++] = start << 16 | rule;
	page->n++;
}

/* Adds a row to its page; if there is a gap before it there, a row for that, too. */
static void add_page_row(struct maker *m, uint32_t start, uint32_t rule)
{
	struct unwind_table *t = m->t;
	size_t number = start >> UNWIND_PAGE_SHIFT;
	struct unwind_page *page;

	_Static_assert(UINT32_MAX >> UNWIND_PAGE_SHIFT < UNWIND_TABLE_PAGES, "whatever edges there are, their pages fit");
	if (!extend_array(&t->pages, &m->cap_pages, number, sizeof(*t->pages))) {
		m->failed = true;
		return;
	}
	while (t->n_pages <= number)
		t->pages[t->n_pages++] = (struct unwind_page){ (uint32_t)t->n_rows, 0 };
	page = &t->pages[number];
	if (page->n == 0 && start & (PAGE_BYTES - 1))
		add_row(m, page, 0, EDGE_GAP);
	add_row(m, page, start, rule);
}

/* Adds an edge and the run it starts, page by page. Returns the next edge. */
static size_t put_edge(struct maker *m, size_t k)
{
	const struct edge *e = m->e->items;
	uint32_t at = e[k].start;

	for (;;) {
		struct unwind_rule run;
		size_t n = find_good_run(m, k, at, &run);

		add_page_row(m, at, n ? table_rule(m, run) : edge_rule(m, e[k].rule));
		k += n;
		if (n)
			at = e[k].start;
		at |= PAGE_BYTES - 1;
		if (e[k + 1].start - 1 <= at || m->failed || m->too_large)
			return k + 1;
		at++;
	}
}

static void put_edges(struct maker *m)
{
	const struct edge *e = m->e->items;
	size_t k = 0;

	while (k < m->e->n && !m->failed && !m->too_large) {
		if (e[k].rule != EDGE_GAP) {
			k = put_edge(m, k);
			continue;
		}
		/* A page that is all gap has no row. */
		if (e[k].start & (PAGE_BYTES - 1))
			add_page_row(m, e[k].start, EDGE_GAP);
		k++;
	}
}

/* Returns true if any frame depends on rbx. */
static bool needs_rbx(const struct spans *s)
{
	for (size_t i = 0; i < s->n_rules; i++) {
		if (s->rules[i].kind == UNWIND_CFA_RBX)
			return true;
	}
	return false;
}

enum unwind_built rows_of_edges(const struct edges *e, const struct spans *s, struct unwind_table *t)
{
	static const struct unwind_rule gap = { .kind = UNWIND_GAP };
	struct maker m = { .e = e, .rules = s->rules, .t = t, .keep_rbx = needs_rbx(s) };

	m.out.max = UNWIND_TABLE_RULES;
	m.numbers = malloc((s->n_rules + 1) * sizeof(*m.numbers));
	m.failed = !m.numbers || ruleset_add(&m.out, &gap) != EDGE_GAP;
	if (!m.failed) {
		memset(m.numbers, 0xff, s->n_rules * sizeof(*m.numbers));
		count_runs(&m);
		put_edges(&m);
	}
	free(m.numbers);
	free(m.uses);
	ruleset_release(&m.runs);
	t->first_page = e->base >> UNWIND_PAGE_SHIFT;
	t->rules = m.out.items;
	t->n_rules = m.out.n;
	m.out.items = NULL;
	ruleset_release(&m.out);
	return m.failed ? UNWIND_NO_MEMORY : m.too_large ? UNWIND_TOO_LARGE : UNWIND_BUILT;
}
