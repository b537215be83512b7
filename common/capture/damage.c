#include "common/capture/damage.h"

#include <inttypes.h>

uint64_t damage_cut(const struct capture_totals *t)
{
	return t->segments > t->ended ? t->segments - t->ended : 0;
}

uint64_t damage_refused(const struct capture_totals *t)
{
	return t->refused + t->refused_records;
}

static void add_count(struct buf *out, size_t start, uint64_t n, const char *thing, const char *what)
{
	if (n)
		buf_printf(out, "%s%" PRIu64 " %s%s %s", out->n > start ? ", " : "", n, thing, n == 1 ? "" : "s", what);
}

bool damage_append(struct buf *out, const struct capture_totals *t)
{
	uint64_t cut = damage_cut(t), places = t->damages - t->cut_records;
	size_t start = out->n;

	if (cut && !places && !damage_refused(t))
		buf_text(out, "cut short, everything before it was read");
	else if (cut)
		buf_text(out, "cut short");
	add_count(out, start, t->blocks_damaged, "block", "damaged");
	if (places && !t->blocks_damaged)
		add_count(out, start, places, "piece", "left out");
	add_count(out, start, damage_refused(t), "record", "refused");
	return out->n > start;
}
