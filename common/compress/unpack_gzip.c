#include "common/compress/unpack_internal.h"

#ifdef HAVE_ZLIB

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum { WINDOW = 15 + 16 }; /* 2^15 bytes; 16: the gzip format */

static void *begin_gzip(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, WINDOW) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static bool again_gzip(void *state)
{
	return inflateReset(state) == Z_OK;
}

static enum decoded step_gzip(void *state, struct slice *in, uint8_t *to, size_t size, size_t *n)
{
	z_stream *z = state;
	uInt given = in->n < UINT_MAX ? (uInt)in->n : UINT_MAX, room = size < UINT_MAX ? (uInt)size : UINT_MAX;
	int got;

	z->next_in = (Bytef *)(uintptr_t)in->p;
	z->avail_in = given;
	z->next_out = to;
	z->avail_out = room;
	got = inflate(z, Z_NO_FLUSH);
	*n = room - z->avail_out;
	*in = (struct slice){ in->p + (given - z->avail_in), in->n - (given - z->avail_in) };
	return got == Z_STREAM_END ? DECODED_END :
	       got == Z_OK || got == Z_BUF_ERROR ? DECODED_MORE :
	       got == Z_MEM_ERROR ? DECODED_NO_MEMORY : DECODED_DAMAGED;
}

static void end_gzip(void *state)
{
	inflateEnd(state);
	free(state);
}

const struct decoder decoder_gzip = { "gzip", "zlib", begin_gzip, again_gzip, step_gzip, end_gzip };

#else

const struct decoder decoder_gzip = { .name = "gzip", .library = "zlib" };

#endif
