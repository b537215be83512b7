/*
 * The page: one HTML file that asks nothing of anybody, with its style, its scripts and the data in it.
 *
 *	struct buf html = { 0 };
 *
 *	if (!page_append(&html, &picture)) ...out of memory, if html.failed; otherwise a part is empty...
 *	fwrite(html.p, 1, html.n, stdout);
 *
 * page.html says where each part goes: <!--TITLE-->, <!--STYLE-->, <!--DATA--> and <!--SCRIPT-->.
 */
#ifndef CPROF_FLAME_PAGE_H
#define CPROF_FLAME_PAGE_H

#include "common/flame/picture.h"

/* False: out of memory, which out tells; or a file that belongs into the page has no bytes in this program. */
bool page_append(struct buf *out, const struct picture *pic);
/* The same with another page.html: each of the four parts has to be in it. */
bool page_fill(struct buf *out, const struct picture *pic, struct slice text);

#endif
