/*
 * How wide a text is, for who cannot ask the font.
 *
 *	struct slice s = fit_text(name, 80, 12);	// as much of it as 80 pixels hold at 12 pixels
 *
 * Widths are those of DejaVu Sans, one of the widest of its kind, by classes of characters.
 */
#ifndef CPROF_FLAME_FIT_H
#define CPROF_FLAME_FIT_H

#include "common/base/cursor.h"

/* In pixels; the text is valid UTF-8. */
double fit_width(struct slice text, double fontsize);
/* The longest beginning of whole characters no wider than that. */
struct slice fit_text(struct slice text, double width, double fontsize);

#endif
