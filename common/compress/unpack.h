/*
 * Decompression of gzip, zstd and xz, a piece at a time: nothing of the output is kept, so that a small
 * file with an enormous content costs time alone.
 *
 *	struct unpack *u = unpack_new(packing_of(start));
 *
 *	while (...in has bytes, or more can be read into it...)
 *		if (!unpack_step(u, &in, to, sizeof(to), &n)) ...unpack_state(u) says why...
 *		...n bytes are in to...
 *	if (!unpack_ended(u)) ...the input was cut short...
 *	unpack_free(u);
 *
 * Several compressed files in a row are one, as gzip(1), zstd(1) and xz(1) have it. Zero bytes may follow
 * them.
 */
#ifndef CPROF_COMPRESS_UNPACK_H
#define CPROF_COMPRESS_UNPACK_H

#include "common/base/buf.h"

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD, PACKED_XZ, PACKINGS };

/* Enough bytes to recognize each packing. */
enum { PACKING_BYTES = 6 };

/* Returns the packing of input that begins with these bytes. */
enum packing packing_of(struct slice start);
/* Returns true if further bytes could make the start that of a packed input. */
bool packing_open(struct slice start);
/* "gzip" */
const char *packing_name(enum packing p);
/* Returns the library that this build lacks for it, "zlib", or NULL if the packing can be read. */
const char *packing_lacks(enum packing p);

enum unpack_state {
	UNPACK_GOOD,
	UNPACK_DAMAGED,
	UNPACK_LARGE, /* more memory is required than UNPACK_MEMORY */
	UNPACK_NO_MEMORY,
};

/* Memory that a compressed file may demand: what zstd and xz ask for up to their highest usual levels. */
enum { UNPACK_MEMORY = 128 << 20 };

struct unpack;

/* Returns NULL if out of memory. This build must have the packing. */
struct unpack *unpack_new(enum packing p);
/*
 * Decompresses bytes of *in, which loses them, to at most size bytes, and sets *n to their number. Bytes
 * may be left in *in: call it again, even with an empty *in, until *n is less than size. Returns false
 * unless the state is UNPACK_GOOD; the bytes decompressed before are in to.
 */
bool unpack_step(struct unpack *u, struct slice *in, uint8_t *to, size_t size, size_t *n);
enum unpack_state unpack_state(const struct unpack *u);
/* Returns true if the input may end here. */
bool unpack_ended(const struct unpack *u);
void unpack_free(struct unpack *u);

/*
 * Decompresses a whole file and appends it to out. Returns false if the file is damaged or cut, larger than
 * most, or if memory is short (out.failed); out then has what could be read.
 */
bool unpack_whole(enum packing p, struct slice bytes, size_t most, struct buf *out);

#endif
