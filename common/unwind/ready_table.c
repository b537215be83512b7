/* Finished tables: lookup, writing, reading. */
#include <stdlib.h>

#include "common/base/le.h"
#include "common/base/search.h"
#include "common/unwind/build.h"

enum {
	PAGE_BYTES = 1 << UNWIND_PAGE_SHIFT,
	HEAD_BYTES = 48, RULE_BYTES = 16, ROW_BYTES = 4, PAGE_COUNT_BYTES = 4,
	MAGIC = 0x31545755, /* "UWT1" */
};

void unwind_table_release(struct unwind_table *t)
{
	free(t->rules);
	free(t->rows);
	free(t->pages);
	*t = (struct unwind_table){ 0 };
}

/* Returns the rule d bytes after its row. */
static struct unwind_rule resolve_run(struct unwind_rule r, uint32_t d)
{
	uint32_t mask = d < 16 ? r.mask & ((1U << d) - 1) : r.mask;
	int32_t steps = __builtin_popcount(mask);

	if (r.kind != UNWIND_PUSHES && r.kind != UNWIND_POPS)
		return r;
	r.cfa += r.kind == UNWIND_PUSHES ? 8 * steps : -8 * steps;
	r.kind = UNWIND_CFA_RSP;
	r.mask = 0;
	if (r.bp == UNWIND_AT_CFA && r.bp_at < -(int64_t)r.cfa) {
		r.bp = UNWIND_SAME;
		r.bp_at = 0;
	}
	if (r.bx == UNWIND_AT_CFA && r.bx_at < -(int64_t)r.cfa) {
		r.bx = UNWIND_SAME;
		r.bx_at = 0;
	}
	return r;
}

struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t offset)
{
	static const struct unwind_rule gap = { .kind = UNWIND_GAP };
	uint64_t number = (offset >> UNWIND_PAGE_SHIFT) - t->first_page;
	uint32_t within = offset & (PAGE_BYTES - 1), row;
	const uint32_t *rows;

	if (offset >> UNWIND_PAGE_SHIFT < t->first_page || number >= t->n_pages || t->pages[number].n == 0)
		return gap;
	rows = t->rows + t->pages[number].first;
	row = rows[SEARCH_COUNT(t->pages[number].n, i, rows[i] >> 16 <= within) - 1]; /* the first row is at offset 0 */
	return resolve_run(t->rules[row & 0xffff], within - (row >> 16));
}

static void write_rule(uint8_t *p, const struct unwind_rule *r)
{
	p[0] = r->kind;
	p[1] = r->reg;
	p[2] = r->bp;
	p[3] = r->bx;
	le32_store(p + 4, (uint32_t)r->cfa);
	le32_store(p + 8, (uint32_t)r->bp_at);
	le16_store(p + 12, (uint16_t)r->bx_at);
	le16_store(p + 14, r->mask);
}

static struct unwind_rule read_rule(const uint8_t *p)
{
	return (struct unwind_rule){
		.kind = p[0], .reg = p[1], .bp = p[2], .bx = p[3],
		.cfa = (int32_t)le32_load(p + 4),
		.bp_at = (int32_t)le32_load(p + 8),
		.bx_at = (int16_t)le16_load(p + 12),
		.mask = le16_load(p + 14),
	};
}

void unwind_table_write(const struct unwind_table *t, struct buf *out)
{
	uint8_t *p;

	if (!buf_reserve(out, HEAD_BYTES + t->n_rules * RULE_BYTES + t->n_rows * ROW_BYTES +
				      t->n_pages * PAGE_COUNT_BYTES))
		return;
	p = out->p + out->n;
	le32_store(p, MAGIC);
	le32_store(p + 4, (uint32_t)t->n_rules);
	le32_store(p + 8, (uint32_t)t->n_rows);
	le32_store(p + 12, (uint32_t)t->n_pages);
	le64_store(p + 16, t->first_page);
	le64_store(p + 24, t->functions);
	le64_store(p + 32, t->bad);
	le64_store(p + 40, 0);
	p += HEAD_BYTES;
	for (size_t i = 0; i < t->n_rules; i++, p += RULE_BYTES)
		write_rule(p, &t->rules[i]);
	for (size_t i = 0; i < t->n_rows; i++, p += ROW_BYTES)
		le32_store(p, t->rows[i]);
	for (size_t i = 0; i < t->n_pages; i++, p += PAGE_COUNT_BYTES)
		le32_store(p, t->pages[i].n);
	out->n = (size_t)(p - out->p);
}

/* Returns true if a walk can follow the rule without checks of its numbers; unused fields must be 0. */
static bool rule_is_good(const struct unwind_rule *r)
{
	bool run = r->kind == UNWIND_PUSHES || r->kind == UNWIND_POPS;
	bool deref = r->kind == UNWIND_DEREF_RSP || r->kind == UNWIND_DEREF_RBP;
	bool reg = r->kind == UNWIND_CFA_REG || r->kind == UNWIND_RA_REG || r->kind == UNWIND_PLT;
	bool frame = r->kind >= UNWIND_CFA_RSP && r->kind != UNWIND_SIGNAL;
	bool bp_at = r->bp == UNWIND_AT_CFA || r->bp == UNWIND_AT_RBP || r->bp == UNWIND_IS_CFA;

	if (r->kind >= UNWIND_KINDS || r->bp >= UNWIND_SAVES || (r->bx != UNWIND_SAME && r->bx != UNWIND_AT_CFA &&
	    r->bx != UNWIND_LOST))
		return false;
	if (!frame && (r->bp || r->bx || r->cfa))
		return false;
	if (reg ? r->reg >= UNWIND_RIP : r->reg > (r->kind == UNWIND_CFA_RSP || r->kind == UNWIND_CFA_RBP ? UNWIND_FROM_CODE : 0))
		return false;
	if (run && (r->cfa > INT32_MAX / 2 || r->cfa < INT32_MIN / 2)) /* steps are added to it */
		return false;
	return (run || deref || r->mask == 0) && (bp_at || r->bp_at == 0) && (r->bx == UNWIND_AT_CFA || r->bx_at == 0);
}

static bool read_rules(struct unwind_table *t, const uint8_t *p)
{
	for (size_t i = 0; i < t->n_rules; i++) {
		t->rules[i] = read_rule(p + i * RULE_BYTES);
		if (!rule_is_good(&t->rules[i]))
			return false;
	}
	return t->n_rules > 0 && t->rules[0].kind == UNWIND_GAP;
}

static bool read_rows(struct unwind_table *t, const uint8_t *p)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		t->rows[i] = le32_load(p + i * ROW_BYTES);
		if ((t->rows[i] & 0xffff) >= t->n_rules)
			return false;
	}
	return true;
}

/* Checks a page's rows: the first at offset 0, then ascending. */
static bool page_is_good(const uint32_t *rows, uint32_t n)
{
	if (n > UNWIND_PAGE_ROWS || (n && rows[0] >> 16 != 0))
		return false;
	for (uint32_t i = 1; i < n; i++) {
		if (rows[i] >> 16 <= rows[i - 1] >> 16)
			return false;
	}
	return true;
}

static bool read_pages(struct unwind_table *t, const uint8_t *p)
{
	size_t first = 0;

	for (size_t i = 0; i < t->n_pages; i++) {
		uint32_t n = le32_load(p + i * PAGE_COUNT_BYTES);

		if (n > t->n_rows - first || !page_is_good(t->rows + first, n))
			return false;
		t->pages[i] = (struct unwind_page){ (uint32_t)first, n };
		first += n;
	}
	return first == t->n_rows;
}

bool unwind_table_read(struct unwind_table *t, struct slice bytes)
{
	const uint8_t *p = bytes.p;
	bool good;

	*t = (struct unwind_table){ 0 };
	if (bytes.n < HEAD_BYTES || le32_load(p) != MAGIC || le64_load(p + 40) != 0)
		return false;
	t->n_rules = le32_load(p + 4);
	t->n_rows = le32_load(p + 8);
	t->n_pages = le32_load(p + 12);
	t->first_page = le64_load(p + 16);
	t->functions = le64_load(p + 24);
	t->bad = le64_load(p + 32);
	good = t->n_rules <= UNWIND_TABLE_RULES && t->n_rows <= UNWIND_TABLE_ROWS && t->n_pages <= UNWIND_TABLE_PAGES &&
	       t->first_page <= UINT64_MAX >> UNWIND_PAGE_SHIFT &&
	       bytes.n - HEAD_BYTES == t->n_rules * RULE_BYTES + t->n_rows * ROW_BYTES + t->n_pages * PAGE_COUNT_BYTES;
	if (good) {
		t->rules = malloc((t->n_rules + 1) * sizeof(*t->rules));
		t->rows = malloc((t->n_rows + 1) * sizeof(*t->rows));
		t->pages = malloc((t->n_pages + 1) * sizeof(*t->pages));
		p += HEAD_BYTES;
		good = t->rules && t->rows && t->pages && read_rules(t, p) &&
		       read_rows(t, p + t->n_rules * RULE_BYTES) &&
		       read_pages(t, p + t->n_rules * RULE_BYTES + t->n_rows * ROW_BYTES);
	}
	if (!good)
		unwind_table_release(t);
	return good;
}
