#include "common/select/recordings.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/select/select.h"

static uint64_t start_of(const struct capture *c)
{
	return capture_meta_number(c, "start-monotonic-ns");
}

static uint64_t series_of(const struct capture *c)
{
	static const char *const keys[] = { "host", "machine-id", "boot-id", "command-line" };
	uint64_t series = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct slice value = capture_meta(c, keys[i]);

		series = hash_u64(series ^ hash_bytes(value.p, value.n));
	}
	return series;
}

/* Returns whether the segment follows the last one of the recording. */
static bool is_next(const struct recordings *r, size_t i, const struct capture *c, uint64_t series)
{
	const struct recording *of = &r->list[i];

	if (!of->continues || of->series != series)
		return false;
	return (of->operand == r->operand && i + 1 == r->current) || (of->known && start_of(c) >= of->end);
}

/* Finds or adds the recording of a segment whose header is complete. */
static bool begin_segment(struct recordings *r, const struct capture *c)
{
	uint64_t series = series_of(c);
	size_t i = r->n;

	while (i && !is_next(r, i - 1, c, series))
		i--;
	if (!i) {
		if (!grow_array(&r->list, &r->cap, r->n, sizeof(*r->list)))
			return false;
		r->list[r->n] = (struct recording){ .series = series };
		i = ++r->n;
	}
	r->current = i;
	r->list[i - 1].operand = r->operand;
	r->list[i - 1].continues = false;
	return true;
}

/* Notes how the current segment ended. One that the view's window leaves out may not have been read at all. */
static void end_segment(struct recordings *r, const struct capture *c)
{
	struct recording *of = r->current ? &r->list[r->current - 1] : NULL;

	if (!of || r->header)
		return;
	of->continues = (c->end_seen && c->end_reason == END_CONTINUES) || !capture_counts(c);
	of->end = c->end_time;
	of->known = start_of(c) && capture_meta(c, "boot-id").n;
}

bool recordings_see(struct recordings *r, const struct capture *c, const struct record *rec)
{
	struct recording *of;

	if (rec->type == RECORD_SEGMENT) {
		end_segment(r, c);
		r->header = true;
		return true;
	}
	if (r->header && rec->type != RECORD_META) {
		r->header = false;
		if (!begin_segment(r, c))
			return false;
	}
	if (rec->type != RECORD_SAMPLE || !r->current)
		return true;
	of = &r->list[r->current - 1];
	if (!of->based && !capture_check_sample(c, &rec->sample)) {
		of->based = true;
		of->base = select_base(c, rec->sample.time);
	}
	return true;
}

void recordings_end(struct recordings *r, const struct capture *c)
{
	end_segment(r, c);
	r->header = true;
	r->operand++;
}

uint64_t recordings_base(const struct recordings *r, const struct capture *c, uint64_t first)
{
	const struct recording *of = r && r->current ? &r->list[r->current - 1] : NULL;

	return of && of->based ? of->base : select_base(c, first);
}

struct recording_run *recordings_run(const struct recordings *r)
{
	return r && r->current ? &r->list[r->current - 1].run : NULL;
}

void recordings_forget(struct recordings *r)
{
	r->n = r->current = 0;
}

void recordings_release(struct recordings *r)
{
	free(r->list);
	*r = (struct recordings){ 0 };
}
