/*
 * Redraws texts in place on a terminal, as much of each as fits.
 *
 *	struct screen s = { 0 };
 *
 *	screen_open(&s);		// s.on: standard output is a terminal
 *	...
 *	while (screen_wait(&s, fd))	// until there is something to read
 *		screen_draw(&s, &text);	// the size has changed
 *
 * Between two calls the terminal is in its normal mode, so a killed program leaves it in order.
 */
#ifndef CPROF_TOP_SCREEN_H
#define CPROF_TOP_SCREEN_H

#include <stdbool.h>

#include "common/base/buf.h"

struct screen {
	bool on;
	unsigned int lines, columns;
	bool drawn; /* a text has been drawn */
};

/* Sets on, lines and columns, and begins to watch for changes of the size. */
void screen_open(struct screen *s);
/* Waits. Returns true after a change of the size, with lines and columns updated; false if fd can be read. */
bool screen_wait(struct screen *s, int fd);
/*
 * Draws the text. If lines do not fit, the last line says how many are missing. A line that is too long ends
 * in "...". Exits with status 1 if the write fails.
 */
void screen_draw(struct screen *s, const struct buf *text);

#endif
