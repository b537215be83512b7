#include "common/page/base64.h"

#include "common/compress/gzip.h"

void base64_base64(struct buf *out, struct slice bytes)
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

/*
 * Compresses small data as well as possible. In large data, only the texts are compressed: the numbers of a
 * large tree repeat no sequences, and entropy coding alone would shrink the page by a seventh but take a
 * tenth of the total time.
 */
static void compress_gzip(struct buf *to, struct slice raw, size_t texts)
{
	enum { MUCH = 1 << 20 };
	bool much = raw.n - texts > MUCH;
	struct gzip *z = gzip_new();

	to->failed = to->failed || !z;
	if (!z)
		return;
	gzip_turn(z, much ? GZIP_TEXT : GZIP_SMALL, to);
	gzip_add(z, (struct slice){ raw.p, texts }, to);
	if (much)
		gzip_turn(z, GZIP_STORED, to);
	gzip_add(z, (struct slice){ raw.p + texts, raw.n - texts }, to);
	gzip_end(z, to);
	gzip_free(z);
}

void base64_append(struct buf *out, struct slice raw, size_t texts)
{
	struct buf small = { 0 };

	compress_gzip(&small, raw, texts);
	if (!small.failed)
		base64_base64(out, buf_view(&small));
	out->failed = out->failed || small.failed;
	buf_release(&small);
}
