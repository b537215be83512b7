/*
 * cprof-convert: captures and folded text as what other programs read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd/filters.h"
#include "common/export/callgrind.h"
#include "common/export/collect.h"
#include "common/export/gzip.h"
#include "common/export/json.h"
#include "common/export/pprof.h"
#include "common/export/speedscope.h"
#include "common/export/stacks.h"
#include "common/profile/ends.h"
#include "common/profile/label.h"

static const char usage[] = "cprof-convert -t FORMAT [--by thread|process|all]\n       " FILTER_USAGE
			    "\n       [FILE ...]";

enum { CONVERT_BY = FILTERS_END };

static const char creator[] = "cprof-convert " CPROF_VERSION;

static const struct option options[] = {
	FILTER_ROWS,
	{ "by", required_argument, NULL, CONVERT_BY },
	{ "format", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* What is to be made of what. */
struct conversion {
	struct filters filters;
	char **operands;
	enum speedscope_by by;
	bool has_by;
};

static void no_memory(void)
{
	cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
}

static void put(struct slice bytes)
{
	fwrite(bytes.p, 1, bytes.n, stdout); /* a failure stays with stdout, which is asked at the end */
}

/* Everything that was asked for, as stacks by address. */
struct collected {
	struct collect collect;
	struct stacks stacks;
	struct loaded loaded;
	const struct view *view;
};

static bool begin_collecting(void *context)
{
	struct collected *it = context;

	return collect_init(&it->collect, &it->stacks, it->view);
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
	collect_release(&it->collect);
	return good;
}

static bool name_matches(const char *name, void *context)
{
	return regexec(context, name, 0, NULL, 0) == 0;
}

static void settle(struct conversion *c, struct collected *it, const struct profile *text)
{
	struct filters *f = &c->filters;

	if (text->total[0] > INT64_MAX - it->stacks.total)
		cli_die(STATUS_DAMAGED, "the counts add up to more than 63 bits, which no format has");
	if (!collect_profile(&it->stacks, text) || !stacks_settle(&it->stacks, &f->modules) ||
	    (f->has_match && !stacks_keep(&it->stacks, name_matches, &f->match)))
		no_memory();
}

/* Reads all operands; the status to end with if all goes well from here. */
static enum status collect_all(struct conversion *c, struct collected *it)
{
	struct filters_taker taker = { it, begin_collecting, collect_record, end_collecting };
	enum status status = STATUS_OK;
	struct profile text;

	*it = (struct collected){ .view = &c->filters.view };
	filters_keep_apart(&c->filters);
	if (!stacks_init(&it->stacks) || !profile_init(&text))
		no_memory();
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = filters_read(&c->filters, *operand, &taker, &text, 0, &it->loaded);

		status = s > status ? s : status;
	}
	settle(c, it, &text);
	profile_release(&text);
	if (!it->loaded.good)
		return STATUS_DAMAGED;
	if (status == STATUS_OK && !it->stacks.n_samples)
		cli_warn("no sample counts, the profile is empty");
	return status;
}

/* The ledger as sentences, for formats that have a place for them. */
enum { COMMENTS = 4 };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static size_t comment(const struct loaded *l, struct buf text[COMMENTS])
{
	const struct capture_totals *t = &l->totals;
	struct ends user = ends_of(l->sums.user);

	buf_text(&text[0], creator);
	if (!l->streams)
		return 1;
	buf_printf(&text[1], "ledger: %" PRIu64 " samples in %.2f s, %" PRIu64 " expected, ", t->samples,
		   (double)t->seconds_ns / 1e9, t->outcomes[OUTCOME_EXPECTED]);
	losses_print(&text[1], t);
	if (!losses_count(t) && !t->outcomes[OUTCOME_SIDEBAND_LOST])
		buf_text(&text[1], "nothing lost");
	buf_printf(&text[2], "stacks: %" PRIu64 " user, %.2f%% complete, %.2f%% by frame pointers (unverified), %.2f%% "
		   "truncated", user.stacks, percent(user.complete, user.stacks), percent(user.unverified, user.stacks),
		   percent(user.truncated, user.stacks));
	buf_printf(&text[3], "unresolved: %.2f%% of innermost frames", percent(l->sums.unresolved, l->sums.samples));
	return COMMENTS;
}

static enum status convert_pprof(struct conversion *c)
{
	struct buf text[COMMENTS] = { 0 }, out = { 0 };
	struct slice comments[COMMENTS], bytes;
	struct gzip *z = gzip_new();
	struct pprof_writer *w;
	struct collected it;
	enum status status = collect_all(c, &it);
	struct pprof_about about = { .duration_ns = it.loaded.totals.seconds_ns, .comments = comments };

	about.n_comments = comment(&it.loaded, text);
	for (size_t i = 0; i < about.n_comments; i++)
		comments[i] = buf_view(&text[i]);
	w = pprof_new(&it.stacks, &about);
	if (!w || !z)
		no_memory();
	while (pprof_next(w, &bytes)) {
		gzip_add(z, bytes, &out);
		put(buf_view(&out));
		buf_clear(&out);
	}
	gzip_end(z, &out);
	if (out.failed || pprof_failed(w))
		no_memory();
	put(buf_view(&out));
	for (size_t i = 0; i < COMMENTS; i++)
		buf_release(&text[i]);
	buf_release(&out);
	gzip_free(z);
	pprof_free(w);
	stacks_release(&it.stacks);
	return status;
}

/* --weight ns counts what captures say; folded text has one weight. */
static bool by_weight(const struct conversion *c, const struct collected *it)
{
	return c->filters.view.weight == WEIGHT_NS && it->stacks.unit;
}

static enum status convert_speedscope(struct conversion *c)
{
	struct speedscope_writer *w;
	struct collected it;
	enum status status = collect_all(c, &it);
	struct speedscope_options o = { c->by, by_weight(c, &it), c->filters.view.lines, creator };
	struct slice bytes;

	w = speedscope_new(&it.stacks, &o);
	if (!w)
		no_memory();
	while (speedscope_next(w, &bytes))
		put(bytes);
	if (speedscope_failed(w))
		no_memory();
	speedscope_free(w);
	stacks_release(&it.stacks);
	return status;
}

static enum status convert_callgrind(struct conversion *c)
{
	struct callgrind_writer *w;
	struct collected it;
	enum status status = collect_all(c, &it);
	struct callgrind_options o = { by_weight(c, &it), creator };
	struct slice bytes;

	w = callgrind_new(&it.stacks, &o);
	if (!w)
		no_memory();
	while (callgrind_next(w, &bytes))
		put(bytes);
	if (callgrind_failed(w))
		no_memory();
	callgrind_free(w);
	stacks_release(&it.stacks);
	return status;
}

/*
 * The formats: what -t says, and the function, which reads the operands, writes to stdout and returns the status to end
 * with if that goes well; whether it is binary; whether this build knows it (NULL: always).
 */
static const struct format {
	const char *name;
	enum status (*convert)(struct conversion *c);
	bool binary;
	bool (*known)(void);
} formats[] = {
	{ "pprof", convert_pprof, true, pprof_known },
	{ "speedscope", convert_speedscope, false, json_known },
	{ "callgrind", convert_callgrind, false, NULL },
};

static const struct format *find_format(const char *name)
{
	struct buf names = { 0 };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
		buf_printf(&names, "%s%s", i ? ", " : "", formats[i].name);
	}
	cli_usage("-t: \"%s\" is none of %s", name, buf_cstr(&names));
}

static void set_by(struct conversion *c, const char *argument)
{
	static const char *const names[] = {
		[SPEEDSCOPE_THREAD] = "thread",
		[SPEEDSCOPE_PROCESS] = "process",
		[SPEEDSCOPE_ALL] = "all",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) == 0) {
			c->by = (enum speedscope_by)i;
			c->has_by = true;
			return;
		}
	}
	cli_usage("--by: \"%s\" is none of thread, process and all", argument);
}

static const struct format *read_options(struct conversion *c, int argc, char **argv)
{
	const struct format *format = NULL;
	int option;

	while ((option = getopt_long(argc, argv, FILTER_LETTERS "t:hV", options, NULL)) != -1) {
		if (filters_option(&c->filters, option, optarg))
			continue;
		if (option == 't')
			format = find_format(optarg);
		else if (option == CONVERT_BY)
			set_by(c, optarg);
		else if (option == 'h')
			cli_help();
		else if (option == 'V')
			cli_version();
		else
			cli_usage(NULL);
	}
	filters_check(&c->filters);
	if (!format)
		cli_usage("-t FORMAT is missing");
	if (c->has_by && format->convert != convert_speedscope)
		cli_usage("--by is for -t speedscope");
	if (format->known && !format->known())
		cli_usage("-t %s: this cprof was built without the library that it needs", format->name);
	return format;
}

int main(int argc, char **argv)
{
	static char *standard_input[] = { (char *)"-", NULL };
	struct conversion conversion = { 0 };
	const struct format *format;
	enum status status;

	cli_begin("cprof-convert", usage);
	format = read_options(&conversion, argc, argv);
	if (format->binary)
		cli_refuse_terminal();
	conversion.operands = argv[optind] ? argv + optind : standard_input;
	status = format->convert(&conversion);
	cli_stdout_done();
	filters_release(&conversion.filters);
	return status;
}
