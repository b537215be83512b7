#include "cmd/cprof-convert/collected.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/shared/input.h"
#include "common/export/perfpipe.h"
#include "common/perfscript/script_write.h"

static void write_bytes(struct slice bytes)
{
	if (bytes.n) /* otherwise p may be NULL */
		fwrite(bytes.p, 1, bytes.n, stdout); /* stdout keeps the error; it is checked at the end */
}

/* These formats take single samples, of captures only. begin is called for each operand. */
static bool begin_samples(void *context)
{
	(void)context;
	return true;
}

static void prepare_samples(struct conversion *c)
{
	struct view *v = &c->filters.view;

	if (v->lines || c->filters.weighed)
		cli_usage("%s does not apply to this format", v->lines ? "-l" : "--weight");
	v->apart = true;
}

static enum status read_samples(struct conversion *c, const struct operand_taker *taker)
{
	struct loaded sum = { 0 };
	enum status status = STATUS_OK;
	struct profile none;

	if (!profile_init(&none))
		cli_no_memory();
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = operand_read(&c->filters, *operand, taker, &none, 0, &sum);

		if (sum.texts)
			cli_die(STATUS_USAGE, "%s: this format requires a capture, not folded text",
				strcmp(*operand, "-") == 0 ? "standard input" : *operand);
		status = s > status ? s : status;
	}
	operands_report(&c->filters);
	warn_waits(c, &sum);
	profile_release(&none);
	if (status == STATUS_OK && !sum.totals.samples)
		cli_warn("no samples");
	else if (status == STATUS_OK && !sum.sums.samples)
		filters_warn_none(&c->filters, "nothing is written");
	return sum.good ? status : STATUS_DAMAGED;
}

static const char *perf_record(void *context, const struct record *r)
{
	struct perf_pipe *p = context;
	const char *wrong = perf_pipe_apply(p, r);

	if (p->out.failed || p->capture.no_memory)
		cli_no_memory();
	write_bytes(buf_view(&p->out));
	if (r->type == RECORD_FLUSH) /* the next program may be waiting */
		fflush(stdout);
	buf_clear(&p->out);
	return wrong;
}

static bool end_perf(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct perf_pipe *p = context;

	*sums = (struct gather_sums){ .samples = p->samples };
	p->samples = 0;
	*totals = capture_totals(&p->capture);
	p->capture.totals = (struct capture_totals){ 0 }; /* the next operand starts at 0 */
	return true;
}

enum status convert_perf(struct conversion *c)
{
	struct perf_pipe p;
	struct operand_taker taker = { &p, &p.capture, begin_samples, perf_record, end_perf, NULL, false };
	enum status status;

	prepare_samples(c);
	if (c->filters.view.native != NATIVE_LIB)
		cli_usage("--native does not apply to this format");
	if (!perf_pipe_init(&p, &c->filters.view))
		cli_no_memory();
	status = read_samples(c, &taker);
	perf_pipe_finish(&p);
	if (p.out.failed)
		cli_no_memory();
	write_bytes(buf_view(&p.out));
	if (p.shortened)
		cli_warn("%" PRIu64 " stack%s lost outer frames: perf has no room for more", p.shortened,
			 p.shortened == 1 ? "" : "s");
	perf_pipe_release(&p);
	return status;
}

static void write_script(struct script_writer *w)
{
	struct slice text;

	while (script_writer_next(w, &text))
		write_bytes(text);
	if (w->failed || w->capture.no_memory)
		cli_no_memory();
}

static const char *script_record(void *context, const struct record *r)
{
	if (r->type == RECORD_SEGMENT)
		write_script(context);
	return script_writer_apply(context, r);
}

static bool end_script(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct script_writer *w = context;

	write_script(w);
	*sums = (struct gather_sums){ .samples = w->written };
	w->written = 0;
	*totals = capture_totals(&w->capture);
	w->capture.totals = (struct capture_totals){ 0 };
	return true;
}

enum status convert_perfscript(struct conversion *c)
{
	struct script_writer w;
	struct operand_taker taker = { &w,		&w.capture, begin_samples, script_record,
				       end_script, NULL,	false };
	enum status status;

	prepare_samples(c);
	if (!script_writer_init(&w, &c->filters.view))
		cli_no_memory();
	status = read_samples(c, &taker);
	script_writer_release(&w);
	return status;
}
