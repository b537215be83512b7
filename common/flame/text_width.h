/*
 * Estimates the width of a text without the font.
 *
 *	struct slice s = text_width_text(name, 80, 12);	// as much as fits into 80 pixels; font of 12 pixels
 *
 * The widths are those of DejaVu Sans, one of the widest sans-serif fonts, by classes of characters.
 */
#ifndef CPROF_FLAME_TEXT_WIDTH_H
#define CPROF_FLAME_TEXT_WIDTH_H

#include "common/base/cursor.h"

/* Returns the width in pixels. The text is valid UTF-8. */
double text_width_width(struct slice text, double fontsize);
/* Returns the longest prefix of whole characters that is no wider than width pixels. */
struct slice text_width_text(struct slice text, double width, double fontsize);

#endif
