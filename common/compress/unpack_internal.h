/* Decoders of one compressed file, for unpack.c. A decoder of a missing library has begin NULL. */
#ifndef CPROF_COMPRESS_UNPACK_INTERNAL_H
#define CPROF_COMPRESS_UNPACK_INTERNAL_H

#include "common/compress/unpack.h"

enum decoded { DECODED_MORE, DECODED_END, DECODED_DAMAGED, DECODED_LARGE, DECODED_NO_MEMORY };

struct decoder {
	const char *name, *library;
	void *(*begin)(void); /* NULL: out of memory */
	/* Prepares for another file after an end. Returns false if out of memory. */
	bool (*again)(void *state);
	/* Reads bytes of *in and sets *n to the number of those written, as unpack_step. */
	enum decoded (*step)(void *state, struct slice *in, uint8_t *to, size_t size, size_t *n);
	void (*end)(void *state);
};

extern const struct decoder decoder_gzip, decoder_zstd, decoder_xz;

#endif
