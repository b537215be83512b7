/*
 * Keys of the terminal that a program runs on, one at a time and without echo.
 *
 *	int fd = keyboard_open();	// -1: there is none
 *
 *	...poll fd...
 *	while ((key = keyboard_next()))
 *		...a letter, or KEY_UP...
 *	keyboard_close();
 *
 * The terminal gets its mode back at exit, also by a signal that ends the process, and while it is stopped.
 */
#ifndef CPROF_TOP_KEYBOARD_H
#define CPROF_TOP_KEYBOARD_H

#include <stdbool.h>

enum keyboard_key {
	KEY_NONE = 0,
	KEY_BACKSPACE = 0x7f,
	KEY_ENTER = '\n',
	KEY_ESCAPE = 0x1b,
	KEY_UP = 0x100,
	KEY_DOWN,
	KEY_OTHER, /* to be ignored */
};

/*
 * Opens the terminal for keys if this program is in the foreground. takes_input: the program reads data from
 * standard input, which must not be the terminal then. Returns the descriptor, which never blocks, or -1.
 */
int keyboard_open(bool takes_input);
/* Returns the next key: a byte, or one of enum keyboard_key. KEY_NONE: no more for now. */
int keyboard_next(void);
/* Returns whether the process was stopped and has continued since the last call: draw again. */
bool keyboard_continued(void);
void keyboard_close(void);

#endif
