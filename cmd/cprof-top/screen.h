/*
 * Redraws texts in place on a terminal, as much of each as fits.
 *
 *	struct screen s = { .keys = -1 };
 *
 *	screen_open(&s);		// s.on: standard output is a terminal
 *	...
 *	while ((event = screen_wait(&s, fd)) != SCREEN_INPUT)	// until there is something to read
 *		screen_draw(&s, &text, line, "q quit");		// a new size, or keys
 *	screen_leave(&s);
 *
 * Between two calls the screen is in its normal mode, so a killed program leaves it in order; see keyboard.h
 * for the terminal's.
 */
#ifndef CPROF_TOP_SCREEN_H
#define CPROF_TOP_SCREEN_H

#include <stdbool.h>

#include "common/base/buf.h"

struct screen {
	bool on;
	unsigned int lines, columns;
	int keys;   /* descriptor of the keyboard, or -1 */
	bool drawn; /* a text has been drawn */
};

enum screen_event { SCREEN_INPUT, SCREEN_RESIZED, SCREEN_KEYS };

/* Sets on, lines and columns, and begins to watch for changes of the size. */
void screen_open(struct screen *s);
/*
 * Waits. After a change of the size, lines and columns are updated; a program that was stopped and continues
 * gets the same event. SCREEN_INPUT: fd can be read.
 */
enum screen_event screen_wait(struct screen *s, int fd);
/*
 * Draws the text, which may have colours. If lines do not fit, the last line says how many are missing. A
 * line that is too long ends in "...". marked: number of a line to be shown reversed, or -1. If it does not
 * fit, lines after the first ones, of which there are head, scroll away. status: the line of the cursor, or
 * NULL. Exits with status 1 if the write fails.
 */
void screen_draw(struct screen *s, const struct buf *text, long marked, size_t head, const char *status);
/* Clears the line of the cursor. */
void screen_leave(struct screen *s);

#endif
