#include "cmd/cprof-sym/coverage_report.h"

#include <inttypes.h>

#include "cmd/shared/cli.h"

enum { LISTED_MAX = 3 };

/* All files, those with most unnamed frames first, and their sums. */
struct counts {
	const struct coverage_count *items;
	size_t n;
	uint64_t named, unnamed;
};

static struct counts sum_counts(struct coverage *t)
{
	struct counts c = { 0 };

	c.items = coverage_sorted(t, &c.n);
	if (!c.items)
		cli_no_memory();
	for (size_t i = 0; i < c.n; i++) {
		c.named += c.items[i].named;
		c.unnamed += c.items[i].unnamed;
	}
	return c;
}

/* Appends the title and "12 in /lib/x.so (no-file), 3 elsewhere (-v lists all)", if there are any. */
static void append_unnamed(struct buf *line, const struct counts *c, const char *title, const char *no_path,
			   bool verbose)
{
	uint64_t rest = c->unnamed;

	for (size_t i = 0; i < c->n && i < LISTED_MAX && c->items[i].unnamed; i++) {
		const struct coverage_count *one = &c->items[i];
		struct slice where = one->where.n ? one->where : slice_of(no_path);

		buf_printf(line, "%s%" PRIu64 " in %.*s (%.*s)", i ? ", " : title, one->unnamed, (int)where.n,
			   (const char *)where.p, (int)one->why.n, (const char *)one->why.p);
		rest -= one->unnamed;
	}
	if (rest)
		buf_printf(line, ", %" PRIu64 " elsewhere%s", rest, verbose ? "" : " (-v lists all)");
}

static void print_count(const struct coverage_count *c)
{
	struct slice why = c->unnamed ? c->why : slice_of("");

	cli_line("  %10" PRIu64 " of %10" PRIu64 "  %.*s%s%.*s%s%s", c->named, c->named + c->unnamed, (int)c->where.n,
		 (const char *)c->where.p, c->unnamed ? " (" : "", (int)why.n, (const char *)why.p, c->unnamed ? ")" : "",
		 c->by_path ? " (by path alone)" : "");
}

double coverage_report_names(struct coverage *t, bool verbose)
{
	size_t by_path = coverage_by_path(t);
	struct counts c = sum_counts(t);
	uint64_t all = c.named + c.unnamed;
	double percent = all ? 100.0 * (double)c.named / (double)all : 100;
	struct buf line = { 0 };

	buf_printf(&line, "%" PRIu64 " of %" PRIu64 " frames named", c.named, all);
	if (all)
		buf_printf(&line, " (%.1f %%)", percent);
	append_unnamed(&line, &c, "; unresolved: ", "", verbose);
	cli_warn("%s", buf_cstr(&line));
	if (by_path)
		cli_warn("%zu %s by path alone (%s no build ID)", by_path, by_path == 1 ? "file taken" : "files taken",
			 by_path == 1 ? "it has" : "they have");
	for (size_t i = 0; verbose && i < c.n; i++)
		print_count(&c.items[i]);
	buf_release(&line);
	return percent;
}

void coverage_report_lines(struct coverage *t, bool verbose)
{
	struct counts c = sum_counts(t);
	struct buf line = { 0 };

	if (!c.unnamed)
		return;
	buf_printf(&line, "lines of %" PRIu64 " of %" PRIu64 " frames of scripts found", c.named,
		   c.named + c.unnamed);
	append_unnamed(&line, &c, "; none: ", "(eval)", verbose);
	cli_warn("%s", buf_cstr(&line));
	for (size_t i = 0; verbose && i < c.n; i++)
		print_count(&c.items[i]);
	buf_release(&line);
}

void coverage_report_runtimes(const struct jit_runtimes *t)
{
	for (unsigned int i = 0; i < JIT_RUNTIMES; i++) {
		if (jit_runtimes_lacks(t, i))
			cli_warn("%" PRIu64 " of %" PRIu64 " frames compiled by %s at run time have no name; "
				 "cprof-languages(7) lists ways to name them",
				 t->counts[i].unnamed, t->counts[i].named + t->counts[i].unnamed, jit_runtimes_name(i));
	}
}
