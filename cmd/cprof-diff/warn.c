#include "cmd/cprof-diff/diff.h"

#include <math.h>
#include <stdio.h>

#include "common/select/ends.h"
#include "common/views/unnamed.h"

/* Thresholds of the warnings: percent, and percentage points between the sides. */
enum { UNNAMED = 30, UNNAMED_CHANGE = 15, WHOLE_CHANGE = 10 };

/* Offsets in files are compared like names, but only mean the same in the same build. */
static void warn_unnamed(const struct profile *p, const struct side *sides)
{
	uint64_t unnamed[PROFILE_SIDES];
	double shares[PROFILE_SIDES];
	bool raw[PROFILE_SIDES];

	unnamed_weight(p, unnamed);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		shares[side] = diff_cell(p, unnamed, side, false);
		raw[side] = sides[side].loaded.streams && !sides[side].loaded.sums.symbols && shares[side] > 0;
	}
	if (raw[0] && raw[1])
		cli_warn("%s and %s have no names yet: run cprof-sym first", sides[0].title, sides[1].title);
	else if (raw[0] || raw[1])
		cli_warn("%s has no names yet: run cprof-sym first", sides[raw[1]].title);
	else if (p->total[0] && p->total[1] &&
		 (shares[0] > UNNAMED || shares[1] > UNNAMED || fabs(shares[0] - shares[1]) > UNNAMED_CHANGE))
		cli_warn("%.0f%% of %s and %.0f%% of %s end in code without a name, which is compared only by its place in the file",
			 shares[0], sides[0].title, shares[1], sides[1].title);
}

static void warn_rebuilt(const struct gather_modules *m, const struct side *sides)
{
	struct slice name;
	size_t n = gather_modules_rebuilt(m, &name);
	char others[64] = "";

	if (n == 0)
		return;
	if (n > 1)
		snprintf(others, sizeof(others), ", as %s %zu other%s", n > 2 ? "are" : "is", n - 1, n > 2 ? "s" : "");
	cli_warn("%.*s has frames without a name and is a different build in %s than in %s%s: their places cannot be compared",
		 (int)name.n, (const char *)name.p, sides[1].title, sides[0].title, others);
}

static bool shares_differ(const uint64_t *part, const uint64_t *whole, double *shares)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		shares[side] = 100.0 * (double)part[side] / (double)whole[side];
	return fabs(shares[0] - shares[1]) > WHOLE_CHANGE;
}

/* If only one side has complete stacks, callers seem to come and go. */
static void warn_truncated(const struct side *sides)
{
	struct ends a = ends_of(sides[0].loaded.sums.user), b = ends_of(sides[1].loaded.sums.user);
	const uint64_t stacks[] = { a.stacks, b.stacks }, complete[] = { a.complete, b.complete },
		       truncated[] = { a.truncated, b.truncated };
	double shares[PROFILE_SIDES];
	const char *how = "complete";

	if (!a.stacks || !b.stacks)
		return;
	if (!shares_differ(complete, stacks, shares)) {
		how = "truncated";
		if (!shares_differ(truncated, stacks, shares))
			return;
	}
	cli_warn("%.0f%% of the user stacks of %s are %s and %.0f%% of those of %s: frames missing from one side look "
		 "like changes", shares[0], sides[0].title, how, shares[1], sides[1].title);
}

void diff_warn(const struct profile *p, const struct side *sides, const struct filters *f)
{
	if (view_frame_keys(&f->view))
		warn_truncated(sides);
	if (view_has_key(&f->view, BY_FUNCTION)) {
		warn_unnamed(p, sides);
		warn_rebuilt(&f->modules, sides);
	}
}
