#include "common/select/mixed_events.h"

#include "common/profile/sanitize.h"

bool mixed_events_matters(const struct view *v)
{
	return v->alike && v->n_events == 0 && !v->wall && !v->apart && !v->ones && v->weight != WEIGHT_NS;
}

/*
 * Returns a counted event's own name, otherwise the first uncounted one's; empty if its definition is lost.
 */
static struct slice name_of(const struct capture *c, uint64_t event, bool counted)
{
	for (uint64_t i = 1; !counted && i < CAPTURE_EVENTS; i++) {
		if (c->events[i].id && !capture_wait(c, i) && !capture_is_counted(c, i))
			return c->events[i].name;
	}
	return counted ? c->events[event].name : (struct slice){ 0 };
}

static bool equals_label(const struct buf *name, const struct buf *other)
{
	return name->n == other->n && memcmp(name->p, other->p, name->n) == 0;
}

bool mixed_events_add(struct mixed_events *a, const struct capture *c, uint64_t event)
{
	bool counted = capture_is_counted(c, event), good;
	struct slice name = name_of(c, event, counted);
	struct buf label = { 0 };

	if (a->other.n || !name.p || (a->first.n && !counted && !a->first_counted))
		return true;
	sanitize_append(&label, name);
	good = !label.failed;
	if (good && !a->first.n) {
		a->first = label;
		a->first_counted = counted;
		return true;
	}
	if (good && !(counted && a->first_counted && equals_label(&label, &a->first))) {
		a->other = label;
		a->other_counted = counted;
		return true;
	}
	buf_release(&label);
	return good;
}

void mixed_events_release(struct mixed_events *a)
{
	buf_release(&a->first);
	buf_release(&a->other);
	*a = (struct mixed_events){ 0 };
}
