#include "cmd/shared/facts/brief_facts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/shared/facts/losses.h"
#include "common/base/buf.h"
#include "common/capture/damage.h"
#include "common/select/ends.h"

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void add_stacks(struct brief *b, size_t priority, const char *prefix, const struct gather_sums *s)
{
	struct ends e = ends_of(s->user);

	if (e.truncated)
		brief_line(b, priority,
			   "- %s%" PRIu64 " of %" PRIu64 " user stacks (%.2f %%) lack outer frames.", prefix,
			   e.truncated, e.stacks, percent_of(e.truncated, e.stacks));
	if (e.unverified)
		brief_line(b, priority,
			   "- %s%" PRIu64 " of %" PRIu64 " user stacks follow frame pointers, unverified.",
			   prefix, e.unverified, e.stacks);
	if (e.unknown)
		brief_line(b, priority, "- %sHow %" PRIu64 " of %" PRIu64 " user stacks end is unknown.",
			   prefix, e.unknown, e.stacks);
}

void brief_losses(struct brief *b, size_t priority, const char *prefix, const struct loaded *l,
		  const struct view *view)
{
	const struct capture_totals *t = &l->totals;
	struct buf text = { 0 };

	if (!l->streams) {
		brief_line(b, priority,
			   "- %sFolded text does not tell losses, truncated stacks and unnamed functions.",
			   prefix);
		return;
	}
	losses_print(&text, t);
	brief_line(b, priority, "- %s%s.", prefix,
		   text.n	     ? buf_cstr(&text)
		   : losses_waits(t) ? "No sample and no wait is known to be lost"
				     : "No sample is known to be lost");
	buf_clear(&text);
	if (t->outcomes[OUTCOME_MISSED])
		brief_line(b, priority,
			   "- %s%" PRIu64 " of %" PRIu64 " expected ticks did not come (missed).", prefix,
			   t->outcomes[OUTCOME_MISSED], t->outcomes[OUTCOME_EXPECTED]);
	damage_append(&text, t);
	if (text.n)
		brief_line(b, priority, "- %sThe input is damaged: %s.", prefix, buf_cstr(&text));
	add_stacks(b, priority, prefix, &l->sums);
	if (l->sums.unresolved)
		brief_line(b, priority,
			   "- %s%" PRIu64 " of %" PRIu64 " samples have no name for their innermost frame.",
			   prefix, l->sums.unresolved, l->sums.samples);
	if (t->waits && !view->wall && !view->n_events)
		brief_line(b, priority, "- %s%" PRIu64 " waits are not counted here (--wall).", prefix,
			   t->waits);
	b->failed = b->failed || text.failed;
	buf_release(&text);
}

/* Returns whether the argument is this long option, shortened to at least this many bytes, or whole. */
static bool is_option(const char *argument, const char *option, size_t least)
{
	size_t n = strcspn(argument, "=");

	return n >= least && strncmp(argument, option, n) == 0;
}

/* Returns how many arguments to leave out from here: those of -o and --budget. */
static size_t own_arguments(char *const *arguments)
{
	const char *a = arguments[0];
	bool is_long = is_option(a, "--budget", 4) || is_option(a, "--output", 3);

	if (strcmp(a, "-o") == 0 || (is_long && !strchr(a, '=')))
		return arguments[1] ? 2 : 1;
	return is_long || strncmp(a, "-o", 2) == 0;
}

void brief_command(struct buf *to, const char *program, const char *more, char *const *arguments)
{
	struct buf text = { 0 };

	buf_printf(&text, "%s%s%s", program, more[0] ? " " : "", more);
	while (*arguments) {
		size_t skipped = own_arguments(arguments);
		const char *a = *arguments;

		arguments += skipped ? skipped : 1;
		if (skipped)
			continue;
		buf_byte(&text, ' ');
		brief_quote(&text, slice_of(strcmp(a, "-") == 0 ? "CAPTURE" : a));
	}
	brief_code(to, buf_view(&text));
	to->failed = to->failed || text.failed;
	buf_release(&text);
}

char **brief_arguments(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 2, sizeof(*copy));

	if (!copy)
		cli_no_memory();
	for (int i = 0; i < argc; i++)
		copy[i] = argv[i];
	return copy;
}

size_t brief_budget(const char *text)
{
	return (size_t)cli_number("--budget", text, BRIEF_LEAST, INT32_MAX);
}
