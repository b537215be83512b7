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
/* Some bytes of the input, with a strategy of their own, to the end of the output or of those bytes. */
static int deflate_part(z_stream *z, struct buf *to, size_t n, int flush)
{
	enum { STEP = 1 << 20 };
	const uint8_t *end = z->next_in + n;
	int got = Z_OK;

	do {
		size_t left = (size_t)(end - z->next_in);

		if (!buf_reserve(to, STEP))
			return Z_MEM_ERROR;
		z->avail_in = (uInt)(left < STEP ? left : STEP);
		z->avail_out = STEP;
		z->next_out = to->p + to->n;
		got = deflate(z, left <= STEP ? flush : Z_NO_FLUSH);
		to->n = (size_t)(z->next_out - to->p);
	} while (got == Z_OK && (z->next_in < end || z->avail_out == 0 || flush == Z_FINISH));
	return got;
}

/*
 * What little there is, as small as it can be. Of a large tree the numbers repeat no longer sequences: coding them
 * singly takes half the time of the lowest level, and less room.
 */
static bool compress_gzip(struct buf *to, struct slice raw, size_t texts)
{
	enum { MUCH = 1 << 20, GZIP = 16 + MAX_WBITS, MEMORY = 9 };
	z_stream z = { .next_in = (Bytef *)raw.p };
	bool much = raw.n - texts > MUCH;
	int got;

	if (deflateInit2(&z, much ? 4 : 9, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	got = deflate_part(&z, to, texts, Z_BLOCK);
	if (got == Z_OK && much)
		got = deflateParams(&z, 4, Z_HUFFMAN_ONLY);
	if (got == Z_OK)
		got = deflate_part(&z, to, raw.n - texts, Z_FINISH);
	deflateEnd(&z);
	return got == Z_STREAM_END;
}
#endif

void pack_append(struct buf *out, struct slice raw, size_t texts)
{
#ifdef HAVE_ZLIB
	struct buf small = { 0 };

	if (compress_gzip(&small, raw, texts)) {
		pack_base64(out, buf_view(&small));
		buf_release(&small);
		return;
	}
	buf_release(&small);
#else
	(void)texts;
#endif
	pack_base64(out, raw);
}
