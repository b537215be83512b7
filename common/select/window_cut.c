#include "common/select/window_cut.h"

enum leaving window_cut_sample(struct window_cut *l, const struct capture *c, const struct record_sample *r,
			       struct record *made)
{
	const struct select select = { l->view, c, 0 };
	struct record_left_out *sum;
	struct record_sample part;

	if (capture_check_sample(c, r))
		return WINDOW_CUT_NOT;
	l->no_memory = !run_spans_wait(&l->portions, &select, r) || l->no_memory;
	/* A wait that ends where the window begins has no time in it, but a test by time alone keeps it. */
	if (select_by_time(&select, r, &part) || select_moment(&select, r->time))
		return WINDOW_CUT_NOT;
	if (capture_is_first(c, r->thread)) {
		*made = (struct record){ .type = RECORD_LEFT_OUT,
					 .left_out = { r->time, r->event, r->thread, 1, r->weight, r->time } };
		return WINDOW_CUT_REPLACED;
	}
	sum = &l->sums[r->event];
	if (sum->samples == 0)
		*sum = (struct record_left_out){ .first = r->time, .event = r->event, .last = r->time };
	sum->first = r->time < sum->first ? r->time : sum->first;
	sum->last = r->time > sum->last ? r->time : sum->last;
	sum->samples++;
	sum->weight += r->weight;
	return WINDOW_CUT_OUT;
}

bool window_cut_ran(struct window_cut *l, const struct capture *c, const struct record *r,
		    struct record *made)
{
	*made = (struct record){ .type = RECORD_RAN };
	while (run_spans_due(&l->portions, &(struct select){ l->view, c, 0 }, r, &made->ran)) {
		if (made->ran.span)
			return true;
	}
	if (r && r->type == RECORD_SEGMENT)
		run_spans_forget(&l->portions);
	return false;
}

bool window_cut_keeps(struct window_cut *l, const struct capture *c, const struct record_ran *r)
{
	if (!run_spans_makes_sense(r) || !capture_has_thread(c, r->thread))
		return false;
	l->no_memory = !run_spans_add(&l->portions, c, r) || l->no_memory;
	return true;
}

bool window_cut_woken(const struct window_cut *l, const struct capture *c, const struct record_woken *r)
{
	const struct select select = { l->view, c, 0 };
	uint64_t after;

	return select_overlap(&select, r->time, r->slept + r->queued, &after) > 0;
}

bool window_cut_outside(const struct window_cut *l, const struct capture *c, const struct record_outside *r)
{
	return select_moment(&(struct select){ l->view, c, 0 }, r->time);
}

void window_cut_release(struct window_cut *l)
{
	run_spans_release(&l->portions);
}

bool window_cut_rest(struct window_cut *l, struct record *made)
{
	for (size_t i = 0; i < CAPTURE_EVENTS; i++) {
		if (!l->sums[i].samples)
			continue;
		*made = (struct record){ .type = RECORD_LEFT_OUT, .left_out = l->sums[i] };
		l->sums[i].samples = 0;
		return true;
	}
	return false;
}
