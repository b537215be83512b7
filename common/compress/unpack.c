#include "common/compress/unpack.h"

#include <stdlib.h>

#include "common/compress/unpack_internal.h"

static const struct decoder *const decoders[PACKINGS] = {
	[PACKED_GZIP] = &decoder_gzip,
	[PACKED_ZSTD] = &decoder_zstd,
	[PACKED_XZ] = &decoder_xz,
};

static const struct magic {
	enum packing packing;
	size_t n;
	uint8_t bytes[PACKING_BYTES];
} magics[] = {
	{ PACKED_GZIP, 2, { 0x1f, 0x8b } },
	{ PACKED_ZSTD, 4, { 0x28, 0xb5, 0x2f, 0xfd } },
	{ PACKED_ZSTD, 4, { 0x50, 0x2a, 0x4d, 0x18 } }, /* a skippable frame, with which pzstd begins */
	{ PACKED_XZ, 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
};

struct unpack {
	const struct decoder *decoder;
	void *of; /* the decoder's state */
	enum unpack_state state;
	bool ended; /* a file has ended, and no other has begun */
};

enum packing packing_of(struct slice start)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (start.n >= magics[i].n && memcmp(start.p, magics[i].bytes, magics[i].n) == 0)
			return magics[i].packing;
	}
	return PACKED_NOT;
}

bool packing_open(struct slice start)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (start.n < magics[i].n && (!start.n || memcmp(start.p, magics[i].bytes, start.n) == 0))
			return true;
	}
	return false;
}

const char *packing_name(enum packing p)
{
	return decoders[p]->name;
}

const char *packing_lacks(enum packing p)
{
	return decoders[p]->begin ? NULL : decoders[p]->library;
}

struct unpack *unpack_new(enum packing p)
{
	struct unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->decoder = decoders[p];
	u->of = u->decoder->begin();
	if (!u->of) {
		free(u);
		return NULL;
	}
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	u->decoder->end(u->of);
	free(u);
}

enum unpack_state unpack_state(const struct unpack *u)
{
	return u->state;
}

bool unpack_ended(const struct unpack *u)
{
	return u->ended;
}

/* Leaves out zero bytes after a file. Returns false if nothing else is there. */
static bool begin_next(struct unpack *u, struct slice *in)
{
	while (in->n && !in->p[0])
		*in = (struct slice){ in->p + 1, in->n - 1 };
	if (!in->n)
		return false;
	u->ended = false;
	if (!u->decoder->again(u->of))
		u->state = UNPACK_NO_MEMORY;
	return u->state == UNPACK_GOOD;
}

static enum unpack_state state_after(enum decoded got)
{
	return got == DECODED_DAMAGED ? UNPACK_DAMAGED :
	       got == DECODED_LARGE ? UNPACK_LARGE :
	       got == DECODED_NO_MEMORY ? UNPACK_NO_MEMORY : UNPACK_GOOD;
}

bool unpack_step(struct unpack *u, struct slice *in, uint8_t *to, size_t size, size_t *n)
{
	*n = 0;
	while (u->state == UNPACK_GOOD && *n < size && (!u->ended || begin_next(u, in))) {
		size_t left = in->n, got = 0;
		enum decoded result = u->decoder->step(u->of, in, to + *n, size - *n, &got);

		*n += got;
		u->ended = result == DECODED_END;
		u->state = state_after(result);
		if (result == DECODED_MORE && !got && in->n == left)
			break; /* it requires more bytes */
	}
	return u->state == UNPACK_GOOD;
}

bool unpack_whole(enum packing p, struct slice bytes, size_t most, struct buf *out)
{
	enum { ROOM = 64 << 10 };
	struct unpack *u = packing_lacks(p) ? NULL : unpack_new(p);
	size_t n = ROOM;
	bool good = u;

	out->failed = out->failed || (!u && !packing_lacks(p));
	while (good && n == ROOM && out->n <= most && buf_reserve(out, ROOM)) {
		good = unpack_step(u, &bytes, out->p + out->n, ROOM, &n);
		out->n += n;
	}
	out->failed = out->failed || (u && u->state == UNPACK_NO_MEMORY);
	good = good && !out->failed && out->n <= most && u->ended;
	unpack_free(u);
	return good;
}
