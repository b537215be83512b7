#include "common/compress/unpack_internal.h"

#ifdef HAVE_LIBZSTD

#include <zstd.h>
#include <zstd_errors.h>

/* The library's own limit of a frame's window is that of UNPACK_MEMORY. */
static void *begin_zstd(void)
{
	return ZSTD_createDStream();
}

static bool again_zstd(void *state)
{
	return !ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only));
}

static enum decoded state_of(size_t error)
{
	switch (ZSTD_getErrorCode(error)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		return DECODED_LARGE;
	case ZSTD_error_memory_allocation:
		return DECODED_NO_MEMORY;
	default:
		return DECODED_DAMAGED;
	}
}

static enum decoded step_zstd(void *state, struct slice *in, uint8_t *to, size_t size, size_t *n)
{
	ZSTD_inBuffer from = { in->p, in->n, 0 };
	ZSTD_outBuffer out = { to, size, 0 };
	size_t left = ZSTD_decompressStream(state, &out, &from);

	*n = out.pos;
	*in = (struct slice){ in->p + from.pos, in->n - from.pos };
	if (ZSTD_isError(left))
		return state_of(left);
	return left ? DECODED_MORE : DECODED_END;
}

static void end_zstd(void *state)
{
	ZSTD_freeDStream(state);
}

const struct decoder decoder_zstd = { "zstd", "libzstd", begin_zstd, again_zstd, step_zstd, end_zstd };

#else

const struct decoder decoder_zstd = { .name = "zstd", .library = "libzstd" };

#endif
