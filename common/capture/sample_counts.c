#include "common/capture/sample_counts.h"

#include <inttypes.h>
#include <stdio.h>

void samples_count(struct buf *out, uint64_t v, unsigned int flags)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0 && (flags & SAMPLES_GROUPED))
			buf_byte(out, ',');
		buf_byte(out, (uint8_t)digits[i]);
	}
}

void samples_append(struct buf *out, const struct capture_totals *t, uint64_t looked_at, unsigned int flags)
{
	uint64_t ticks = samples_ticks(t);
	bool waits = t->waits && looked_at > ticks;

	samples_count(out, ticks, flags);
	buf_printf(out, "%s in %.2f s", flags & SAMPLES_CALLED ? " samples" : "", (double)t->seconds_ns / 1e9);
	if (t->others) {
		buf_text(out, " and ");
		samples_count(out, t->others, flags);
		buf_text(out, " of other events");
	}
	if (waits) {
		buf_text(out, " and ");
		samples_count(out, t->waits, flags);
		buf_text(out, " of waiting time");
	}
	if (looked_at != ticks + (waits ? t->waits : 0)) {
		buf_text(out, ", ");
		samples_count(out, looked_at, flags);
		buf_text(out, " of them looked at");
	}
	if (t->refused) {
		buf_text(out, ", ");
		samples_count(out, t->refused, flags);
		buf_text(out, " left out because of damage");
	}
}
