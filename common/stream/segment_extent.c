#include "common/stream/segment_extent.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/stream/block.h"
#include "common/stream/record_coding.h"

/* The facts found so far about the segment. */
struct walk {
	int fd;
	uint8_t *block;     /* room for one */
	uint64_t time;      /* the last time in the block */
	uint64_t realtime, monotonic;
	uint64_t first, end; /* times of the first sample and of END, or of a later sample in END's block */
	uint64_t since;      /* earliest begin of a wait, from the header, if has_since */
	bool sampled, ended, waits, has_since;
};

static bool read_at(int fd, uint8_t *to, size_t n, uint64_t at, size_t *got)
{
	for (*got = 0; *got < n;) {
		ssize_t one = pread(fd, to + *got, n - *got, (off_t)(at + *got));

		if (one < 0 && errno == EINTR)
			continue;
		if (one < 0)
			return false;
		if (one == 0)
			break;
		*got += (size_t)one;
	}
	return true;
}

/* Reads the block at byte offset at into w->block. Returns false unless it is good. */
static bool load_block(struct walk *w, uint64_t at, struct slice *payload)
{
	size_t got;

	if (!read_at(w->fd, w->block, BLOCK_HEAD, at, &got) || got < BLOCK_HEAD ||
	    !block_head_is_good(w->block))
		return false;
	*payload = (struct slice){ w->block + BLOCK_HEAD, le32_load(w->block + 8) };
	return read_at(w->fd, w->block + BLOCK_HEAD, payload->n, at + BLOCK_HEAD, &got) &&
	       got == payload->n &&
	       le64_load(w->block + 24) == hash_bytes(payload->p, payload->n);
}

static bool skip_varints(struct cursor *c, unsigned int n)
{
	uint64_t v;

	while (n > 0 && cursor_varint(c, &v))
		n--;
	return n == 0;
}

static bool walk_samples(struct walk *w, struct cursor run, bool first_only)
{
	uint64_t step, cpu;

	while (cursor_left(&run)) {
		if (!cursor_varint(&run, &step))
			return false;
		w->time += (uint64_t)unzigzag(step);
		if (!w->sampled)
			w->first = w->time;
		w->sampled = true;
		if (first_only)
			return true;
		w->end = w->time > w->end ? w->time : w->end;
		if (!cursor_varint(&run, &cpu) || !skip_varints(&run, 3 + ((cpu & 2) != 0) + (cpu & 1)))
			return false;
	}
	return true;
}

static void note_record(struct walk *w, const struct record *r)
{
	if (r->type == RECORD_EVENT && slice_begins(r->event.name, EVENT_OFF_CPU))
		w->waits = true;
	if (r->type == RECORD_META && slice_is(r->meta.key, META_WAITS_SINCE)) {
		w->since = slice_decimal(r->meta.value);
		w->has_since = true;
	}
	if (r->type == RECORD_META && slice_is(r->meta.key, "start-realtime-ns"))
		w->realtime = slice_decimal(r->meta.value);
	else if (r->type == RECORD_META && slice_is(r->meta.key, "start-monotonic-ns"))
		w->monotonic = slice_decimal(r->meta.value);
	if (r->type == RECORD_LEFT_OUT) {
		w->first = w->sampled ? w->first : r->left_out.first;
		w->sampled = true;
		w->end = r->left_out.last > w->end ? r->left_out.last : w->end;
	}
	w->ended = w->ended || r->type == RECORD_END;
	if (r->type == RECORD_END && r->end.time > w->end)
		w->end = r->end.time;
}

/* Walks all records of a block, or those up to the first sample. */
static bool walk_block(struct walk *w, struct cursor records, bool first_only)
{
	uint64_t type;
	struct slice body;
	struct record r;

	w->time = 0;
	while (cursor_left(&records) && !(first_only && w->sampled)) {
		if (!cursor_varint(&records, &type) || type >> 32 || type <= RECORD_SEGMENT ||
		    !cursor_slice(&records, &body))
			return false;
		if (type == RECORD_SAMPLE) {
			if (!walk_samples(w, cursor_over(body.p, body.n), first_only))
				return false;
		} else if (type != RECORD_FRAME && type != RECORD_NODE) {
			if (!record_decode(&r, (uint32_t)type, body, &w->time))
				return false;
			note_record(w, &r);
		}
	}
	return true;
}

static bool walk_header(struct walk *w, uint64_t at, uint64_t *size, uint32_t *segment)
{
	struct slice payload;

	if (!load_block(w, at, &payload) || w->block[4] != BLOCK_HEADER || w->block[5] ||
	    payload.n < BLOCK_VERSION_BYTES || le16_load(payload.p + 4) > STREAM_MAJOR)
		return false;
	*size = BLOCK_HEAD + payload.n;
	*segment = (uint32_t)le64_load(w->block + 24);
	return walk_block(w, cursor_over(payload.p + BLOCK_VERSION_BYTES,
					 payload.n - BLOCK_VERSION_BYTES), false) &&
	       w->realtime && w->monotonic;
}

/* Follows the block heads to the next header or the end of the file. *last: where the last block begins. */
static bool walk_heads(struct walk *w, uint32_t segment, struct segment_extent *x, uint64_t *last)
{
	uint8_t head[BLOCK_HEAD];
	size_t got;

	for (x->blocks = 1;; x->blocks++) {
		if (!read_at(w->fd, head, BLOCK_HEAD, x->end, &got))
			return false;
		if (got == 0)
			return true;
		if (got < BLOCK_HEAD || !block_head_is_good(head) || head[5])
			return false;
		if (head[4] == BLOCK_HEADER)
			return true;
		if (head[4] != BLOCK_RECORDS || le32_load(head + 12) != segment ||
		    le32_load(head + 16) != x->blocks)
			return false;
		*last = x->end;
		x->end += BLOCK_HEAD + le32_load(head + 8);
	}
}

static bool find_first(struct walk *w, uint64_t at, uint64_t end)
{
	struct slice payload;

	for (; at < end && !w->sampled; at += BLOCK_HEAD + payload.n) {
		if (!load_block(w, at, &payload) || !walk_block(w, cursor_over(payload.p, payload.n), true))
			return false;
	}
	return true;
}

static bool since_1970(const struct walk *w, uint64_t time, uint64_t *to)
{
	*to = w->realtime + time - w->monotonic;
	return time < INT64_MAX && w->realtime + time >= w->monotonic;
}

uint64_t segment_extent_waits(uint64_t first, bool has_since, uint64_t since)
{
	uint64_t reach = first > SEGMENT_REACH ? first - SEGMENT_REACH : 0;

	return !has_since ? reach : since < first ? since : first;
}

static bool measure_segment(struct walk *w, uint64_t at, struct segment_extent *x)
{
	uint64_t size, last = at, first, waits;
	uint32_t segment;
	struct slice payload;

	if (!walk_header(w, at, &size, &segment))
		return false;
	x->end = at + size;
	if (!walk_heads(w, segment, x, &last) || last == at || !find_first(w, at + size, x->end))
		return false;
	if (!load_block(w, last, &payload) || !walk_block(w, cursor_over(payload.p, payload.n), false) ||
	    !w->ended)
		return false;
	first = w->sampled ? w->first : w->end;
	waits = w->waits ? segment_extent_waits(first, w->has_since, w->since) : first;
	return since_1970(w, first, &x->from) && since_1970(w, w->end, &x->to) &&
	       since_1970(w, waits, &x->waits);
}

bool segment_extent_read(int fd, uint64_t at, struct segment_extent *x)
{
	struct walk w = { .fd = fd, .block = malloc(BLOCK_HEAD + BLOCK_MAX) };
	bool good = w.block && measure_segment(&w, at, x);

	free(w.block);
	return good;
}
