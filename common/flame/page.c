#include "common/flame/page.h"

#include "common/flame/block.h"
#include "common/flame/pack.h"

/* The files that the page is made of, as they lie beside this one; the Makefile knows that they are part of it. */
#define EMBED(symbol, file)                                                                  \
	__asm__(".pushsection .rodata\n"                                                     \
		#symbol ":\n"                                                                \
		"	.incbin \"common/flame/" file "\"\n"                                 \
		#symbol "_end:\n"                                                            \
		"	.byte 0\n"                                                           \
		".popsection\n");                                                            \
	extern const uint8_t symbol[], symbol##_end[]

EMBED(page_html, "page.html");
EMBED(page_css, "page.css");
EMBED(page_js_data, "data.js");
EMBED(page_js_tree, "tree.js");
EMBED(page_js_paint, "paint.js");
EMBED(page_js_table, "table.js");
EMBED(page_js_heat, "heat.js");
EMBED(page_js_words, "words.js");
EMBED(page_js_page, "page.js");
EMBED(page_js_chrome, "chrome.js");

static void append_file(struct buf *out, const uint8_t *begin, const uint8_t *end)
{
	buf_bytes(out, begin, (size_t)(end - begin));
}

static void append_script(struct buf *out)
{
	append_file(out, page_js_data, page_js_data_end);
	append_file(out, page_js_tree, page_js_tree_end);
	append_file(out, page_js_paint, page_js_paint_end);
	append_file(out, page_js_words, page_js_words_end);
	append_file(out, page_js_table, page_js_table_end);
	append_file(out, page_js_heat, page_js_heat_end);
	append_file(out, page_js_page, page_js_page_end);
	append_file(out, page_js_chrome, page_js_chrome_end);
}

void page_escape(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '&':
			buf_text(out, "&amp;");
			break;
		case '<':
			buf_text(out, "&lt;");
			break;
		case '>':
			buf_text(out, "&gt;");
			break;
		case '"':
			buf_text(out, "&quot;");
			break;
		case '\'':
			buf_text(out, "&#39;");
			break;
		default:
			buf_byte(out, text.p[i]);
		}
	}
}

/* The compressed data is not kept beside its base64: of a large profile that is what takes the most room. */
static bool append_data(struct buf *out, const struct picture *pic)
{
	struct buf raw = { 0 };
	size_t texts = block_append(&raw, pic);

	if (!raw.failed)
		pack_append(out, buf_view(&raw), texts);
	out->failed = out->failed || raw.failed;
	buf_release(&raw);
	return !out->failed;
}

static bool append_part(struct buf *out, const struct picture *pic, struct slice mark)
{
	if (slice_is(mark, "<!--TITLE-->"))
		page_escape(out, slice_of(pic->title));
	else if (slice_is(mark, "<!--STYLE-->"))
		append_file(out, page_css, page_css_end);
	else if (slice_is(mark, "<!--SCRIPT-->"))
		append_script(out);
	else if (slice_is(mark, "<!--DATA-->"))
		return append_data(out, pic);
	else
		buf_bytes(out, mark.p, mark.n);
	return !out->failed;
}

bool page_append(struct buf *out, const struct picture *pic)
{
	const uint8_t *at = page_html, *end = page_html_end;

	while (at < end) {
		const uint8_t *mark = memmem(at, (size_t)(end - at), "<!--", 4), *close;

		append_file(out, at, mark ? mark : end);
		if (!mark)
			break;
		close = memmem(mark, (size_t)(end - mark), "-->", 3);
		close = close ? close + 3 : end;
		if (!append_part(out, pic, (struct slice){ mark, (size_t)(close - mark) }))
			return false;
		at = close;
	}
	return !out->failed;
}
