#include "common/page/page.h"

#include "common/page/page_data.h"
#include "common/flame/markup.h"
#include "common/page/base64.h"

/*
 * The files of the page, in the directory of this one; the Makefile lists them as dependencies. The symbols
 * are hidden: otherwise gcc loads both addresses from the global offset table, and the linker for aarch64
 * merges the two entries of local labels in one section, so that each file had no bytes.
 */
#define EMBED(symbol, file)                                                                  \
	__asm__(".pushsection .rodata\n"                                                     \
		#symbol ":\n"                                                                \
		"	.incbin \"common/page/" file "\"\n"                                 \
		#symbol "_end:\n"                                                            \
		"	.byte 0\n"                                                           \
		".popsection\n");                                                            \
	extern const uint8_t symbol[] __attribute__((visibility("hidden"))),                 \
		symbol##_end[] __attribute__((visibility("hidden")))

EMBED(page_html, "page.html");
EMBED(page_css, "page.css");
EMBED(page_js_data, "data.js");
EMBED(page_js_tree, "tree.js");
EMBED(page_js_edits, "edits.js");
EMBED(page_js_paint, "paint.js");
EMBED(page_js_table, "table.js");
EMBED(page_js_times, "times.js");
EMBED(page_js_heat, "heat.js");
EMBED(page_js_lanes, "lanes.js");
EMBED(page_js_highlight, "highlight.js");
EMBED(page_js_words, "words.js");
EMBED(page_js_page, "page.js");
EMBED(page_js_export, "export.js");
EMBED(page_js_menu, "menu.js");
EMBED(page_js_print, "print.js");
EMBED(page_js_source, "source.js");
EMBED(page_js_chrome, "chrome.js");

/* Returns false if the file is empty, which happens only in a program that was linked incorrectly. */
static bool append_file(struct buf *out, const uint8_t *begin, const uint8_t *end)
{
	buf_bytes(out, begin, (size_t)(end - begin));
	return end > begin;
}

static bool append_script(struct buf *out)
{
	static const struct {
		const uint8_t *begin, *end;
	} files[] = {
#define SCRIPT_FILE(name) { page_js_##name, page_js_##name##_end }
		SCRIPT_FILE(data), SCRIPT_FILE(tree), SCRIPT_FILE(edits), SCRIPT_FILE(paint),
		SCRIPT_FILE(words), SCRIPT_FILE(table), SCRIPT_FILE(times), SCRIPT_FILE(heat),
		SCRIPT_FILE(lanes), SCRIPT_FILE(highlight), SCRIPT_FILE(page),
		SCRIPT_FILE(export), SCRIPT_FILE(menu), SCRIPT_FILE(print), SCRIPT_FILE(source),
		SCRIPT_FILE(chrome),
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!append_file(out, files[i].begin, files[i].end))
			return false;
	}
	return true;
}

/* Keeps only the base64 text, not the compressed data, which for a large profile takes the most memory. */
static bool append_data(struct buf *out, const struct picture *pic)
{
	struct buf raw = { 0 };
	size_t texts = page_data_append(&raw, pic);

	if (!raw.failed)
		base64_append(out, buf_view(&raw), texts);
	out->failed = out->failed || raw.failed;
	buf_release(&raw);
	return !out->failed;
}

/* A page needs those before HEADING. */
enum part { TITLE, STYLE, SCRIPT, DATA, HEADING, SUBTITLE, SUMMARY, LEDGER, SOURCES, PARTS };

static const char *const marks[PARTS] = { "<!--TITLE-->", "<!--STYLE-->", "<!--SCRIPT-->", "<!--DATA-->",
					    "<!--HEADING-->", "<!--SUBTITLE-->", "<!--SUMMARY-->", "<!--LEDGER-->",
					    "<!--SOURCES-->" };

/* The ledger as text, for viewers that run no scripts. */
static void append_ledger(struct buf *out, const struct picture *pic)
{
	for (size_t i = 0; i < pic->n_facts; i++) {
		buf_text(out, "<div><dt>");
		markup_escape(out, slice_of(pic->facts[i].name));
		buf_text(out, "</dt><dd>");
		markup_escape(out, slice_of(pic->facts[i].value));
		buf_text(out, "</dd></div>");
	}
}

static bool append_part(struct buf *out, const struct picture *pic, enum part part)
{
	const char *summary;

	switch (part) {
	case TITLE:
		markup_escape(out, slice_of(pic->tab ? pic->tab : pic->title));
		return true;
	case STYLE:
		return append_file(out, page_css, page_css_end);
	case SCRIPT:
		return append_script(out);
	case HEADING:
		markup_escape(out, slice_of(pic->title));
		return true;
	case SUBTITLE:
		markup_escape(out, slice_of(pic->subtitle ? pic->subtitle : ""));
		return true;
	case SUMMARY:
		summary = picture_get(pic, "summary");
		markup_escape(out, slice_of(summary ? summary : "Ledger"));
		return true;
	case LEDGER:
		append_ledger(out, pic);
		return true;
	case SOURCES:
		if (pic->sources.n)
			base64_append(out, pic->sources, pic->sources.n);
		return !out->failed;
	default:
		return append_data(out, pic);
	}
}

/* Replaces a part's mark by the part and notes the part in had. Any other comment is copied. */
static bool append_mark(struct buf *out, const struct picture *pic, struct slice mark, bool had[PARTS])
{
	for (unsigned int i = 0; i < PARTS; i++) {
		if (slice_is(mark, marks[i]))
			return had[i] = append_part(out, pic, (enum part)i);
	}
	buf_bytes(out, mark.p, mark.n);
	return !out->failed;
}

bool page_fill(struct buf *out, const struct picture *pic, struct slice text)
{
	const uint8_t *at = text.p, *end = text.p + text.n;
	bool had[PARTS] = { false };

	while (at < end) {
		const uint8_t *mark = memmem(at, (size_t)(end - at), "<!--", 4), *close;

		buf_bytes(out, at, (size_t)((mark ? mark : end) - at));
		if (!mark)
			break;
		close = memmem(mark, (size_t)(end - mark), "-->", 3);
		close = close ? close + 3 : end;
		if (!append_mark(out, pic, (struct slice){ mark, (size_t)(close - mark) }, had))
			return false;
		at = close;
	}
	return !out->failed && had[TITLE] && had[STYLE] && had[SCRIPT] && had[DATA];
}

bool page_append(struct buf *out, const struct picture *pic)
{
	return page_fill(out, pic, (struct slice){ page_html, (size_t)(page_html_end - page_html) });
}
