#include "cmd/cprof-diff/diff.h"

#include <math.h>
#include <stdio.h>

/* Warns of growth that the gate cannot detect, and what would help. */
static void warn_unseen(const struct diff_findings *o, double allowed)
{
	static const char *const lacking[] = {
		[DESIGN_EFFECT_NONE] = "more samples",
		[DESIGN_EFFECT_BLOCKS] = "longer captures, or several of each side,",
		[DESIGN_EFFECT_MIXED] = "more captures of each side",
		[DESIGN_EFFECT_BETWEEN] = "more captures of each side",
	};
	double seen = 100 * changes_detectable_at(&o->changes, &o->p, &o->setup, 0.01);
	char below[60] = "";

	if (seen <= allowed)
		return;
	if (isfinite(seen))
		snprintf(below, sizeof(below), " reliably below %.2f points", seen);
	cli_warn("--fail-above %g: growth of a function of 1 %% cannot be detected%s; %s would help", allowed, below,
		 lacking[o->changes.model.basis]);
}

/* Looks for significant growth of a function's cumulative weight, of at least the given points. */
enum status diff_judge(const struct diff_findings *o, const struct diff_settings *s)
{
	double most = -1;
	size_t n = 0, at = 0;
	struct slice name;

	for (size_t i = 0; i < o->table.n; i++) {
		double growth = diff_change(&o->p, o->table.rows[i].cum, false);

		if (diff_change_of(o, i)->cum.q >= COMPARE_RATE || growth < s->fail_above)
			continue;
		n++;
		at = growth > most ? i : at;
		most = growth > most ? growth : most;
	}
	warn_unseen(o, s->fail_above);
	if (!n)
		return STATUS_OK;
	name = profile_text(&o->p, o->table.rows[at].label);
	cli_warn("%.*s grew by %.2f points%s (--fail-above %g)", (int)name.n, (const char *)name.p, most,
		 n > 1 ? ", and others grew, too" : "", s->fail_above);
	return STATUS_GREW;
}
