#include "common/gather/gather.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/gather/gather_keys.h"
#include "common/gather/gather_spread.h"
#include "common/gather/reason.h"
#include "common/gather/gather_stacks.h"
#include "common/select/select.h"

bool gather_init(struct gather *g, struct profile *p, unsigned int side, const struct view *view)
{
	*g = (struct gather){ .p = p, .side = side, .view = view };
	intern_init(&g->keys);
	intern_init(&g->runners);
	if (view->reasons)
		reasons_forget(view->reasons);
	return capture_init_for(&g->capture, select_counts, view);
}

void gather_release(struct gather *g)
{
	capture_release(&g->capture);
	intern_release(&g->keys);
	intern_release(&g->runners);
	running_release(&g->running);
	run_spans_release(&g->portions);
	gather_spread_release(g);
	free(g->origins);
	buf_release(&g->labels);
	free(g->by_key);
	free(g->memo);
	free(g->path);
	free(g->looked);
	*g = (struct gather){ 0 };
}

/* Adds the sums of the segment to the profile and clears them. */
static bool flush_segment(struct gather *g)
{
	bool good;

	if (gather_keys_corrects(g->view))
		gather_keys_due(g, NULL);
	run_spans_forget(&g->portions);
	gather_spread_forget(g);
	gather_keys_correct(g);
	good = gather_stacks_add(g, NULL);
	if (g->tap)
		good = good && g->tap->segment(g->tap->context, g->tap->leaves);

	if (g->keys.n)
		memset(g->by_key, 0, g->keys.n * sizeof(*g->by_key));
	clear_array(&g->looked, &g->cap_looked, sizeof(*g->looked));
	free(g->origins); /* by ids of the segment */
	g->origins = NULL;
	intern_release(&g->keys);
	return good;
}

/* Claims the difference in another profile; the gatherer's own profile has claimed it already. */
static bool claim_difference(struct gather *g, struct profile *p)
{
	for (size_t i = 0; i < g->keys.n; i++) {
		if (!profile_claim(p, g->side, g->by_key[i].weight - g->looked[i].weight))
			return false;
	}
	return true;
}

bool gather_look(struct gather *g, struct profile *p, const struct view *view, struct gather_sums *sums)
{
	const struct view *own_view = g->view;
	struct gather_sums own_sums = g->sums;
	struct profile *own = g->p;
	bool good;

	if (g->keys.n == 0)
		return true;
	if (!grow_array(&g->looked, &g->cap_looked, g->keys.n - 1, sizeof(*g->looked)) ||
	    !claim_difference(g, p))
		return false;
	g->p = p;
	g->view = view;
	g->sums = *sums;
	good = gather_stacks_add(g, g->looked);
	*sums = g->sums;
	g->p = own;
	g->view = own_view;
	g->sums = own_sums;
	memcpy(g->looked, g->by_key, g->keys.n * sizeof(*g->looked));
	return good;
}

const char *gather_apply(struct gather *g, const struct record *r)
{
	const char *wrong, *late;

	if (g->tap)
		g->tap->took = false;
	if (r->type == RECORD_SEGMENT) {
		g->failed = !flush_segment(g) || g->failed;
		g->based = false;
		if (g->view->reasons)
			reasons_forget(g->view->reasons);
	}
	g->sums.symbols += r->type == RECORD_SYMBOL || r->type == RECORD_SOURCE;
	g->sums.lines += r->type == RECORD_SYMBOL && r->symbol.line;
	g->sums.scripts += r->type == RECORD_FUNCTION;
	late = gather_keys_corrects(g->view) ? gather_keys_due(g, r) : NULL;
	if (r->type == RECORD_LEDGER && gather_spreads(g->view) && !gather_spread_ticks(g, &r->ledger))
		g->failed = true;
	wrong = capture_apply(&g->capture, r);
	if (!wrong && r->type == RECORD_SOURCE && g->view->reasons &&
	    !reasons_hear(g->view->reasons, &g->capture, &r->source))
		g->failed = true;
	if (!wrong && r->type == RECORD_RAN)
		gather_keys_ran(g, &r->ran);
	else if (!wrong && r->type == RECORD_SAMPLE)
		wrong = gather_keys_sample(g, &r->sample);
	return wrong ? wrong : late;
}

bool gather_finish(struct gather *g)
{
	return flush_segment(g) && !g->failed && !g->capture.no_memory;
}
