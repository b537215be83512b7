/*
 * Bytes as text that may stand in a page: compressed where zlib is there, in base64.
 *
 *	pack_append(&html, buf_view(&raw), texts);	// html.failed: out of memory
 *
 * Whether they are compressed tell the first two, 1f 8b. The same bytes give the same text.
 */
#ifndef CPROF_FLAME_PACK_H
#define CPROF_FLAME_PACK_H

#include "common/base/buf.h"

/* texts: how many of the bytes, from the first one on, are more texts than numbers. */
void pack_append(struct buf *out, struct slice raw, size_t texts);
/* RFC 4648, with padding. */
void pack_base64(struct buf *out, struct slice bytes);

#endif
