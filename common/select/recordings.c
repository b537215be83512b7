#include "common/select/recordings.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/select/select.h"
#include "common/stream/header_facts.h"

enum { OPEN_MOST = 4096 }; /* recordings that have not ended */

static uint64_t start_of(const struct capture *c)
{
	return capture_meta_number(c, "start-monotonic-ns");
}

static uint64_t series_of(const struct capture *c)
{
	uint64_t series = 0;

	for (size_t i = 0; i < HEADER_SERIES_KEYS; i++) {
		struct slice value = capture_meta(c, header_series_keys[i]);

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

/* Returns the place of the recording that the segment continues, the newest one if several could be; or n. */
static size_t find_open(const struct recordings *r, const struct capture *c, uint64_t series)
{
	size_t found = r->n;

	for (size_t i = 0; i < r->n; i++) {
		if (is_next(r, i, c, series) && (found == r->n || r->list[i].end > r->list[found].end))
			found = i;
	}
	return found;
}

/*
 * Returns the place for another recording: that of one that has ended, so that the list is as long as the
 * number of those that alternate. Beyond OPEN_MOST some are forgotten: spans count from their next file.
 */
static size_t find_place(const struct recordings *r)
{
	if (r->current && !r->list[r->current - 1].continues)
		return r->current - 1;
	return r->n < OPEN_MOST ? r->n : (r->current ? r->current : 1) % OPEN_MOST;
}

/* Finds or adds the recording of a segment whose header is complete. */
static bool begin_segment(struct recordings *r, const struct capture *c)
{
	uint64_t series = series_of(c);
	size_t i = find_open(r, c, series);

	if (i == r->n) {
		i = find_place(r);
		if (!grow_array(&r->list, &r->cap, i, sizeof(*r->list)))
			return false;
		r->list[i] = (struct recording){ .series = series };
		r->n = i < r->n ? r->n : i + 1;
	}
	r->current = i + 1;
	r->list[i].operand = r->operand;
	r->list[i].continues = false;
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

	r->operand += r->ended;
	r->ended = false;
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
	r->ended = true;
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
