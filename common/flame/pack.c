#include "common/flame/pack.h"

#include "common/export/gzip.h"

void pack_base64(struct buf *out, struct slice bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t at = 0;
	uint8_t *to;

	if (!buf_reserve(out, bytes.n / 3 * 4 + 4))
		return;
	to = out->p + out->n;
	for (; bytes.n - at >= 3; at += 3) {
		uint32_t v = (uint32_t)bytes.p[at] << 16 | (uint32_t)bytes.p[at + 1] << 8 | bytes.p[at + 2];

		*to++ = (uint8_t)digits[v >> 18];
		*to++ = (uint8_t)digits[v >> 12 & 63];
		*to++ = (uint8_t)digits[v >> 6 & 63];
		*to++ = (uint8_t)digits[v & 63];
	}
	if (bytes.n - at > 0) {
		bool two = bytes.n - at == 2;
		uint32_t v = (uint32_t)bytes.p[at] << 16 | (two ? (uint32_t)bytes.p[at + 1] << 8 : 0);

		*to++ = (uint8_t)digits[v >> 18];
		*to++ = (uint8_t)digits[v >> 12 & 63];
		*to++ = two ? (uint8_t)digits[v >> 6 & 63] : '=';
		*to++ = '=';
	}
	out->n = (size_t)(to - out->p);
}

void pack_append(struct buf *out, struct slice raw)
{
	enum { MUCH = 1 << 20 };
	struct gzip *z = gzip_known() ? gzip_new(raw.n < MUCH ? GZIP_SMALL : GZIP_FAST) : NULL;
	struct buf small = { 0 };

	if (z) {
		gzip_add(z, raw, &small);
		gzip_end(z, &small);
	}
	pack_base64(out, z && !small.failed ? buf_view(&small) : raw);
	buf_release(&small);
	gzip_free(z);
}
