#include "common/unwind/build.h"

#include <stdlib.h>

#include "common/base/radix.h"
#include "common/unwind/cfi.h"
#include "common/unwind/edges.h"
#include "common/unwind/golang.h"

/* State of one build. */
struct builder {
	struct elf_file *f;
	struct code_map code;
	struct spans spans;
	struct edges edges;
	struct unwind_table *t;
};

/* Reads one section. Returns false if out of memory. */
static bool read_section(struct builder *b, const struct section *section, enum span_source source)
{
	struct cfi cfi = { .section = *section, .source = source, .code = &b->code };
	bool good;

	cfi.bases = cfi_bases(b->f, section);
	good = cfi_spans(&cfi, &b->spans);
	b->t->functions += cfi.functions;
	b->t->bad += cfi.bad;
	return good;
}

static bool read_sections(struct builder *b)
{
	struct section s;

	if (section_eh_frame(b->f, &s) ? !read_section(b, &s, SPAN_EH_FRAME) : section_lost(b->f, ".eh_frame"))
		return false;
	if (section_find(b->f, ".debug_frame", &s) ? !read_section(b, &s, SPAN_DEBUG_FRAME)
						   : section_lost(b->f, ".debug_frame"))
		return false;
	b->t->bad += !golang_spans(b->f, &b->spans);
	return true;
}

/* Turns the spans into edges, after adding spans for uncovered code that its bytes identify. */
static enum unwind_built make_edges(struct builder *b)
{
	size_t n = b->spans.n;
	enum unwind_built result = edges_of_spans(&b->edges, &b->spans);

	if (result != UNWIND_BUILT)
		return result;
	gap_spans(b->f, &b->code, &b->edges, &b->spans);
	gap_code_spans(b->f, &b->code, &b->edges, &b->spans);
	return b->spans.n == n ? UNWIND_BUILT : edges_of_spans(&b->edges, &b->spans);
}

static enum unwind_built build_rows(struct builder *b)
{
	enum unwind_built result;

	if (!code_map_init(&b->code, b->f) || !read_sections(b))
		return UNWIND_NO_MEMORY;
	result = b->spans.too_large ? UNWIND_TOO_LARGE : make_edges(b);
	if (b->spans.failed)
		return UNWIND_NO_MEMORY;
	if (b->spans.too_large || result != UNWIND_BUILT)
		return b->spans.too_large ? UNWIND_TOO_LARGE : result;
	if (b->spans.n == 0)
		return b->t->bad ? UNWIND_DAMAGED : UNWIND_NOTHING;
	return rows_of_edges(&b->edges, &b->spans, b->t);
}

enum unwind_built unwind_build(struct elf_file *f, struct unwind_table *t)
{
	struct builder b = { .f = f, .t = t };
	enum unwind_built result;

	*t = (struct unwind_table){ 0 };
	if (!unwind_sections_usable(f))
		return UNWIND_NOTHING;
	result = build_rows(&b);
	code_map_release(&b.code);
	spans_release(&b.spans);
	edges_release(&b.edges);
	if (result != UNWIND_BUILT)
		unwind_table_release(t);
	return result;
}

/* --- code without a file --------------------------------------------------------------------- */

enum { CODE_HEAD = 20 };

struct jit_code {
	uint64_t address, size;
	struct slice eh_frame;
};

void unwind_codes_add(struct buf *out, uint64_t address, uint64_t size, struct slice eh_frame)
{
	uint8_t head[CODE_HEAD];

	le64_store(head, address);
	le64_store(head + 8, size);
	le32_store(head + 16, (uint32_t)eh_frame.n);
	buf_bytes(out, head, sizeof(head));
	buf_bytes(out, eh_frame.p, eh_frame.n);
}

/* Reads the next piece. Returns false at the end. */
static bool next_code(struct cursor *c, struct jit_code *code)
{
	uint32_t n;

	if (cursor_left(c) < CODE_HEAD)
		return false;
	code->address = le64_load(c->p);
	code->size = le64_load(c->p + 8);
	n = le32_load(c->p + 16);
	c->p += CODE_HEAD;
	if (n > cursor_left(c))
		return false;
	code->eh_frame = (struct slice){ c->p, n };
	c->p += n;
	return true;
}

static bool is_in_span(const struct jit_code *code, uint64_t start)
{
	return code->address >= start && code->size <= UNWIND_CODES_SPAN &&
	       code->address - start <= UNWIND_CODES_SPAN - code->size;
}

/* Finds the UNWIND_CODES_SPAN bytes with the most pieces. Returns false if out of memory. */
static bool find_span(struct slice codes, uint64_t *start)
{
	struct radix_item *items = malloc((codes.n / CODE_HEAD + 1) * 2 * sizeof(*items)), *sorted;
	struct cursor c = cursor_over(codes.p, codes.n);
	size_t n = 0, best = 0, low = 0;
	struct jit_code code;

	if (!items)
		return false;
	while (next_code(&c, &code))
		items[n++] = (struct radix_item){ code.address, 0 };
	sorted = radix_sort(items, items + codes.n / CODE_HEAD + 1, n);
	*start = 0;
	for (size_t i = 0; i < n; i++) {
		while (sorted[i].key - sorted[low].key >= UNWIND_CODES_SPAN)
			low++;
		if (i - low + 1 > best) {
			best = i - low + 1;
			*start = sorted[low].key;
		}
	}
	free(items);
	return true;
}

/* Reads the entries of one piece, which may speak of nothing else. Returns false if out of memory. */
static bool read_code(const struct jit_code *code, struct unwind_table *t, struct spans *s)
{
	struct elf_segment own = { .offset = code->address, .vaddr = code->address, .filesz = code->size };
	const struct code_map map = { &own, 1 };
	uint64_t end = code->address + ((code->size + 7) & ~UINT64_C(7));
	struct cfi cfi = { .section = { code->eh_frame, end, true }, .source = SPAN_EH_FRAME, .code = &map };
	bool good;

	cfi.bases = (struct encoded_bases){ .section = code->eh_frame.p, .vaddr = end };
	good = cfi_spans(&cfi, s);
	t->functions += cfi.functions;
	t->bad += cfi.bad;
	return good;
}

/* State of one build from pieces. */
struct code_builder {
	struct unwind_table *t;
	struct spans spans, own; /* own: those of one piece, as its .eh_frame has them */
	struct edges edges;
};

/* Adds the spans of one piece, and a gap over the rest of it. Returns false if out of memory. */
static bool add_code(struct code_builder *b, const struct jit_code *code)
{
	static const struct unwind_rule gap = { .kind = UNWIND_GAP };
	bool good;

	spans_undo(&b->own, (struct spans_mark){ 0 });
	good = read_code(code, b->t, &b->own);
	for (size_t i = 0; i < b->own.n; i++) {
		const struct span *span = &b->own.items[i];
		struct unwind_rule rule = b->own.rules[span->rule];

		if (rule.kind != UNWIND_CFA_RSP && rule.kind != UNWIND_CFA_RBP)
			continue;
		rule.reg = UNWIND_FROM_CODE;
		rule.bx = UNWIND_LOST;
		rule.bx_at = 0;
		spans_add(&b->spans, SPAN_CODE, span->start, span_end(span), &rule);
	}
	spans_add(&b->spans, SPAN_CODE, code->address, code->address + code->size, &gap);
	return good && !b->spans.failed;
}

static enum unwind_built build_codes(struct code_builder *b, struct slice codes)
{
	struct cursor c = cursor_over(codes.p, codes.n);
	enum unwind_built result;
	struct jit_code code;
	uint64_t start;

	if (!find_span(codes, &start))
		return UNWIND_NO_MEMORY;
	while (next_code(&c, &code))
		if (is_in_span(&code, start) && !add_code(b, &code))
			return UNWIND_NO_MEMORY;
	if (b->spans.too_large || b->own.too_large)
		return UNWIND_TOO_LARGE;
	if (b->spans.n_rules <= 1)
		return UNWIND_NOTHING;
	result = edges_of_spans(&b->edges, &b->spans);
	return result == UNWIND_BUILT ? rows_of_edges(&b->edges, &b->spans, b->t) : result;
}

enum unwind_built unwind_build_codes(struct slice codes, struct unwind_table *t)
{
	struct code_builder b = { .t = t };
	enum unwind_built result;

	*t = (struct unwind_table){ 0 };
	result = build_codes(&b, codes);
	spans_release(&b.spans);
	spans_release(&b.own);
	edges_release(&b.edges);
	if (result != UNWIND_BUILT)
		unwind_table_release(t);
	return result;
}
