#include "common/annotate/excerpt.h"

/* Returns the line where a function begins that is not inlined, if it is in this file. */
static uint32_t find_entry(struct line_sums *sums, const struct function_sum *f, uint32_t file)
{
	const struct level *levels;
	struct code_place place;
	struct module_name name;
	struct slice path;
	long n;

	if (!f->location || !line_files_place(sums->files, sums->traces, f->location, &place) ||
	    line_files_name(sums->files, &place, &name) <= 0 || name.offset > place.offset)
		return 0;
	place.offset -= name.offset;
	n = line_files_levels(sums->files, &place, &levels);
	if (n <= 0 || !levels[0].file)
		return 0;
	path = intern_get(modules_texts(sums->files->modules), levels[0].file);
	return slice_equal(path, line_sums_text(sums, file)) ? levels[0].line : 0;
}

void excerpt_begin(struct excerpt *e, struct line_sums *sums, size_t i, uint32_t first, uint32_t context)
{
	const struct function_sum *f = &sums->functions[i];
	const struct line_sum *lines = &sums->lines[f->first];

	*e = (struct excerpt){
		.sums = &lines[first], .file = lines[first].file, .context = context, .end = first
	};
	for (; e->end < f->n && lines[e->end].file == e->file; e->end++) {
		e->self += lines[e->end].self;
		e->total += lines[e->end].total;
	}
	e->n = e->end - first;
	e->entry = e->file ? find_entry(sums, f, e->file) : 0;
}

static bool give_sum(struct excerpt *e, struct excerpt_row *row)
{
	row->sum = &e->sums[e->next++];
	row->line = row->sum->line;
	row->gap = false;
	row->text = (struct slice){ (const uint8_t *)"", 0 };
	return true;
}

/* Returns the next line that has weight or is close before one, 0 if there is none. */
static uint32_t near_line(const struct excerpt *e)
{
	uint32_t line = e->at + 1;

	for (uint32_t i = e->next; i < e->n; i++) {
		uint32_t to = e->sums[i].line, from = to > e->context ? to - e->context : 1;

		if (line < to && line >= from)
			return line;
		if (line <= to)
			return from > line ? from : to;
	}
	return 0;
}

/* Returns whether the line is close after the last one with weight. */
static bool is_after(const struct excerpt *e, uint32_t line)
{
	return e->next && line - e->sums[e->next - 1].line <= e->context && line <= e->text->n_lines;
}

bool excerpt_next(struct excerpt *e, struct excerpt_row *row)
{
	uint32_t line;

	if (!e->text || !e->file || (e->next < e->n && e->sums[e->next].line == 0))
		return e->next < e->n && give_sum(e, row);
	if (!e->begun && e->entry && e->next < e->n &&
	    (uint64_t)e->entry + e->context < e->sums[e->next].line)
		line = e->entry;
	else
		line = e->at && is_after(e, e->at + 1) ? e->at + 1 : near_line(e);
	e->begun = true;
	if (!line)
		return false;
	row->gap = e->at && line > e->at + 1;
	row->line = e->at = line;
	row->sum = e->next < e->n && e->sums[e->next].line == line ? &e->sums[e->next++] : NULL;
	row->text = source_text_line(e->text, line);
	return true;
}

bool excerpt_is_beyond(const struct excerpt *e)
{
	return e->text && e->n && e->sums[e->n - 1].line > e->text->n_lines;
}
