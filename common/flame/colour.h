/*
 * The colours of boxes: those of the page, for pictures that stand still.
 *
 *	char text[COLOUR_TEXT];
 *
 *	colour_name(text, NULL, KIND_KERNEL, name);	// "#8abff1": by kind, and a little by name
 *	colour_change(text, -0.4);			// blue: less, to two fifths of the largest change
 *
 * Kinds have hues that people of all kinds of sight tell apart (after M. Okabe and K. Ito), and differ in
 * lightness. Within a kind the name moves the colour a little, the same in every picture. Lightness, chroma and hue
 * are OKLCH (B. Ottosson).
 */
#ifndef CPROF_FLAME_COLOUR_H
#define CPROF_FLAME_COLOUR_H

#include "common/flame/kind.h"

enum { COLOUR_TEXT = 8 };

/* What --colors takes: kinds, or one hue for all of them. */
#define COLOURS "kind, hot, red, orange, yellow, green, aqua, blue, purple, io, mem, grey, java, js, perl and python"

bool colours_known(const char *scheme);
/* scheme: NULL is "kind", and so is what has kinds of its own in flamegraph.pl, as "java". */
void colour_name(char to[COLOUR_TEXT], const char *scheme, enum kind kind, struct slice name);
/* The kind's own, for the legend. */
void colour_kind(char to[COLOUR_TEXT], const char *scheme, enum kind kind);
/* change: -1 to 1 of the largest one; 0: not significant. */
void colour_change(char to[COLOUR_TEXT], double change);

#endif
