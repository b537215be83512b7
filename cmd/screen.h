/*
 * A terminal that one text after another is drawn on, in the same place and as much as fits.
 *
 *	struct screen s = { 0 };
 *
 *	screen_open(&s);		// s.on: standard output is a terminal
 *	...
 *	while (screen_wait(&s, fd))	// until there is something to read
 *		screen_draw(&s, &text);	// it has another size
 *
 * Between two calls the terminal is as it was found, so whoever is killed leaves it in order.
 */
#ifndef CPROF_CMD_SCREEN_H
#define CPROF_CMD_SCREEN_H

#include <stdbool.h>

#include "common/base/buf.h"

struct screen {
	bool on;
	unsigned int lines, columns;
	bool drawn; /* something stands on it */
};

void screen_open(struct screen *s);
/* True where the size has changed, and lines and columns are the new ones; false: fd can be read. */
bool screen_wait(struct screen *s, int fd);
/*
 * Lines that do not fit are left out, and the last one then says how many; a line that is too long ends in "...".
 * It ends the program where that cannot be written.
 */
void screen_draw(struct screen *s, const struct buf *text);

#endif
