/*
 * cprof-convert: captures and folded text as what other programs read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/filters.h"
#include "common/export/callgrind.h"
#include "common/export/collect.h"
#include "common/export/gzip.h"
#include "common/export/json.h"
#include "common/export/perfpipe.h"
#include "common/export/pprof.h"
#include "common/export/scriptread.h"
#include "common/export/scriptwrite.h"
#include "common/export/slicerows.h"
#include "common/export/speedscope.h"
#include "common/export/traces.h"
#include "common/profile/ends.h"
#include "common/profile/label.h"

static const char usage[] = "cprof-convert [-f perfscript] -t FORMAT [--by thread|process|all]\n       " FILTER_USAGE
			    "\n       [FILE ...]";

enum { CONVERT_BY = FILTERS_END };

static const char creator[] = "cprof-convert " CPROF_VERSION;

static const struct option options[] = {
	FILTER_ROWS,
	{ "by", required_argument, NULL, CONVERT_BY },
	{ "from-format", required_argument, NULL, 'f' },
	{ "to-format", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* What is to be made of what. */
struct conversion {
	struct filters filters;
	bool filtered; /* some were given */
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
	struct traces traces;
	struct loaded loaded;
	const struct view *view;
};

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
	collect_release(&it->collect);
	return good;
}

static bool name_matches(const char *name, void *context)
{
	return regexec(context, name, 0, NULL, 0) == 0;
}

static bool keep(struct traces *s, const regex_t *expression, bool with)
{
	return !expression || traces_keep(s, name_matches, (void *)(uintptr_t)expression, with);
}

static void settle(struct conversion *c, struct collected *it, const struct profile *text)
{
	const struct shape *shape = &c->filters.shape;
	struct traces *s = &it->traces;

	if (text->total[0] > INT64_MAX - s->total)
		cli_die(STATUS_DAMAGED, "the counts add up to more than 63 bits, which no format has");
	if (!collect_profile(s, text) || !traces_settle(s, &c->filters.modules, shape->norm) || !keep(s, shape->match, true) ||
	    !keep(s, shape->focus, true) || !keep(s, shape->exclude, false))
		no_memory();
}

static void warn_losses(const struct loaded *l)
{
	struct buf text = { 0 };

	losses_print(&text, &l->totals);
	if (text.n)
		cli_warn("%s", buf_cstr(&text));
	buf_release(&text);
}

/* Reads all operands; the status to end with if all goes well from here. */
static enum status collect_all(struct conversion *c, struct collected *it)
{
	struct filters_taker taker = { it, begin_collecting, collect_record, end_collecting, NULL };
	enum status status = STATUS_OK;
	struct profile text;

	*it = (struct collected){ .view = &c->filters.view };
	filters_keep_apart(&c->filters);
	if (!traces_init(&it->traces) || !profile_init(&text))
		no_memory();
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = filters_read(&c->filters, *operand, &taker, &text, 0, &it->loaded);

		status = s > status ? s : status;
	}
	settle(c, it, &text);
	profile_release(&text);
	warn_losses(&it->loaded);
	if (!it->loaded.good)
		return STATUS_DAMAGED;
	if (status == STATUS_OK && !it->traces.n_samples)
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
	w = pprof_new(&it.traces, &about);
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
	traces_release(&it.traces);
	return status;
}

/* --weight ns counts what captures say; folded text has one weight. */
static bool by_weight(const struct conversion *c, const struct collected *it)
{
	return c->filters.view.weight == WEIGHT_NS && it->traces.unit;
}

static enum status convert_speedscope(struct conversion *c)
{
	struct speedscope_writer *w;
	struct collected it;
	enum status status = collect_all(c, &it);
	struct speedscope_options o = { c->by, by_weight(c, &it), c->filters.view.lines, creator };
	struct slice bytes;

	w = speedscope_new(&it.traces, &o);
	if (!w)
		no_memory();
	while (speedscope_next(w, &bytes))
		put(bytes);
	if (speedscope_failed(w))
		no_memory();
	speedscope_free(w);
	traces_release(&it.traces);
	return status;
}

static enum status convert_callgrind(struct conversion *c)
{
	struct callgrind_writer *w;
	struct collected it;
	enum status status = collect_all(c, &it);
	struct callgrind_options o = { by_weight(c, &it), creator };
	struct slice bytes;

	w = callgrind_new(&it.traces, &o);
	if (!w)
		no_memory();
	while (callgrind_next(w, &bytes))
		put(bytes);
	if (callgrind_failed(w))
		no_memory();
	callgrind_free(w);
	traces_release(&it.traces);
	return status;
}

/* The rows of cprof-fold -o tsv, whose options about what is read these are. */
static enum status convert_tsv(struct conversion *c)
{
	struct filters *f = &c->filters;
	enum status status = STATUS_OK;
	struct loaded sum = { 0 };
	struct origins origins;
	struct slice_rows w;
	struct profile p;
	struct slice bytes;

	if (!profile_init(&p))
		no_memory();
	origins_init(&origins);
	f->view.origins = &origins;
	f->view.moment_ns = SLICE_ROWS_INTERVAL;
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = filters_load(f, *operand, &p, 0, &sum);

		status = s > status ? s : status;
	}
	warn_losses(&sum);
	filters_shape(f, &p);
	if (!slice_rows_init(&w, ROWS_TSV, &p, &origins, f->view.moment_ns))
		no_memory();
	while (slice_rows_next(&w, &bytes))
		put(bytes);
	if (slice_rows_failed(&w))
		no_memory();
	slice_rows_release(&w);
	origins_release(&origins);
	profile_release(&p);
	return sum.good ? status : STATUS_DAMAGED;
}

/* Samples one by one, from captures alone; begin is asked for each operand, the context is for all of them. */
static bool begin_samples(void *context)
{
	(void)context;
	return true;
}

static void check_samples(const struct conversion *c)
{
	const struct view *v = &c->filters.view;

	if (v->lines || v->weight != WEIGHT_SAMPLES)
		cli_usage("%s does not change this format", v->lines ? "-l" : "--weight");
}

static enum status read_samples(struct conversion *c, const struct filters_taker *taker)
{
	struct loaded sum = { 0 };
	enum status status = STATUS_OK;
	struct profile none;

	if (!profile_init(&none))
		no_memory();
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = filters_read(&c->filters, *operand, taker, &none, 0, &sum);

		if (sum.texts)
			cli_die(STATUS_USAGE, "%s: this format needs a capture, this is folded text",
				strcmp(*operand, "-") == 0 ? "standard input" : *operand);
		status = s > status ? s : status;
	}
	profile_release(&none);
	if (status == STATUS_OK && !sum.totals.samples)
		cli_warn("there is no sample");
	return sum.good ? status : STATUS_DAMAGED;
}

static const char *perf_record(void *context, const struct record *r)
{
	struct perf_pipe *p = context;
	const char *wrong = perf_pipe_apply(p, r);

	if (p->out.failed || p->capture.no_memory)
		no_memory();
	put(buf_view(&p->out));
	if (r->type == RECORD_FLUSH) /* who looks at it may be waiting */
		fflush(stdout);
	buf_clear(&p->out);
	return wrong;
}

static bool end_perf(void *context, struct capture_totals *totals, struct gather_sums *sums)
{
	struct perf_pipe *p = context;

	*sums = (struct gather_sums){ 0 };
	*totals = capture_totals(&p->capture);
	p->capture.totals = (struct capture_totals){ 0 }; /* the next operand's begin anew */
	return true;
}

static enum status convert_perf(struct conversion *c)
{
	struct perf_pipe p;
	struct filters_taker taker = { &p, begin_samples, perf_record, end_perf, NULL };
	enum status status;

	check_samples(c);
	if (!perf_pipe_init(&p, &c->filters.view))
		no_memory();
	status = read_samples(c, &taker);
	perf_pipe_finish(&p);
	if (p.out.failed)
		no_memory();
	put(buf_view(&p.out));
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
		put(text);
	if (w->failed || w->capture.no_memory)
		no_memory();
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
	*sums = (struct gather_sums){ 0 };
	*totals = capture_totals(&w->capture);
	w->capture.totals = (struct capture_totals){ 0 };
	return true;
}

static enum status convert_perfscript(struct conversion *c)
{
	struct script_writer w;
	struct filters_taker taker = { &w, begin_samples, script_record, end_script, NULL };
	enum status status;

	check_samples(c);
	if (!script_writer_init(&w, &c->filters.view))
		no_memory();
	status = read_samples(c, &taker);
	script_writer_release(&w);
	return status;
}

/* One operand of perf script's text; the status to end with. */
static enum status read_script(const char *path, struct writer *w, uint64_t *samples)
{
	int fd = cli_open(path);
	const char *name = fd == STDIN_FILENO ? "standard input" : path;
	enum status status = STATUS_OK;
	struct script_reader r;

	if (!script_reader_init(&r, fd, w))
		no_memory();
	if (script_read(&r) < 0) {
		if (writer_error(w))
			cli_die(STATUS_SYSTEM, "standard output: %s", writer_error(w));
		cli_die(STATUS_SYSTEM, "%s: %s", name, strerror(errno));
	}
	if (r.bad) {
		status = STATUS_DAMAGED;
		cli_warn("%s: line %" PRIu64 ": %s; %" PRIu64 " of %" PRIu64 " lines left out", name, r.first_bad, r.why,
			 r.bad, r.lines);
	}
	if (!r.samples)
		cli_warn("%s: there is no sample", name);
	*samples += r.samples;
	script_reader_release(&r);
	if (fd != STDIN_FILENO)
		close(fd);
	return status;
}

static enum status convert_stream(struct conversion *c)
{
	struct writer *w = writer_new(STDOUT_FILENO);
	enum status status = STATUS_OK;
	uint64_t samples = 0;

	if (c->filtered)
		cli_usage("-t stream takes everything: to choose is for who reads the stream");
	if (!w)
		no_memory();
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = read_script(*operand, w, &samples);

		status = s > status ? s : status;
	}
	if (!writer_finish(w))
		cli_die(STATUS_SYSTEM, "standard output: %s", writer_error(w));
	writer_free(w);
	return status;
}

/*
 * The formats: what -t says, and the function, which reads the operands, writes to stdout and returns the status to end
 * with if that goes well; whether it is binary, and made of stacks by address or by name; whether this build knows it
 * (NULL: always).
 */
enum { FORMAT_BINARY = 1, FORMAT_STACKS = 2, FORMAT_NAMES = 4 };

static const struct format {
	const char *name;
	enum status (*convert)(struct conversion *c);
	unsigned int flags;
	bool (*known)(void);
} formats[] = {
	{ "pprof", convert_pprof, FORMAT_BINARY | FORMAT_STACKS, pprof_known },
	{ "speedscope", convert_speedscope, FORMAT_STACKS, json_known },
	{ "callgrind", convert_callgrind, FORMAT_STACKS, NULL },
	{ "tsv", convert_tsv, FORMAT_NAMES, NULL },
	{ "perf", convert_perf, FORMAT_BINARY, NULL },
	{ "perfscript", convert_perfscript, 0, NULL },
	{ "stream", convert_stream, FORMAT_BINARY, NULL },
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

/* -f: what is read is known by itself, but for what becomes a stream. */
static bool is_script(const char *name)
{
	if (strcmp(name, "perfscript") != 0)
		cli_usage("-f: \"%s\" is not perfscript", name);
	return true;
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

/* Addresses are not to be thinned out or put together, and who reads a format that is made of them does that himself. */
static void check_shape(const struct shape *s, const struct format *format)
{
	const char *option = s->base ? "--base" : s->collapse ? "--collapse-recursion" : s->min ? "--min" : NULL;

	if (format->flags & FORMAT_NAMES)
		return;
	if (!option && shape_asked(s) && !(format->flags & FORMAT_STACKS))
		option = s->match ? "--match" : s->focus ? "--focus" : s->exclude ? "--exclude" : "--norm";
	if (option)
		cli_usage("%s is not for -t %s", option, format->name);
}

static const struct format *read_options(struct conversion *c, int argc, char **argv)
{
	const struct format *format = NULL;
	bool from_script = false;
	int option;

	while ((option = getopt_long(argc, argv, FILTER_LETTERS "f:t:hV", options, NULL)) != -1) {
		if (filters_option(&c->filters, option, optarg)) {
			c->filtered = true;
			continue;
		}
		if (option == 't')
			format = find_format(optarg);
		else if (option == 'f')
			from_script = is_script(optarg);
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
	check_shape(&c->filters.shape, format);
	if (c->has_by && format->convert != convert_speedscope)
		cli_usage("--by is for -t speedscope");
	if (from_script && format->convert != convert_stream)
		cli_usage("-f perfscript is for -t stream; what else is to be made of it is made of that stream");
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
	if (format->flags & FORMAT_BINARY)
		cli_refuse_terminal();
	conversion.operands = argv[optind] ? argv + optind : standard_input;
	status = format->convert(&conversion);
	cli_stdout_done();
	filters_release(&conversion.filters);
	return status;
}
