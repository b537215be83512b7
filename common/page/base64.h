/*
 * Encodes bytes as base64 text for a page, compressed if zlib is available.
 *
 *	base64_append(&html, buf_view(&raw), texts);	// html.failed: out of memory
 *
 * Compressed data begins with 1f 8b. The same bytes give the same text.
 */
#ifndef CPROF_PAGE_BASE64_H
#define CPROF_PAGE_BASE64_H

#include "common/base/buf.h"

/* texts: the number of leading bytes that are mostly text. The other bytes are mostly numbers. */
void base64_append(struct buf *out, struct slice raw, size_t texts);
/* Appends base64 (RFC 4648) with padding. */
void base64_base64(struct buf *out, struct slice bytes);

#endif
