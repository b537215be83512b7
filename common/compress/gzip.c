#include "common/compress/gzip.h"

#include <stdlib.h>

#ifdef HAVE_ZLIB

#include <zlib.h>

enum {
	WINDOW = 15 + 16, /* 2^15 bytes; 16: the gzip format */
	MEMORY = 8,
	ROOM = 16 << 10,
};

struct gzip {
	z_stream z;
};

bool gzip_known(void)
{
	return true;
}

struct gzip *gzip_new(void)
{
	struct gzip *z = calloc(1, sizeof(*z));

	/*
	 * At the fastest level a profile shrinks to a fifth; a tenth less would take three times as long.
	 */
	if (z && deflateInit2(&z->z, Z_BEST_SPEED, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

void gzip_turn(struct gzip *z, enum gzip_way way, struct buf *out)
{
	static const int levels[] = { [GZIP_FAST] = 1, [GZIP_SMALL] = 9, [GZIP_TEXT] = 4, [GZIP_STORED] = 0 };
	enum { PENDING = 128 << 10 }; /* more than zlib holds back with this much memory */

	if (!buf_reserve(out, PENDING))
		return;
	z->z.avail_in = 0;
	z->z.next_out = out->p + out->n;
	z->z.avail_out = PENDING;
	if (deflateParams(&z->z, levels[way], Z_DEFAULT_STRATEGY) != Z_OK)
		out->failed = true;
	out->n += PENDING - z->z.avail_out;
}

/* Runs until the input is used up, and at the end until all output has come out. */
static void run_deflate(struct gzip *z, int flush, struct buf *out)
{
	int got = Z_OK;

	while (got != Z_STREAM_END && (z->z.avail_in || flush == Z_FINISH)) {
		if (!buf_reserve(out, ROOM))
			return;
		z->z.next_out = out->p + out->n;
		z->z.avail_out = ROOM;
		got = deflate(&z->z, flush);
		if (got != Z_OK && got != Z_STREAM_END) {
			out->failed = true;
			return;
		}
		out->n += ROOM - z->z.avail_out;
	}
}

void gzip_add(struct gzip *z, struct slice bytes, struct buf *out)
{
	enum { MOST = 1 << 30 };

	while (bytes.n && !out->failed) {
		size_t n = bytes.n < MOST ? bytes.n : MOST;

		z->z.next_in = (Bytef *)(uintptr_t)bytes.p;
		z->z.avail_in = (uInt)n;
		run_deflate(z, Z_NO_FLUSH, out);
		bytes = (struct slice){ bytes.p + n, bytes.n - n };
	}
}

void gzip_end(struct gzip *z, struct buf *out)
{
	z->z.avail_in = 0;
	run_deflate(z, Z_FINISH, out);
}

void gzip_free(struct gzip *z)
{
	if (!z)
		return;
	deflateEnd(&z->z);
	free(z);
}

#else

struct gzip {
	char none;
};

bool gzip_known(void)
{
	return false;
}

struct gzip *gzip_new(void)
{
	return calloc(1, sizeof(struct gzip));
}

void gzip_turn(struct gzip *z, enum gzip_way way, struct buf *out)
{
	(void)z;
	(void)way;
	(void)out;
}

void gzip_add(struct gzip *z, struct slice bytes, struct buf *out)
{
	(void)z;
	buf_bytes(out, bytes.p, bytes.n);
}

void gzip_end(struct gzip *z, struct buf *out)
{
	(void)z;
	(void)out;
}

void gzip_free(struct gzip *z)
{
	free(z);
}

#endif
