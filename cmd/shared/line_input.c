#include "cmd/shared/line_input.h"

/* Each capture is read by the command's view, which is complete by now, but with names for inlined functions.
 */
static bool begin_lines(void *context)
{
	struct line_input *in = context;

	in->view = *in->from;
	in->view.inlined = true;
	in->view.modules = &in->modules;
	in->view.alike = NULL;
	if (!collect_init(&in->collect, &in->traces, &in->view))
		return false;
	in->collect.note_file = line_files_note;
	in->collect.note_context = &in->files;
	return true;
}

static const char *take_lines(void *context, const struct record *r)
{
	return collect_apply(&((struct line_input *)context)->collect, r);
}

static bool end_lines(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct line_input *in = context;
	bool good = collect_finish(&in->collect);

	*totals = capture_totals(&in->collect.capture);
	*sums = in->collect.sums;
	collect_release(&in->collect);
	return good;
}

void line_input_begin(struct line_input *in, const struct view *view, const struct symbol_files *files)
{
	struct modules_options o = { .symfs = files->symfs,
				     .debuginfod = files->debuginfod,
				     .demangle = DEMANGLE_SIMPLIFIED };

	o.debug_dirs = files->n_debug_dirs ? files->debug_dirs : NULL;
	o.n_debug_dirs = files->n_debug_dirs;
	*in = (struct line_input){ .from = view };
	in->taker = (struct operand_taker){
		.context = in, .capture = &in->collect.capture, .begin = begin_lines,
		.record = take_lines, .end = end_lines, .chooses = true
	};
	gather_modules_init(&in->modules);
	if (!traces_init(&in->traces) || !line_files_init(&in->files, &o))
		cli_no_memory();
}

static bool is_match(const char *name, void *context)
{
	return regexec(context, name, 0, NULL, 0) == 0;
}

/* Names are known only after the files here have been asked, so line_sums filters by them. */
static struct line_filter filter_by(const regex_t *expression, bool with)
{
	return (struct line_filter){ expression ? is_match : NULL, (void *)(uintptr_t)expression, with };
}

void line_input_sum(struct line_input *in, const struct filters *f, struct line_sums *sums)
{
	struct traces *s = &in->traces;
	struct line_options o = { .filters = { filter_by(f->shape.match, true),
					       filter_by(f->shape.focus, true),
					       filter_by(f->shape.exclude, false) } };

	o.by_weight = s->unit && (f->view.weight == WEIGHT_NS || (s->counted && !f->view.ones));
	if (!traces_settle(s, &in->modules, false) || !line_sums_init(sums, s, &in->files, &o))
		cli_no_memory();
}

void line_input_end(struct line_input *in)
{
	traces_release(&in->traces);
	line_files_release(&in->files);
	gather_modules_release(&in->modules);
}
