#include "common/unwind/build.h"

#include <stdlib.h>

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

	if (section_eh_frame(b->f, &s) && !read_section(b, &s, SPAN_EH_FRAME))
		return false;
	if (section_find(b->f, ".debug_frame", &s) && !read_section(b, &s, SPAN_DEBUG_FRAME))
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
