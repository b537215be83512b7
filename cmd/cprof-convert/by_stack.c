#include "cmd/cprof-convert/collected.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/shared/facts/losses.h"
#include "common/capture/sample_counts.h"
#include "common/export/callgrind.h"
#include "common/compress/gzip.h"
#include "common/export/pprof.h"
#include "common/export/slice_rows.h"
#include "common/select/ends.h"

/* Facts of the ledger, for formats that have comments. */
enum { COMMENTS = 4 };

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Appends the outcomes of the ticks. They are unknown for a capture that cprof did not record. */
static void comment_ledger(const struct loaded *l, struct buf *text)
{
	const struct capture_totals *t = &l->totals;
	size_t said;

	buf_text(text, "ledger: ");
	samples_append(text, t, l->sums.samples, SAMPLES_CALLED);
	buf_text(text, ", ");
	if (t->outcomes[OUTCOME_EXPECTED])
		buf_printf(text, "%" PRIu64 " expected, ", t->outcomes[OUTCOME_EXPECTED]);
	said = text->n;
	losses_print(text, t);
	if (text->n == said)
		buf_text(text, t->outcomes[OUTCOME_EXPECTED] || t->tally[OUTCOME_EXPECTED] ? "nothing lost" : "expected and lost samples unknown");
}

static size_t make_comments(const struct loaded *l, struct buf text[COMMENTS])
{
	struct ends user = ends_of(l->sums.user);

	buf_text(&text[0], creator_name());
	if (!l->streams)
		return 1;
	comment_ledger(l, &text[1]);
	buf_printf(&text[2], "stacks: %" PRIu64 " user, %.2f%% complete, %.2f%% by frame pointers (unverified), %.2f%% "
		   "truncated", user.stacks, percent_of(user.complete, user.stacks),
		   percent_of(user.unverified, user.stacks), percent_of(user.truncated, user.stacks));
	if (user.unknown)
		buf_printf(&text[2], ", %.2f%% ended for an unknown reason",
			   percent_of(user.unknown, user.stacks));
	buf_printf(&text[3], "unresolved: %.2f%% of innermost frames",
		   percent_of(l->sums.unresolved, l->sums.samples));
	return COMMENTS;
}

enum status convert_pprof(struct conversion *c)
{
	struct buf text[COMMENTS] = { 0 }, out = { 0 };
	struct slice comments[COMMENTS], bytes;
	struct gzip *z = gzip_new();
	struct pprof_writer *w;
	struct collected it = { .wakers = true };
	enum status status = collect_all(c, &it);
	struct pprof_about about = { .duration_ns = it.chosen_ns, .comments = comments };

	about.n_comments = make_comments(&it.loaded, text);
	for (size_t i = 0; i < about.n_comments; i++)
		comments[i] = buf_view(&text[i]);
	w = pprof_new(&it.traces, &about);
	if (!w || !z)
		cli_no_memory();
	while (pprof_next(w, &bytes)) {
		gzip_add(z, bytes, &out);
		write_stdout(buf_view(&out));
		buf_clear(&out);
	}
	gzip_end(z, &out);
	if (out.failed || pprof_failed(w))
		cli_no_memory();
	write_stdout(buf_view(&out));
	for (size_t i = 0; i < COMMENTS; i++)
		buf_release(&text[i]);
	buf_release(&out);
	gzip_free(z);
	pprof_free(w);
	traces_release(&it.traces);
	return status;
}

enum status convert_speedscope(struct conversion *c)
{
	struct speedscope_writer *w;
	struct collected it = { .timed = true };
	enum status status = collect_all(c, &it);
	struct speedscope_options o = { c->by, weight_counts(c, &it), c->filters.view.lines, creator_name() };
	struct slice bytes;

	w = speedscope_new(&it.traces, &o);
	if (!w)
		cli_no_memory();
	while (speedscope_next(w, &bytes))
		write_stdout(bytes);
	if (speedscope_failed(w))
		cli_no_memory();
	speedscope_free(w);
	traces_release(&it.traces);
	return status;
}

enum status convert_callgrind(struct conversion *c)
{
	struct callgrind_writer *w;
	struct collected it = { 0 };
	enum status status = collect_all(c, &it);
	struct callgrind_options o = { weight_counts(c, &it), creator_name() };
	struct slice bytes;

	w = callgrind_new(&it.traces, &o);
	if (!w)
		cli_no_memory();
	while (callgrind_next(w, &bytes))
		write_stdout(bytes);
	if (callgrind_failed(w))
		cli_no_memory();
	callgrind_free(w);
	traces_release(&it.traces);
	return status;
}

/* Writes the rows of cprof-fold -o tsv, with the same options. */
enum status convert_tsv(struct conversion *c)
{
	struct filters *f = &c->filters;
	enum status status = STATUS_OK;
	struct loaded sum = { 0 };
	struct origins origins;
	struct slice_rows w;
	struct profile p;
	struct slice bytes;

	if (!profile_init(&p))
		cli_no_memory();
	origins_init(&origins);
	f->view.origins = &origins;
	f->view.moment_ns = SLICE_ROWS_INTERVAL;
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = operand_load(f, *operand, &p, 0, &sum);

		status = s > status ? s : status;
	}
	operands_report(f);
	warn_losses(&sum);
	warn_waits(c, &sum);
	filters_shape(f, &p);
	if (sum.good && status == STATUS_OK && !p.total[0])
		filters_warn_none(f, "the table is empty");
	if (!slice_rows_init(&w, ROWS_TSV, &p, &origins, f->view.moment_ns))
		cli_no_memory();
	while (slice_rows_next(&w, &bytes))
		write_stdout(bytes);
	if (slice_rows_failed(&w))
		cli_no_memory();
	slice_rows_release(&w);
	origins_release(&origins);
	profile_release(&p);
	return sum.good ? status : STATUS_DAMAGED;
}
