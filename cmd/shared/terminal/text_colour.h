/*
 * Colours of text on a terminal: the option --color and the environment variable NO_COLOR.
 *
 *	case COLOUR_OPTION:
 *		colour_option(optarg);
 *	...
 *	buf_text(&out, colour_on() ? COLOUR_HOT : "");
 */
#ifndef CPROF_CMD_COLOUR_H
#define CPROF_CMD_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/shared/command_line.h"

#define COLOUR_HOT "\033[1;31m"
#define COLOUR_WARM "\033[33m"
#define COLOUR_FELL "\033[32m"
#define COLOUR_DIM "\033[2m"
#define COLOUR_BACK "\033[7m" /* the text on its background reversed */
#define COLOUR_PLAIN "\033[0m"

enum { COLOUR_OPTION = 0x8000 };

/* The rows of the options; the second is the other spelling. */
#define COLOUR_ROWS                                                                \
	{ OPTIONS_OUTPUT, COLOUR_OPTION, "color", "auto|always|never",             \
	  "colours: on terminals only (auto)" },                                   \
	{                                                                          \
		OPTIONS_OUTPUT, COLOUR_OPTION, "colour", "auto|always|never", NULL \
	}

/* Takes the argument of --color; any other word is a usage error. */
void colour_option(const char *text);
/*
 * Returns whether standard output gets colours: always, never, or if it is a terminal that is not "dumb" and
 * NO_COLOR is unset or empty.
 */
bool colour_on(void);
/*
 * Returns the colour of a weight beside the heaviest one: hot from half of it on, warm from a tenth; or
 * "".
 */
const char *colour_of(uint64_t weight, uint64_t heaviest);

#endif
