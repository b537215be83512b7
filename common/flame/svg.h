/*
 * A flame graph that stands still: SVG, for a document or a report.
 *
 *	struct buf svg = { 0 };
 *
 *	if (!svg_append(&svg, &picture)) ...out of memory...
 *
 * It has all that the page has without being asked: boxes of the tree, with what they hold as tooltips, the
 * legend, the ledger. Boxes narrower than look.minwidth are drawn together, and so are no more than
 * SVG_LEVELS levels, which is what programs that show SVG can take.
 */
#ifndef CPROF_FLAME_SVG_H
#define CPROF_FLAME_SVG_H

#include "common/flame/picture.h"

enum { SVG_LEVELS = 1500 };

bool svg_append(struct buf *out, const struct picture *pic);

#endif
