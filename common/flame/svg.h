/*
 * A static flame graph as SVG, for a document or a report.
 *
 *	struct buf svg = { 0 };
 *
 *	if (!svg_append(&svg, &picture)) ...out of memory...
 *
 * It shows what the page shows without interaction: the boxes of the tree, with details as tooltips, the
 * legend and the ledger. Boxes narrower than look.minwidth are drawn as one dotted bar, and those on top of
 * them are left out. No more than SVG_LEVELS levels are drawn, because SVG viewers cannot handle deeper pictures. The
 * picture is as wide as its place, unless look.fixed, and follows the colour scheme, unless look.background.
 */
#ifndef CPROF_FLAME_SVG_H
#define CPROF_FLAME_SVG_H

#include "common/flame/picture.h"

enum { SVG_LEVELS = 1500 };

/* Appends the picture. Returns false if out of memory. */
bool svg_append(struct buf *out, const struct picture *pic);

#endif
