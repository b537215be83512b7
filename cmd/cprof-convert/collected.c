#include "cmd/cprof-convert/collected.h"

#include <stdio.h>

#include "cmd/shared/facts/losses.h"
#include "cmd/shared/version.h"
#include "common/capture/sample_counts.h"

const char *creator_name(void)
{
	static char text[100];

	snprintf(text, sizeof(text), "cprof-convert %s", cprof_version);
	return text;
}

void write_stdout(struct slice bytes)
{
	fwrite(bytes.p, 1, bytes.n, stdout); /* stdout keeps the error; it is checked at the end */
}

static bool begin_collecting(void *context)
{
	struct collected *it = context;

	return collect_init(&it->collect, &it->traces, it->view);
}

static const char *collect_record(void *context, const struct record *r)
{
	return collect_apply(&((struct collected *)context)->collect, r);
}

static bool end_collecting(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct collected *it = context;
	bool good = collect_finish(&it->collect);

	*totals = capture_totals(&it->collect.capture);
	*sums = it->collect.sums;
	it->chosen_ns += it->collect.chosen_ns;
	collect_release(&it->collect);
	return good;
}

static bool name_matches(const char *name, void *context)
{
	return regexec(context, name, 0, NULL, 0) == 0;
}

static bool keep_stacks(struct traces *s, const regex_t *expression, bool with)
{
	return !expression || traces_keep(s, name_matches, (void *)(uintptr_t)expression, with);
}

bool weight_counts(const struct conversion *c, const struct collected *it)
{
	const struct view *v = &c->filters.view;

	return it->traces.unit && (v->weight == WEIGHT_NS || (it->traces.counted && !v->ones));
}

static void finish_traces(struct conversion *c, struct collected *it, const struct profile *text)
{
	const struct transform *shape = &c->filters.shape;
	struct traces *s = &it->traces;
	bool weighs = weight_counts(c, it);

	if (text->total[0] > INT64_MAX - (weighs && s->claimed > s->total ? s->claimed : s->total))
		cli_die(STATUS_DAMAGED, "the counts add up to more than 63 bits, the limit of these formats");
	if (!collect_profile(s, text, weighs) || !traces_settle(s, &c->filters.modules, shape->norm) ||
	    !keep_stacks(s, shape->match, true) || !keep_stacks(s, shape->focus, true) ||
	    !keep_stacks(s, shape->exclude, false))
		cli_no_memory();
}

void warn_losses(const struct loaded *l)
{
	struct buf text = { 0 };

	losses_print(&text, &l->totals);
	if (text.n)
		cli_warn("%s", buf_cstr(&text));
	buf_release(&text);
}

void warn_waits(const struct conversion *c, const struct loaded *l)
{
	const struct view *v = &c->filters.view;
	uint64_t waited = samples_waited(&l->totals);
	struct buf text = { 0 };

	/* The sum is of the whole capture, so it is reported only if the samples are, too. */
	if (!waited || v->wall || v->n_events || l->sums.samples != samples_ticks(&l->totals))
		return;
	about_length(waited, &text);
	cli_warn("%s waited, which is left out (--wall)", buf_cstr(&text));
	buf_release(&text);
}

enum status collect_all(struct conversion *c, struct collected *it)
{
	struct operand_taker taker = {
		it, &it->collect.capture, begin_collecting, collect_record, end_collecting, .chooses = true,
	};
	enum status status = STATUS_OK;
	struct profile text;

	it->view = &c->filters.view;
	filters_keep_apart(&c->filters);
	if (!traces_init(&it->traces) || !profile_init(&text))
		cli_no_memory();
	it->traces.timed = it->timed;
	it->traces.wakers = it->wakers;
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = operand_read(&c->filters, *operand, &taker, &text, 0, &it->loaded);

		status = s > status ? s : status;
	}
	operands_report(&c->filters);
	finish_traces(c, it, &text);
	profile_release(&text);
	warn_losses(&it->loaded);
	warn_waits(c, &it->loaded);
	if (!it->loaded.good)
		return STATUS_DAMAGED;
	if (status == STATUS_OK && !it->traces.n_samples)
		filters_warn_none(&c->filters, "the profile is empty");
	return status;
}

