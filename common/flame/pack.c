#include "common/flame/pack.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

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

#ifdef HAVE_ZLIB
/* The lowest level where there is much: the next ones take twice the time for a tenth less. */
static bool compress_gzip(struct buf *to, struct slice raw)
{
	enum { MUCH = 1 << 20, GZIP = 16 + MAX_WBITS, MEMORY = 9, STEP = 1 << 20 };
	z_stream z = { .next_in = (Bytef *)raw.p };
	int got = Z_OK;

	if (deflateInit2(&z, raw.n < MUCH ? 9 : 1, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	while (got == Z_OK || got == Z_BUF_ERROR) {
		size_t left = raw.n - (size_t)(z.next_in - raw.p);

		if (!buf_reserve(to, STEP))
			break;
		z.avail_in = (uInt)(left < STEP ? left : STEP);
		z.avail_out = STEP;
		z.next_out = to->p + to->n;
		got = deflate(&z, left <= STEP ? Z_FINISH : Z_NO_FLUSH);
		to->n = (size_t)(z.next_out - to->p);
	}
	deflateEnd(&z);
	return got == Z_STREAM_END;
}
#endif

void pack_append(struct buf *out, struct slice raw)
{
#ifdef HAVE_ZLIB
	struct buf small = { 0 };

	if (compress_gzip(&small, raw)) {
		pack_base64(out, buf_view(&small));
		buf_release(&small);
		return;
	}
	buf_release(&small);
#endif
	pack_base64(out, raw);
}
