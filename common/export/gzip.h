/*
 * gzip by zlib, in one pass.
 *
 *	struct gzip *z = gzip_new();
 *
 *	gzip_add(z, bytes, &out);	// appends what has come out so far
 *	...write out, buf_clear it...
 *	gzip_end(z, &out);
 *	gzip_free(z);
 *
 * The header has no time and no name: the same bytes give the same. Failures stay in out. Without the library
 * (HAVE_ZLIB) gzip_known is false, and bytes pass as they are.
 */
#ifndef CPROF_EXPORT_GZIP_H
#define CPROF_EXPORT_GZIP_H

#include "common/base/buf.h"

struct gzip;

enum gzip_way {
	GZIP_FAST,   /* as it begins */
	GZIP_SMALL,  /* takes several times as long */
	GZIP_TEXT,   /* in between */
	GZIP_STORED, /* as it is: for what hardly shrinks, as a tree of small numbers */
};

bool gzip_known(void);
/* NULL without memory. */
struct gzip *gzip_new(void);
/* How to go about what is added from here on. */
void gzip_turn(struct gzip *z, enum gzip_way way, struct buf *out);
void gzip_add(struct gzip *z, struct slice bytes, struct buf *out);
void gzip_end(struct gzip *z, struct buf *out);
void gzip_free(struct gzip *z);

#endif
