#include "common/stream/header_facts.h"

#include "common/stream/block.h"
#include "common/stream/record_coding.h"

const char *const header_series_keys[HEADER_SERIES_KEYS] = { "host", "machine-id", "boot-id", "command-line" };

static bool is_of_series(struct slice key)
{
	for (size_t i = 0; i < HEADER_SERIES_KEYS; i++) {
		if (slice_is(key, header_series_keys[i]))
			return true;
	}
	return false;
}

bool header_facts_read(struct slice bytes, struct header_facts *h)
{
	struct slice payload, body;
	struct cursor records;
	uint64_t type, time = 0;
	struct record r;

	*h = (struct header_facts){ 0 };
	if (bytes.n < BLOCK_HEAD + BLOCK_VERSION_BYTES || !block_head_is_good(bytes.p) ||
	    bytes.p[4] != BLOCK_HEADER)
		return false;
	payload = (struct slice){ bytes.p + BLOCK_HEAD, le32_load(bytes.p + 8) };
	if (payload.n > bytes.n - BLOCK_HEAD || payload.n < BLOCK_VERSION_BYTES ||
	    le64_load(bytes.p + 24) != hash_bytes(payload.p, payload.n))
		return false;
	records = cursor_over(payload.p + BLOCK_VERSION_BYTES, payload.n - BLOCK_VERSION_BYTES);
	while (cursor_left(&records)) {
		if (!cursor_varint(&records, &type) || type >> 32 || !cursor_slice(&records, &body))
			return false;
		if (type != RECORD_META || !record_decode(&r, RECORD_META, body, &time))
			continue;
		if (slice_is(r.meta.key, "start-realtime-ns"))
			h->start = slice_decimal(r.meta.value);
		h->booted = h->booted || (slice_is(r.meta.key, "boot-id") && r.meta.value.n);
		if (is_of_series(r.meta.key))
			h->series = hash_u64(h->series ^ hash_bytes(r.meta.value.p, r.meta.value.n));
	}
	return h->start > 0;
}
