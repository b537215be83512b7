#include "common/flame/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/flame/colour.h"
#include "common/flame/text_width.h"
#include "common/flame/markup.h"
#include "common/stats/interval.h"

enum { PAD = 12 };

/* A node whose children are being drawn. */
struct open {
	size_t at, end; /* the next child; the end of the children */
	double x;       /* x of the next child */
	double rest_x;  /* x of the children too narrow to be drawn */
	size_t rest;    /* number of those children */
};

struct drawing {
	struct buf *out;
	const struct picture *pic;
	double scale;  /* width of the root, pixels */
	double least;  /* width of the narrowest box */
	double top;    /* y of the uppermost row */
	double samples; /* for intervals; 0: none */
	size_t levels; /* number of rows; the first one is the root */
	bool cut;      /* there are more than SVG_LEVELS levels */
	bool measure;  /* only count the levels */
	struct open *open;
	size_t n_open, cap_open;
	char (*colours)[COLOUR_TEXT]; /* by label, empty until one is needed */
};

static void print_count(struct buf *out, uint64_t v)
{
	if (v >= 1000) {
		print_count(out, v / 1000);
		buf_printf(out, ",%03u", (unsigned int)(v % 1000));
	} else {
		buf_printf(out, "%u", (unsigned int)v);
	}
}

/* "1,234 samples", "1.23 s" */
static void print_weight(struct buf *out, const struct picture *pic, uint64_t v)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "\xc2\xb5s", 1e3 } };

	for (size_t i = 0; strcmp(pic->unit, "ns") == 0 && i < sizeof(units) / sizeof(units[0]); i++) {
		if ((double)v >= units[i].ns) {
			buf_printf(out, "%.2f %s", (double)v / units[i].ns, units[i].unit);
			return;
		}
	}
	print_count(out, v);
	buf_byte(out, ' ');
	markup_escape(out, slice_of(v == 1 && strcmp(pic->unit, "events") == 0    ? "event"
				    : v == 1 && strcmp(pic->unit, "samples") == 0 ? "sample"
										  : pic->unit));
}

static double to_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double row_top(const struct drawing *d, size_t level)
{
	size_t row = d->pic->inverted ? level : d->levels - 1 - level;

	return d->top + (double)row * d->pic->look.row;
}

/* The first line has flamegraph.pl's format, which other programs parse. */
static void append_weights(struct drawing *d, const uint64_t *self, const uint64_t *total)
{
	const uint64_t *all = flame_total(d->pic->tree, 0);
	struct buf *out = d->out;

	buf_text(out, " (");
	print_weight(out, d->pic, total[0]);
	buf_printf(out, ", %.2f%%)", to_percent(total[0], all[0]));
	if (self[0] != total[0]) {
		buf_text(out, "\nself ");
		print_weight(out, d->pic, self[0]);
		buf_printf(out, ", %.2f%%", to_percent(self[0], all[0]));
	}
}

/* Returns the number of samples that the weights are estimated from; 0: not known, or not estimated. */
static double count_samples(const struct picture *pic)
{
	for (size_t i = 0; i < pic->n_options; i++) {
		if (strcmp(pic->options[i].name, "samples") == 0)
			return atof(pic->options[i].value);
	}
	return 0;
}

static void append_interval(struct drawing *d, const char *of, uint64_t weight)
{
	uint64_t all = flame_total(d->pic->tree, 0)[0];
	double n = d->samples;
	struct interval i = interval_wilson(n * (double)weight / (double)all, n, INTERVAL_95);

	buf_printf(d->out, "%s %.2f to %.2f %%", of, 100 * i.low, 100 * i.high);
}

/* The intervals of the shares, as in the page. */
static void append_intervals(struct drawing *d, const uint64_t *self, const uint64_t *total)
{
	if (!(d->samples > 0) || !flame_total(d->pic->tree, 0)[0])
		return;
	append_interval(d, "\n95 % interval total", total[0]);
	if (self[0] && self[0] != total[0])
		append_interval(d, ", self", self[0]);
}

static void append_change(struct drawing *d, size_t i, const uint64_t *total)
{
	static const char *const words[] = { "not significant", "significantly less", "significantly more", "new", "gone" };
	const uint64_t *all = flame_total(d->pic->tree, 0);
	double shares[PROFILE_SIDES];

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		shares[side] = to_percent(total[side], all[side]);
		buf_printf(d->out, "%s", side ? "\nafter " : "\nbefore ");
		print_weight(d->out, d->pic, total[side]);
		buf_printf(d->out, ", %.2f%%", shares[side]);
	}
	if (i)
		buf_printf(d->out, "\n%+.2f points, %s", shares[1] - shares[0], words[d->pic->verdicts->nodes[i]]);
}

/* The kind and the module of a frame, as in the page. */
static void append_origin(struct buf *out, const struct flame_label *label)
{
	const char *kind = label->kind != KIND_USER ? kind_name(label->kind) : "";

	if (!*kind && !label->module.n)
		return;
	buf_printf(out, "\n%s%s", kind, *kind && label->module.n ? " \xc2\xb7 " : "");
	markup_escape(out, label->module);
}

static void append_tooltip(struct drawing *d, size_t i)
{
	const struct picture *pic = d->pic;
	struct buf *out = d->out;

	buf_text(out, "<title>");
	if (pic->look.nametype) {
		markup_escape(out, slice_of(pic->look.nametype));
		buf_byte(out, ' ');
	}
	markup_escape(out, i ? flame_label(pic->tree, i)->text : slice_of("all"));
	if (pic->sides > 1)
		append_change(d, i, flame_total(pic->tree, i));
	else
		append_weights(d, flame_self(pic->tree, i), flame_total(pic->tree, i));
	if (pic->sides == 1 && i)
		append_intervals(d, flame_self(pic->tree, i), flame_total(pic->tree, i));
	if (i)
		append_origin(out, flame_label(pic->tree, i));
	buf_text(out, "</title>");
}

static double change_of(const struct picture *pic, size_t i)
{
	const uint64_t *all = flame_total(pic->tree, 0), *total = flame_total(pic->tree, i);
	double change;

	if (!i || pic->verdicts->nodes[i] == VERDICT_NONE || !all[0] || !all[1] || pic->verdicts->greatest <= 0)
		return 0;
	change = ((double)total[1] / (double)all[1] - (double)total[0] / (double)all[0]) / pic->verdicts->greatest;
	return copysign(sqrt(fmin(fabs(change), 1)), change);
}

static const char *fill_of(struct drawing *d, size_t i, char to[COLOUR_TEXT])
{
	const struct picture *pic = d->pic;

	if (pic->sides > 1) {
		colour_change(to, change_of(pic, i));
		return to;
	}
	if (!i) {
		colour_kind(to, pic->look.colors, KIND_ROOT);
		return to;
	}
	if (!d->colours[pic->tree->nodes[i].label][0])
		colour_name(d->colours[pic->tree->nodes[i].label], pic->look.colors, flame_label(pic->tree, i)->kind,
			    flame_label(pic->tree, i)->text);
	return d->colours[pic->tree->nodes[i].label];
}

static void append_rect(struct buf *out, double x, double y, double w, double h, const char *fill)
{
	buf_printf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"%s fill=\"%s\"/>", x, y, w, h,
		   w > 5 ? " rx=\"2\"" : "", fill);
}

/* Marks vanished code by hatching and new code by a corner. */
static void append_marks(struct drawing *d, size_t i, double x, double y, double w, double h)
{
	const uint64_t *total = flame_total(d->pic->tree, i);

	if (d->pic->sides < 2 || w < 1)
		return;
	if (!total[1]) {
		append_rect(d->out, x, y, w, h, "url(#gone)");
	} else if (!total[0]) {
		double size = w < 8 ? w : 8;

		buf_printf(d->out, "<path d=\"M%.2f %.2fh%.2fv%.2fz\" fill=\"#3d434c\"/>", x + w - size, y, size, size);
	}
}

static void append_name(struct drawing *d, size_t i, double x, double y, double w)
{
	const struct look *look = &d->pic->look;
	struct slice name = i ? flame_label(d->pic->tree, i)->text : slice_of("all"), shown;
	double room = w - 6, dots = 0.9 * look->fontsize;

	if (room < 1.6 * look->fontsize)
		return;
	shown = text_width_text(name, room, look->fontsize);
	if (shown.n < name.n) {
		shown = text_width_text(name, room - dots, look->fontsize);
		if (shown.n < 3)
			return;
	}
	buf_printf(d->out, "<text x=\"%.2f\" y=\"%.2f\">", x + 3, y + look->row / 2 + 0.35 * look->fontsize - 0.5);
	markup_escape(d->out, shown);
	buf_text(d->out, shown.n < name.n ? "\xe2\x80\xa6</text>" : "</text>");
}

/* Returns whether a search is active and the node does not match. */
static bool is_pale(const struct picture *pic, size_t i)
{
	return pic->matches && (!i || !pic->matches[pic->tree->nodes[i].label]);
}

static void draw_box(struct drawing *d, size_t i, size_t level, double x, double w)
{
	double y = row_top(d, level), wide = w > 3 ? w - 0.75 : w * 0.9, h = d->pic->look.row - 1;
	char colour[COLOUR_TEXT];

	buf_text(d->out, is_pale(d->pic, i) ? "<g class=\"pale\">" : "<g>");
	append_tooltip(d, i);
	append_rect(d->out, x, y, wide, h, fill_of(d, i, colour));
	append_marks(d, i, x, y, wide, h);
	append_name(d, i, x, y, w);
	buf_text(d->out, "</g>\n");
}

/* Draws adjacent children that are too narrow as one pale bar. */
static void draw_rest(struct drawing *d, struct open *o)
{
	double w = o->x - o->rest_x, y = row_top(d, d->n_open), h = d->pic->look.row - 1;

	if (o->rest && w >= 0.5 && d->n_open >= d->levels)
		d->levels = d->n_open + 1;
	if (o->rest && w >= 0.5 && !d->measure) {
		buf_text(d->out, "<g><title>");
		print_count(d->out, o->rest);
		buf_printf(d->out, " too narrow to be drawn</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
			   "height=\"%.2f\" fill=\"url(#cut)\"/></g>\n", o->rest_x, y + h / 4, w, h / 2);
	}
	o->rest = 0;
}

static bool open_node(struct drawing *d, size_t i, double x)
{
	if (!grow_array(&d->open, &d->cap_open, d->n_open, sizeof(*d->open)))
		return false;
	d->open[d->n_open++] = (struct open){ .at = i + 1, .end = i + d->pic->tree->nodes[i].size, .x = x };
	return true;
}

/* Draws the next child of the innermost open node. */
static bool draw_next(struct drawing *d)
{
	struct open *o = &d->open[d->n_open - 1];
	size_t i = o->at, level = d->n_open;
	double x = o->x, w = picture_share(d->pic, flame_total(d->pic->tree, i)) * d->scale;

	o->at += d->pic->tree->nodes[i].size;
	if (w < d->least) {
		o->rest_x = o->rest++ ? o->rest_x : x;
		o->x += w;
		return true;
	}
	draw_rest(d, o);
	o->x += w;
	if (level >= d->levels)
		d->levels = level + 1;
	if (!d->measure)
		draw_box(d, i, level, x, w);
	if (level + 1 < SVG_LEVELS)
		return open_node(d, i, x);
	d->cut = d->cut || d->pic->tree->nodes[i].size > 1;
	return true;
}

/* Draws from left to right, each box before its callees. measure: only counts levels. */
static bool draw_tree(struct drawing *d, bool measure)
{
	d->measure = measure;
	if (measure)
		d->levels = 1;
	else
		draw_box(d, 0, 0, PAD, d->scale);
	if (!open_node(d, 0, PAD))
		return false;
	while (d->n_open) {
		struct open *o = &d->open[d->n_open - 1];

		if (o->at < o->end) {
			if (!draw_next(d))
				return false;
			continue;
		}
		draw_rest(d, o);
		d->n_open--;
	}
	return true;
}

/* Appends text of the given class. Returns its estimated width. */
static double append_words(struct buf *out, double x, double y, const char *class, struct slice text, double fontsize)
{
	buf_printf(out, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\">", class, x, y);
	markup_escape(out, text);
	buf_text(out, "</text>\n");
	return text_width_width(text, fontsize);
}

static double append_key(struct drawing *d, double x, double y, const char *fill, const char *mark, const char *word)
{
	double size = d->pic->look.fontsize - 1;

	append_rect(d->out, x, y - size + 1, size, size, fill);
	if (mark && mark[0] == 'u')
		append_rect(d->out, x, y - size + 1, size, size, mark);
	else if (mark)
		buf_printf(d->out, "<path d=\"M%.2f %.2fh7v7z\" fill=\"%s\"/>", x + size - 7, y - size + 1, mark);
	x += size + 5;
	return x + append_words(d->out, x, y, "small", slice_of(word), size) + 16;
}

/* Appends the kinds, states of waiting side by side, each with its share of innermost frames, if it has any. */
static void append_kinds(struct drawing *d, double x, double y)
{
	static const enum kind order[KINDS] = {
		KIND_USER, KIND_KERNEL, KIND_INLINED, KIND_JIT, KIND_INTERPRETED, KIND_ROOT,
		KIND_NONAME, KIND_SLEEPING, KIND_UNINTERRUPTIBLE, KIND_QUEUED, KIND_LEFTOUT,
	};
	const struct flame_tree *t = d->pic->tree;
	uint64_t selfs[KINDS] = { 0 }, all = flame_total(t, 0)[0];
	bool seen[KINDS] = { false };
	struct buf words = { 0 };
	char colour[COLOUR_TEXT];

	for (size_t i = 1; i < t->n; i++) {
		seen[flame_label(t, i)->kind] = true;
		selfs[flame_label(t, i)->kind] += flame_self(t, i)[0];
	}
	for (unsigned int i = 0; i < KINDS; i++) {
		if (!seen[order[i]])
			continue;
		buf_clear(&words);
		buf_text(&words, kind_name(order[i]));
		if (selfs[order[i]])
			buf_printf(&words, " %.2f %%", to_percent(selfs[order[i]], all));
		colour_kind(colour, d->pic->look.colors, order[i]);
		x = append_key(d, x, y, colour, NULL, buf_cstr(&words));
	}
	d->out->failed = d->out->failed || words.failed;
	buf_release(&words);
}

static void append_legend(struct drawing *d, double y)
{
	char colour[COLOUR_TEXT];
	double x = PAD;

	if (d->pic->sides > 1) {
		colour_change(colour, -1);
		x = append_key(d, x, y, colour, NULL, "less");
		colour_change(colour, 1);
		x = append_key(d, x, y, colour, NULL, "more");
		colour_change(colour, 0);
		x = append_key(d, x, y, colour, NULL, "no significant change");
		x = append_key(d, x, y, colour, "url(#gone)", "gone");
		append_key(d, x, y, colour, "#3d434c", "new");
		return;
	}
	append_kinds(d, x, y);
}

/* Appends the ledger's lines one after the other in as many rows as needed. Returns the y of the last row. */
static double append_ledger(struct drawing *d, double y)
{
	double size = d->pic->look.fontsize - 1, x = PAD, right = d->pic->look.width - PAD;
	static const char *const first[] = { "summary", "caution" };
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		const char *words = picture_get(d->pic, first[i]);

		if (!words)
			continue;
		append_words(d->out, PAD, y, i ? "caution" : "summary", slice_of(words), size + 1);
		y += size * 1.5;
	}
	for (size_t i = 0; i < d->pic->n_facts; i++) {
		double wide;

		buf_clear(&text);
		buf_printf(&text, "%s: %s", d->pic->facts[i].name, d->pic->facts[i].value);
		wide = text_width_width(buf_view(&text), size) + 16;
		if (x > PAD && x + wide > right) {
			x = PAD;
			y += size * 1.5;
		}
		append_words(d->out, x, y, "small", buf_view(&text), size);
		x += wide;
	}
	d->out->failed = d->out->failed || text.failed;
	buf_release(&text);
	return y;
}

/* Returns how many rows append_ledger will need. */
static size_t ledger_rows(const struct picture *pic)
{
	struct buf nowhere = { 0 };
	struct drawing d = { .out = &nowhere, .pic = pic };
	double rows = append_ledger(&d, 0) / ((pic->look.fontsize - 1) * 1.5);

	buf_release(&nowhere);
	return (size_t)(rows + 1.5);
}

static void append_heading(struct drawing *d)
{
	const struct picture *pic = d->pic;
	const struct look *look = &pic->look;
	const uint64_t *all = flame_total(pic->tree, 0);
	struct buf text = { 0 };
	double y = PAD + look->fontsize + 4;

	append_words(d->out, PAD, y, "title", slice_of(pic->title), look->fontsize + 5);
	for (unsigned int side = 0; side < pic->sides; side++) {
		buf_text(&text, side ? "  \xe2\x86\x92  " : "");
		if (pic->sides > 1)
			markup_escape(&text, slice_of(pic->names[side]));
		buf_text(&text, pic->sides > 1 ? ": " : "");
		print_weight(&text, pic, all[side]);
	}
	buf_printf(d->out, "<text class=\"small\" text-anchor=\"end\" x=\"%.2f\" y=\"%.2f\">", look->width - PAD, y);
	buf_bytes(d->out, text.p, text.n);
	buf_text(d->out, "</text>\n");
	if (pic->subtitle)
		append_words(d->out, PAD, y + look->fontsize * 1.5, "small", slice_of(pic->subtitle), look->fontsize);
	d->out->failed = d->out->failed || text.failed;
	buf_release(&text);
}

/* Boxes keep their colours: dark text on them can be read on any background. */
#define DARK                                                                                       \
	"@media (prefers-color-scheme: dark) {\n"                                                  \
	".back { fill: #14171b; }\n.sheet { background: #14171b; }\n"                             \
	".title, .summary { fill: #e4e8ec; }\n.small { fill: #a6aeb8; }\n"                        \
	".caution { fill: #f2a65e; }\n.pale text { fill: #e4e8ec; }\n.rest { fill: #2d333a; }\n"    \
	"g:hover > rect:first-of-type { stroke: #f5f7fa; }\n}\n"

static void append_head(struct drawing *d, double height)
{
	const struct look *look = &d->pic->look;
	struct buf *out = d->out;

	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" ");
	if (look->fixed)
		buf_printf(out, "width=\"%.0f\" height=\"%.0f\"", look->width, height);
	else
		buf_text(out, "class=\"sheet\" width=\"100%\"");
	buf_printf(out, " viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>", look->width, height);
	markup_escape(out, slice_of(d->pic->tab ? d->pic->tab : d->pic->title));
	buf_text(out, "</title>\n<style>\ntext { font-family: ");
	markup_escape(out, slice_of(look->fonttype));
	buf_printf(out, "; font-size: %.4gpx; fill: #1b1d21; white-space: pre; }\n", look->fontsize);
	buf_printf(out, ".title { font-size: %.4gpx; font-weight: 600; }\n.small { font-size: %.4gpx; fill: #5b626b; }\n",
		   look->fontsize + 5, look->fontsize - 1);
	buf_text(out, ".caution { font-weight: 600; }\n");
	buf_text(out, "g:hover > rect:first-of-type { stroke: #101318; }\n.pale rect { opacity: 0.3; }\n");
	buf_text(out, ".sheet { height: auto; }\n");
	if (!look->background)
		buf_text(out, ".sheet { background: #ffffff; }\n" DARK);
	buf_text(out, "</style>\n");
	buf_text(out, "<defs><pattern id=\"cut\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
		 "<rect class=\"rest\" width=\"4\" height=\"4\" fill=\"#e2e5e9\"/>"
		 "<circle cx=\"2\" cy=\"2\" r=\"0.9\" fill=\"#7b838d\"/></pattern></defs>\n");
	if (d->pic->sides > 1)
		buf_text(out, "<defs><pattern id=\"gone\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
			 "patternTransform=\"rotate(45)\"><path d=\"M0 0V7\" stroke=\"#3d434c\" stroke-opacity=\"0.55\" "
			 "stroke-width=\"2\"/></pattern></defs>\n");
	buf_printf(out, "<rect class=\"back\" width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n",
		   look->background ? look->background : "#ffffff");
}

static bool draw_svg(struct drawing *d)
{
	const struct look *look = &d->pic->look;
	const uint64_t *all = flame_total(d->pic->tree, 0);
	bool empty = !all[0] && !all[1];
	double below, height;

	if (!empty && !draw_tree(d, true))
		return false;
	d->levels = empty ? 3 : d->levels;
	d->top = PAD + look->fontsize + 4 + (d->pic->subtitle ? look->fontsize * 1.5 : 0) + PAD;
	below = d->top + (double)d->levels * look->row + PAD + look->fontsize;
	height = below + (1.75 + 1.5 * (double)(ledger_rows(d->pic) + d->cut)) * (look->fontsize - 1);
	append_head(d, ceil(height));
	append_heading(d);
	if (empty)
		append_words(d->out, PAD, d->top + 1.5 * look->row, "small", slice_of("No samples."), look->fontsize);
	else if (!draw_tree(d, false))
		return false;
	append_legend(d, below);
	below = append_ledger(d, below + 1.75 * (look->fontsize - 1));
	if (d->cut)
		append_words(d->out, PAD, below + 1.5 * (look->fontsize - 1), "small",
			     slice_of("The deepest levels are not drawn."), look->fontsize);
	buf_text(d->out, "</svg>\n");
	return !d->out->failed;
}

bool svg_append(struct buf *out, const struct picture *pic)
{
	struct drawing d = {
		.out = out,
		.pic = pic,
		.samples = count_samples(pic),
		.scale = pic->look.width - 2 * PAD,
		.least = pic->look.minwidth < 0 ? (pic->look.width - 2 * PAD) * -pic->look.minwidth
						: pic->look.minwidth,
		.colours = calloc(pic->tree->n_labels + 1, sizeof(*d.colours)),
	};
	bool good = d.colours && draw_svg(&d);

	free(d.colours);
	free(d.open);
	return good;
}
