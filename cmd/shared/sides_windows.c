#include "cmd/shared/sides_internal.h"

#include <string.h>
#include <sys/stat.h>

static void set_bound(struct side_bound *b, const char *option, const char *text)
{
	if (b->option && strcmp(b->option, option) != 0)
		cli_usage("%s and %s are mutually exclusive", b->option, option);
	cli_instant(&b->at, option, text);
	b->option = option;
	b->text = text;
}

static const char split[] = "--split";

bool sides_option(struct side sides[PROFILE_SIDES], int option, const char *argument)
{
	switch (option) {
	case SIDES_SPLIT:
		set_bound(&sides[0].to, split, argument);
		set_bound(&sides[1].from, split, argument);
		break;
	case SIDES_BEFORE_FROM:
		set_bound(&sides[0].from, "--before-from", argument);
		break;
	case SIDES_BEFORE_TO:
		set_bound(&sides[0].to, "--before-to", argument);
		break;
	case SIDES_AFTER_FROM:
		set_bound(&sides[1].from, "--after-from", argument);
		break;
	case SIDES_AFTER_TO:
		set_bound(&sides[1].to, "--after-to", argument);
		break;
	default:
		return false;
	}
	return true;
}

const char *sides_window_option(const struct side sides[PROFILE_SIDES])
{
	const char *before = sides[0].from.option ? sides[0].from.option : sides[0].to.option;

	return before ? before : sides[1].from.option ? sides[1].from.option : sides[1].to.option;
}

static bool is_split(const struct side sides[PROFILE_SIDES])
{
	return sides[0].to.option == split;
}

bool sides_are_parts(const struct side sides[PROFILE_SIDES], size_t n)
{
	return n && sides_window_option(sides) && (n == 1 || is_split(sides));
}

/* Two times of day are not comparable: each day has them. */
static bool is_known_order(const struct side_bound *a, const struct side_bound *b)
{
	return a->at.kind && a->at.kind == b->at.kind && a->at.kind != TIME_ARG_DAYTIME;
}

/* Returns whether a is before b, or is no bound. Unknown orders are taken to be right. */
static bool is_before(const struct side_bound *a, const struct side_bound *b)
{
	return !a->at.kind || !b->at.kind || (is_known_order(a, b) && a->at.ns < b->at.ns);
}

static void warn_windows(const struct side *a, const struct side *b)
{
	if (is_known_order(&a->from, &b->to) && b->to.at.ns <= a->from.at.ns)
		cli_warn("the window of the second side is before that of the first: "
			 "the first side is before and the second one after");
	else if (is_before(&b->from, &a->to) && is_before(&a->from, &b->to))
		cli_warn("the windows of the two sides overlap: samples that both have are compared with "
			 "themselves");
}

/* Both sides read their operands from the beginning. */
static void check_shared(const struct side *side)
{
	struct stat st;

	for (size_t i = 0; i < side->n; i++) {
		const char *name = side->names[i];

		if (strcmp(name, "-") == 0 || (stat(name, &st) == 0 && S_ISFIFO(st.st_mode)))
			cli_usage("windows of one capture require a file: a pipe cannot be read twice");
	}
}

/* Completes the window of a side by the one of both sides. */
static void settle_window(struct side *side, const struct view *v)
{
	side->windowed = side->from.option || side->to.option;
	if (!side->from.option)
		side->from = (struct side_bound){ .at = v->from, .option = "--from" };
	if (!side->to.option)
		side->to = (struct side_bound){ .at = v->to, .option = "--to" };
	if (side->windowed) /* the other one has been checked */
		cli_window(&side->from.at, side->from.option, &side->to.at, side->to.option);
}

void sides_settle(struct side sides[PROFILE_SIDES], const struct view *v)
{
	if (is_split(sides) && !sides[0].shared)
		cli_usage("--split takes the captures of one recording, without -- and --before");
	if (sides[0].shared)
		check_shared(&sides[0]);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		settle_window(&sides[side], v);
	if (sides[0].shared)
		warn_windows(&sides[0], &sides[1]);
}
