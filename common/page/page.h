/*
 * The page: one self-contained HTML file with its style, scripts and data.
 *
 *	struct buf html = { 0 };
 *
 *	if (!page_append(&html, &picture)) ...out of memory, if html.failed; otherwise a part is empty...
 *	fwrite(html.p, 1, html.n, stdout);
 *
 * page.html marks the place of each part: <!--TITLE-->, <!--STYLE-->, <!--DATA--> and <!--SCRIPT-->.
 * For viewers that run no scripts it also has <!--HEADING-->, <!--SUBTITLE--> and <!--LEDGER-->.
 * <!--SOURCES--> is the place of the block of sources.
 */
#ifndef CPROF_PAGE_PAGE_H
#define CPROF_PAGE_PAGE_H

#include "common/flame/picture.h"

/*
 * Appends the page. Returns false if out of memory (out->failed), or if an embedded file has no bytes because
 * the program was linked incorrectly.
 */
bool page_append(struct buf *out, const struct picture *pic);
/*
 * As page_append, with the text in place of page.html. Also returns false if one of the four marks is
 * missing.
 */
bool page_fill(struct buf *out, const struct picture *pic, struct slice text);

#endif
