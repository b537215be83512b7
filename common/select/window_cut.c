#include "common/select/window_cut.h"

enum leaving leave_sample(struct leave *l, const struct capture *c, const struct record_sample *r, struct record *told)
{
	struct record_left_out *sum;
	struct record_sample part;

	if (capture_check_sample(c, r))
		return LEAVE_NOT;
	l->no_memory = !portions_wait(&l->portions, &(struct asked){ l->view, c, 0 }, r) || l->no_memory;
	/* A wait that ends where the window begins has no time in it, but a test by time alone keeps it. */
	if (view_part_in_time(l->view, c, 0, r, &part) || view_in_time(l->view, c, 0, r->time))
		return LEAVE_NOT;
	if (capture_is_first(c, r->thread)) {
		*told = (struct record){ .type = RECORD_LEFT_OUT,
					 .left_out = { r->time, r->event, r->thread, 1, r->weight, r->time } };
		return LEAVE_TOLD;
	}
	sum = &l->sums[r->event];
	if (sum->samples == 0)
		*sum = (struct record_left_out){ .first = r->time, .event = r->event, .last = r->time };
	sum->first = r->time < sum->first ? r->time : sum->first;
	sum->last = r->time > sum->last ? r->time : sum->last;
	sum->samples++;
	sum->weight += r->weight;
	return LEAVE_OUT;
}

bool leave_ran(struct leave *l, const struct capture *c, const struct record *r, struct record *told)
{
	*told = (struct record){ .type = RECORD_RAN };
	while (portions_due(&l->portions, &(struct asked){ l->view, c, 0 }, r, &told->ran)) {
		if (told->ran.span)
			return true;
	}
	if (r && r->type == RECORD_SEGMENT)
		portions_forget(&l->portions);
	return false;
}

bool leave_keeps(struct leave *l, const struct capture *c, const struct record_ran *r)
{
	if (!portions_makes_sense(r) || !capture_has_thread(c, r->thread))
		return false;
	l->no_memory = !portions_tell(&l->portions, r) || l->no_memory;
	return true;
}

void leave_release(struct leave *l)
{
	portions_release(&l->portions);
}

bool leave_rest(struct leave *l, struct record *told)
{
	for (size_t i = 0; i < CAPTURE_EVENTS; i++) {
		if (!l->sums[i].samples)
			continue;
		*told = (struct record){ .type = RECORD_LEFT_OUT, .left_out = l->sums[i] };
		l->sums[i].samples = 0;
		return true;
	}
	return false;
}
