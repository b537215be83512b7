#include "cmd/shared/facts/time_range.h"

#include <time.h>

#include "common/select/recordings.h"
#include "common/select/select.h"

void time_range_add(struct time_range *r, uint64_t first, uint64_t last, bool open)
{
	if (!first || !last)
		return;
	r->first = !r->first || first < r->first ? first : r->first;
	if (last > r->last) {
		r->last = last;
		r->open = open;
	}
}

void time_range_note(struct time_range *r, const struct recordings *all, const struct capture *c)
{
	uint64_t base = recordings_base(all, c, c->began);
	uint64_t last = c->reported > c->totals.last ? c->reported : c->totals.last;

	if (c->sampled) {
		if (last > base && last - base > r->longest)
			r->longest = last - base;
		time_range_add(r, capture_realtime(c, select_base(c, c->began)),
			       capture_realtime(c, last), false);
	}
}

static void append_clock(uint64_t ns, const char *format, struct buf *out)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), format, &tm))
		buf_text(out, text);
}

/* Returns whether both times are of one local day. */
static bool is_same_day(uint64_t a, uint64_t b)
{
	time_t x = (time_t)(a / 1000000000), y = (time_t)(b / 1000000000);
	struct tm s, t;

	return localtime_r(&x, &s) && localtime_r(&y, &t) && s.tm_yday == t.tm_yday && s.tm_year == t.tm_year;
}

void time_range_append_length(const struct time_range *r, struct buf *out)
{
	if (r->longest)
		buf_printf(out, "; recorded: 0 to %.4g s", (double)r->longest / 1e9);
}

void time_range_append_clock(const struct time_range *r, struct buf *out)
{
	bool same = is_same_day(r->first, r->last);

	if (!r->first)
		return;
	buf_text(out, "; recorded: ");
	append_clock(r->first, "%Y-%m-%d %H:%M:%S", out);
	buf_text(out, r->open ? " to after " : " to ");
	append_clock(r->last, same ? "%H:%M:%S %Z" : "%Y-%m-%d %H:%M:%S %Z", out);
}
