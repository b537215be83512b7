#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-annotate/annotate.h"
#include "common/base/array.h"

enum { GROUPS_MOST = 8, STEP_MOST = 1 << 20, TEXT_MOST = 300, FUNCTION_MOST = 1 << 24 };

/* Addresses with weight, in one function of one file. An inlined function is in several. */
struct point {
	uint32_t module; /* plus 1 */
	uint32_t mapping, location;
	uint64_t entry, offset; /* in the file: of the function, of the address */
	uint64_t total;
};

struct points {
	struct point *items;
	size_t n, cap;
};

/* One function of a file with points in it, while it is shown. */
struct group {
	const struct point *points; /* by offset */
	size_t n;
	uint64_t weight;
	struct elf_file *file;
	uint64_t from, to; /* linked addresses */
	struct instructions list;
	uint64_t *self, *total;	  /* by instruction */
	uint32_t file_text, line; /* place of the instruction before; modules' text */
	struct source_text source;
	bool has_source;
};

static int compare_points(const void *x, const void *y)
{
	const struct point *a = x, *b = y;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->entry != b->entry)
		return a->entry < b->entry ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int compare_groups(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static bool is_same_function(const struct point *a, const struct point *b)
{
	return a->module == b->module && a->entry == b->entry;
}

/* Collects the addresses of function i; those without a symbol have no function to show. */
static void find_points(struct annotate *a, size_t i, struct points *points)
{
	const struct line_sums *l = &a->sums;

	for (uint32_t at = 1; at < l->traces->n_locations; at++) {
		struct code_place place;
		struct module_name name;

		if (!l->location_total[at] || !line_sums_is_of(l, at, i) ||
		    !line_files_place(a->files, l->traces, at, &place))
			continue;
		if (line_files_name(a->files, &place, &name) <= 0 || name.offset > place.offset)
			continue;
		if (!grow_array(&points->items, &points->cap, points->n, sizeof(*points->items)))
			cli_no_memory();
		points->items[points->n++] = (struct point){ a->files->files[place.mapping].module,
							     place.mapping,
							     at,
							     place.offset - name.offset,
							     place.offset,
							     l->location_total[at] };
	}
	if (points->n)
		qsort(points->items, points->n, sizeof(*points->items), compare_points);
}

/* Returns whether the byte at this offset belongs to the function that begins at entry. */
static bool is_inside(struct annotate *a, const struct point *p, uint64_t offset)
{
	struct code_place place = { p->mapping, offset };
	struct module_name name;

	return line_files_name(a->files, &place, &name) > 0 && offset - name.offset == p->entry;
}

/* Returns the offset after the function: searches in growing steps from its last address, then in halves. */
static uint64_t find_end(struct annotate *a, const struct group *g)
{
	const struct point *last = &g->points[g->n - 1];
	uint64_t in = last->offset, step = 16;

	while (step <= STEP_MOST && in - last->entry < FUNCTION_MOST && is_inside(a, last, in + step)) {
		in += step;
		step *= 2;
	}
	for (; step; step /= 2)
		in += is_inside(a, last, in + step) ? step : 0;
	return in + 1;
}

/* Returns the instruction that contains the address, or -1. */
static ptrdiff_t find_instruction(const struct instructions *list, uint64_t address)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (ptrdiff_t)low - 1;
}

/* Sets instruction[location] to the number of the location's instruction, from 1. */
static void place_points(struct group *g, uint32_t *instruction)
{
	for (size_t i = 0; i < g->n; i++) {
		uint64_t address;
		ptrdiff_t at = elf_vaddr(g->file, g->points[i].offset, &address)
				       ? find_instruction(&g->list, address)
				       : -1;

		instruction[g->points[i].location] = (uint32_t)(at + 1);
	}
}

/*
 * Adds each sample to its instructions, once to each: recursion and a return into a call that is also running
 * are two addresses of one instruction.
 */
static void weigh_instructions(struct annotate *a, struct group *g)
{
	const struct traces *s = a->sums.traces;
	uint32_t *instruction = calloc(s->n_locations, sizeof(*instruction));
	size_t *seen = calloc(g->list.n + 1, sizeof(*seen));

	g->self = calloc(g->list.n + 1, sizeof(*g->self));
	g->total = calloc(g->list.n + 1, sizeof(*g->total));
	if (!g->self || !g->total || !instruction || !seen)
		cli_no_memory();
	place_points(g, instruction);
	for (size_t i = 0; i < s->n_samples; i++) {
		uint64_t weight = a->sums.by_weight ? s->samples[i].weight : s->samples[i].samples;

		for (uint32_t node = s->samples[i].node; node; node = s->nodes[node].parent) {
			uint32_t at = instruction[s->nodes[node].location];

			if (!at)
				continue;
			g->self[at - 1] += node == s->samples[i].node ? weight : 0;
			g->total[at - 1] += seen[at - 1] != i + 1 ? weight : 0;
			seen[at - 1] = i + 1;
		}
	}
	free(instruction);
	free(seen);
}

static bool is_near(const struct annotate *a, const struct group *g, size_t i)
{
	size_t from = i > a->context ? i - a->context : 0;

	for (size_t k = from; k < g->list.n && k <= i + a->context; k++) {
		if (g->total[k])
			return true;
	}
	return false;
}

/* Reads the source that the next lines are from, if it is another one. */
static void change_source(struct annotate *a, struct group *g, uint32_t text)
{
	struct slice path = intern_get(modules_texts(a->files->modules), text);
	struct source_origin origin = { .mapping = g->points->mapping };
	struct code_origin code = line_files_origin(a->files, origin.mapping);

	origin.trust = code.trust;
	g->has_source = source_text_read(&g->source, &a->rules, path, &origin, &code) == SOURCE_TEXT_READ;
	g->file_text = text;
}

/* Writes the source line of an instruction, if it is another one than that of the instruction before. */
static void show_line(struct annotate *a, struct group *g, uint64_t offset)
{
	struct code_place place = { g->points->mapping, offset };
	const struct level *levels;
	long n = line_files_levels(a->files, &place, &levels);
	struct sheet_row row = { .label = "", .source = true };
	struct buf text = { 0 };
	struct slice base;
	struct level at;

	if (n <= 0 || !levels[n - 1].file || !levels[n - 1].line)
		return;
	at = levels[n - 1];
	if (at.file == g->file_text && at.line == g->line)
		return;
	if (at.file != g->file_text)
		change_source(a, g, at.file);
	g->line = at.line;
	base = slice_base(intern_get(modules_texts(a->files->modules), at.file));
	source_text_plain(&text, base, TEXT_MOST);
	buf_printf(&text, ":%" PRIu32, at.line);
	if (g->has_source) {
		buf_text(&text, "  ");
		source_text_plain(&text, source_text_line(&g->source, at.line), TEXT_MOST);
	}
	row.text = buf_view(&text);
	sheet_row(&a->sheet, &row);
	buf_release(&text);
}

static void show_instruction(struct annotate *a, struct group *g, size_t i, uint64_t most)
{
	struct instruction *in = &g->list.items[i];
	struct sheet_row row = {
		.weighs = g->total[i], .self = g->self[i], .total = g->total[i], .most = most
	};
	struct buf text = { 0 };
	char label[24];

	show_line(a, g, g->points->entry + (in->address - g->from));
	snprintf(label, sizeof(label), "%" PRIx64, in->address);
	buf_text(&text, "  ");
	source_text_plain(&text, (struct slice){ g->list.text.p + in->text, in->n }, TEXT_MOST);
	row.label = label;
	row.text = buf_view(&text);
	sheet_row(&a->sheet, &row);
	buf_release(&text);
}

static void show_instructions(struct annotate *a, struct group *g)
{
	uint64_t most = 0;
	bool gap = false;

	for (size_t i = 0; i < g->list.n; i++)
		most = g->total[i] > most ? g->total[i] : most;
	sheet_table(&a->sheet, "address");
	for (size_t i = 0; i < g->list.n; i++) {
		if (i > 0 && !is_near(a, g, i)) {
			gap = true;
			continue;
		}
		if (gap)
			sheet_gap(&a->sheet);
		gap = false;
		show_instruction(a, g, i, most);
	}
	if (gap)
		sheet_gap(&a->sheet);
	sheet_table_end(&a->sheet);
}

/* Disassembles the function in its file, which has the recorded build ID. */
static void show_group(struct annotate *a, struct group *g)
{
	struct code_place place = { g->points->mapping, g->points->offset };
	struct buf opened = { 0 };
	enum source_status status = line_files_open(a->files, place.mapping, &g->file, &opened);
	struct module_name name;
	struct slice text = slice_of("");

	if (line_files_name(a->files, &place, &name) > 0)
		text = intern_get(modules_texts(a->files->modules), name.text);
	sheet_note(&a->sheet, "instructions of %.*s in %s", (int)text.n, (const char *)text.p,
		   buf_cstr(&opened));
	if (!g->file) {
		sheet_note(&a->sheet, "  not shown: %s",
			   status == SOURCE_PERMISSION ? "no permission to read the file"
						       : "the file of the recorded build ID is not here");
	} else if (!elf_vaddr(g->file, g->points->entry, &g->from)) {
		sheet_note(&a->sheet, "  not shown: no segment of the file has this code");
	} else {
		g->to = g->from + (find_end(a, g) - g->points->entry);
		instructions_read(&g->list, a->objdump, g->file->fd, g->from, g->to);
		if (g->list.missing)
			cli_die(STATUS_SYSTEM,
				"--asm requires %s, which is not installed (binutils has objdump)",
				a->objdump);
		if (g->list.error.n)
			sheet_note(&a->sheet, "  not shown: %s failed: %s", a->objdump,
				   buf_cstr(&g->list.error));
		weigh_instructions(a, g);
		if (g->list.n)
			show_instructions(a, g);
	}
	source_text_release(&g->source);
	instructions_release(&g->list);
	free(g->self);
	free(g->total);
	elf_close(g->file);
	buf_release(&opened);
}

static struct group *make_groups(const struct points *points, size_t *n)
{
	struct group *groups = calloc(points->n + 1, sizeof(*groups));

	*n = 0;
	if (!groups)
		cli_no_memory();
	for (size_t i = 0; i < points->n; i++) {
		const struct point *p = &points->items[i];

		if (i == 0 || !is_same_function(p, p - 1))
			groups[(*n)++].points = p;
		groups[*n - 1].n++;
		groups[*n - 1].weight += p->total;
	}
	qsort(groups, *n, sizeof(*groups), compare_groups);
	return groups;
}

void annotate_assembly(struct annotate *a, size_t i)
{
	struct points points = { 0 };
	struct group *groups;
	size_t n;

	find_points(a, i, &points);
	groups = make_groups(&points, &n);
	if (!n)
		sheet_note(&a->sheet,
			   "instructions: none, because the function is not in a file that is here");
	for (size_t k = 0; k < n && k < GROUPS_MOST; k++)
		show_group(a, &groups[k]);
	if (n > GROUPS_MOST)
		sheet_note(&a->sheet, "it is inlined into %zu more functions with less weight",
			   n - GROUPS_MOST);
	free(groups);
	free(points.items);
}
