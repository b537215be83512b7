#include "cmd/cprof-record/helper/silent_devices.h"

uint64_t silent_devices_longer(uint64_t rest)
{
	if (rest == 0)
		return SILENT_DEVICES_FIRST;
	return rest < SILENT_DEVICES_LAST / 2 ? 2 * rest : SILENT_DEVICES_LAST;
}

static struct silent_device *find_device(const struct silent_devices *s, uint64_t major, uint64_t minor)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].major == major && s->items[i].minor == minor)
			return (struct silent_device *)&s->items[i];
	return NULL;
}

bool silent_devices_has(const struct silent_devices *s, uint64_t major, uint64_t minor, uint64_t now)
{
	const struct silent_device *d = find_device(s, major, minor);

	return d && now < d->until;
}

/* Returns a free item, or the one whose rest ended first; NULL: all rest. */
static struct silent_device *new_device(struct silent_devices *s, uint64_t now)
{
	struct silent_device *first = &s->items[0];

	if (s->n < SILENT_DEVICES_MOST)
		return &s->items[s->n++];
	for (size_t i = 1; i < s->n; i++)
		if (s->items[i].until < first->until)
			first = &s->items[i];
	return now < first->until ? NULL : first;
}

bool silent_devices_note(struct silent_devices *s, uint64_t major, uint64_t minor, uint64_t now, bool *first)
{
	struct silent_device *d = find_device(s, major, minor);
	uint64_t rest = silent_devices_longer(d ? d->rest : 0);

	*first = !d;
	if (!d)
		d = new_device(s, now);
	if (d)
		*d = (struct silent_device){ major, minor, rest, now + rest };
	return d;
}

void silent_devices_forget(struct silent_devices *s, uint64_t major, uint64_t minor)
{
	struct silent_device *d = find_device(s, major, minor);

	if (d)
		*d = s->items[--s->n];
}
