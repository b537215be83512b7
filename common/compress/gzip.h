/*
 * gzip compression by zlib, in one pass; unpack.h decompresses.
 *
 *	struct gzip *z = gzip_new();
 *
 *	gzip_add(z, bytes, &out);	// appends the output so far
 *	...write out, buf_clear it...
 *	gzip_end(z, &out);
 *	gzip_free(z);
 *
 * The header has no time and no name, so the same bytes give the same output. Failures set out.failed.
 * Without the library (HAVE_ZLIB) gzip_known is false, and bytes pass unchanged.
 */
#ifndef CPROF_COMPRESS_GZIP_H
#define CPROF_COMPRESS_GZIP_H

#include "common/base/buf.h"

struct gzip;

enum gzip_way {
	GZIP_FAST,   /* the initial way */
	GZIP_SMALL,  /* takes several times as long */
	GZIP_TEXT,   /* in between */
	GZIP_STORED, /* uncompressed: for data that hardly shrinks, such as a tree of small numbers */
};

bool gzip_known(void);
/* Returns NULL if out of memory. */
struct gzip *gzip_new(void);
/* Sets the way of compression for the bytes added from here on. */
void gzip_turn(struct gzip *z, enum gzip_way way, struct buf *out);
void gzip_add(struct gzip *z, struct slice bytes, struct buf *out);
void gzip_end(struct gzip *z, struct buf *out);
void gzip_free(struct gzip *z);

#endif
