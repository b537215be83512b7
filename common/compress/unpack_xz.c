#include "common/compress/unpack_internal.h"

#ifdef HAVE_LIBLZMA

#include <lzma.h>
#include <stdlib.h>

static bool again_xz(void *state)
{
	return lzma_stream_decoder(state, UNPACK_MEMORY, 0) == LZMA_OK;
}

static void end_xz(void *state)
{
	lzma_end(state);
	free(state);
}

static void *begin_xz(void)
{
	static const lzma_stream initial = LZMA_STREAM_INIT;
	lzma_stream *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = initial;
	if (again_xz(s))
		return s;
	end_xz(s);
	return NULL;
}

static enum decoded step_xz(void *state, struct slice *in, uint8_t *to, size_t size, size_t *n)
{
	lzma_stream *s = state;
	lzma_ret got;

	s->next_in = in->p;
	s->avail_in = in->n;
	s->next_out = to;
	s->avail_out = size;
	got = lzma_code(s, LZMA_RUN);
	*n = size - s->avail_out;
	*in = (struct slice){ s->next_in, s->avail_in };
	switch (got) {
	case LZMA_STREAM_END:
		return DECODED_END;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return DECODED_MORE;
	case LZMA_MEMLIMIT_ERROR:
		return DECODED_LARGE;
	case LZMA_MEM_ERROR:
		return DECODED_NO_MEMORY;
	default:
		return DECODED_DAMAGED;
	}
}

const struct decoder decoder_xz = { "xz", "liblzma", begin_xz, again_xz, step_xz, end_xz };

#else

const struct decoder decoder_xz = { .name = "xz", .library = "liblzma" };

#endif
