/*
 * The colours of boxes in static pictures, the same as on the page.
 *
 *	char text[COLOUR_TEXT];
 *
 *	colour_name(text, NULL, KIND_KERNEL, name);	// "#8abff1": by kind, and a little by name
 *	colour_change(text, -0.4);			// blue: less, two fifths of the largest change
 *
 * The hues of the kinds can be told apart with any colour vision (after M. Okabe and K. Ito), and the kinds
 * differ in lightness. Within a kind the name shifts the colour a little, the same in every picture.
 * Lightness, chroma and hue are OKLCH (B. Ottosson).
 */
#ifndef CPROF_FLAME_COLOUR_H
#define CPROF_FLAME_COLOUR_H

#include "common/flame/kind.h"

enum { COLOUR_TEXT = 8 };

/* Values of --colors: by kind, or one hue for all kinds. */
#define COLOURS "kind, hot, red, orange, yellow, green, aqua, blue, purple, io, mem, grey, java, js, perl and python"

/* Returns whether the text is a value of --colors. */
bool colours_known(const char *scheme);
/*
 * Stores "#rrggbb" with a NUL. scheme: NULL means "kind", and so do the names of flamegraph.pl's schemes with
 * their own kinds, such as "java".
 */
void colour_name(char to[COLOUR_TEXT], const char *scheme, enum kind kind, struct slice name);
/* Stores the kind's colour without the shift, for the legend. */
void colour_kind(char to[COLOUR_TEXT], const char *scheme, enum kind kind);
/* Stores the colour of a change. change: from -1 to 1, relative to the largest change; 0: not significant. */
void colour_change(char to[COLOUR_TEXT], double change);

#endif
