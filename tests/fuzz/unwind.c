/*
 * Fuzzes bytes as an ELF file to make a table of, as the bytes of a table, and as call frame information
 * whose functions may overlap: for those, the table is compared with the spans one by one.
 */
#include "tests/lib/fuzz.h"

#include "common/unwind/cfi.h"
#include "common/unwind/edges.h"

enum { CODE_VADDR = 0x1000, CODE_OFFSET = 0x2340, CODE_BYTES = 1 << 18 };

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns an offset in the table or near it. */
static uint64_t any_offset(const struct unwind_table *t)
{
	size_t page = t->n_pages ? random_below(t->n_pages) : 0;
	uint64_t offset = (t->first_page + page) << UNWIND_PAGE_SHIFT;

	if (t->n_pages && t->pages[page].n && random_below(4))
		return offset + (t->rows[t->pages[page].first + random_below(t->pages[page].n)] >> 16) + random_below(20);
	return random_below(8) ? offset + random_below(1 << 17) : random_u64();
}

static void look_around(const struct unwind_table *t)
{
	for (int i = 0; i < 100; i++) {
		struct unwind_rule r = unwind_table_find(t, any_offset(t));

		demand(r.kind < UNWIND_KINDS && r.kind != UNWIND_PUSHES && r.kind != UNWIND_POPS);
		demand(r.bp < UNWIND_SAVES && r.bx < UNWIND_SAVES);
	}
}

/* Checks that a table that is written and read again is the same. */
static void there_and_back(const struct unwind_table *t)
{
	struct buf bytes = { 0 }, again = { 0 };
	struct unwind_table back;

	unwind_table_write(t, &bytes);
	demand(!bytes.failed && unwind_table_read(&back, buf_view(&bytes)));
	unwind_table_write(&back, &again);
	demand(slice_equal(buf_view(&bytes), buf_view(&again)));
	for (int i = 0; i < 20; i++) {
		uint64_t offset = any_offset(t);
		struct unwind_rule a = unwind_table_find(t, offset), b = unwind_table_find(&back, offset);

		demand(same_rule(&a, &b));
	}
	unwind_table_release(&back);
	buf_release(&bytes);
	buf_release(&again);
}

static void as_file(struct slice all)
{
	struct unwind_table t;
	struct elf_file *f;

	if (elf_open_bytes(all, &f) != ELF_OPENED)
		return;
	if (unwind_build(f, &t) == UNWIND_BUILT) {
		demand(t.n_rules > 0 && t.rules[0].kind == UNWIND_GAP);
		look_around(&t);
		there_and_back(&t);
	} else {
		demand(!t.rules && !t.rows && !t.pages);
	}
	unwind_table_release(&t);
	elf_close(f);
}

static void as_table(struct slice all)
{
	struct unwind_table t;
	struct buf again = { 0 };

	if (unwind_table_read(&t, all)) {
		look_around(&t);
		unwind_table_write(&t, &again);
		demand(slice_equal(all, buf_view(&again)));
	}
	buf_release(&again);
	unwind_table_release(&t);
}

/* Returns the span in force at this offset, or NULL. */
static const struct span *span_at(const struct spans *s, uint64_t offset)
{
	const struct span *best = NULL;

	for (size_t i = 0; i < s->n; i++) {
		if (s->items[i].start <= offset && offset < span_end(&s->items[i]) &&
		    (!best || s->items[i].source < best->source))
			best = &s->items[i];
	}
	return best;
}

/* Returns the rule at this offset, by the rule for padding. */
static struct unwind_rule plain_rule(const struct spans *s, uint64_t offset)
{
	const struct span *span = span_at(s, offset);
	uint64_t before = offset, after = offset;

	if (span)
		return s->rules[span->rule];
	while (!(span = span_at(s, before)) && offset - before <= GAP_FILLED)
		before--;
	while (!span_at(s, after) && after - offset <= GAP_FILLED)
		after++;
	if (!span || !span_at(s, after) || after - before - 1 > GAP_FILLED)
		return (struct unwind_rule){ .kind = UNWIND_GAP };
	return s->rules[span->rule];
}

static bool follows_rbx(const struct spans *s)
{
	for (size_t i = 0; i < s->n_rules; i++) {
		if (s->rules[i].kind == UNWIND_CFA_RBX)
			return true;
	}
	return false;
}

/* Allows that a register restored by a run of pops is still said to be in its slot. */
static void forget_popped(struct unwind_rule *plain, const struct unwind_rule *found)
{
	if (found->kind != UNWIND_CFA_RSP || plain->kind != UNWIND_CFA_RSP)
		return;
	if (plain->bp == UNWIND_AT_CFA && found->bp == UNWIND_SAME && plain->bp_at < -(int64_t)plain->cfa)
		plain->bp = plain->bp_at = 0;
	if (plain->bx == UNWIND_AT_CFA && found->bx == UNWIND_SAME && plain->bx_at < -(int64_t)plain->cfa)
		plain->bx = 0, plain->bx_at = 0;
}

static void compare(const struct spans *s, const struct unwind_table *t)
{
	bool rbx = follows_rbx(s);

	for (int i = 0; i < 60; i++) {
		uint64_t offset = any_offset(t);
		struct unwind_rule found = unwind_table_find(t, offset), plain = plain_rule(s, offset);

		if (!rbx && plain.kind >= UNWIND_CFA_RSP && plain.kind != UNWIND_SIGNAL) {
			plain.bx = UNWIND_LOST;
			plain.bx_at = 0;
		}
		forget_popped(&plain, &found);
		demand(same_rule(&found, &plain));
	}
}

static void as_frames(struct slice all, enum span_source source)
{
	struct elf_segment segment = { CODE_OFFSET, CODE_VADDR, CODE_BYTES, CODE_BYTES, true };
	struct code_map code = { &segment, 1 };
	struct cfi cfi = { .section = { all, 0x100000, random_below(2) }, .source = source, .code = &code,
			   .bases = { all.p, 0x100000, CODE_VADDR, 0x200000 } };
	struct unwind_table t = { 0 };
	struct spans s = { 0 };
	struct edges e = { 0 };

	demand(cfi_spans(&cfi, &s));
	demand(edges_of_spans(&e, &s) == UNWIND_BUILT);
	if (rows_of_edges(&e, &s, &t) == UNWIND_BUILT && s.n) {
		compare(&s, &t);
		there_and_back(&t);
	}
	unwind_table_release(&t);
	spans_release(&s);
	edges_release(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct slice all = { bytes, n };

	random_state = n;
	as_file(all);
	as_table(all);
	as_frames(all, SPAN_EH_FRAME);
	as_frames(all, SPAN_DEBUG_FRAME);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
