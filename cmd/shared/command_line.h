/*
 * The options of a command as one table: parsing, --help and the completions come from it, and
 * tests/house/man.t compares it with the command's page.
 *
 *	static const struct option_row options[] = {
 *		{ OPTIONS_OUTPUT, 'n', "rows", "ROWS", "show this number of rows (20)" },
 *		CLI_ROWS,
 *		{ 0 },
 *	};
 *	static const struct command_line command = { "cprof-x", "show x", "[FILE ...]", options };
 *
 *	cli_begin(&command);
 *	while ((c = cli_option(argc, argv)) != -1)
 *		...c is the row's value, optarg its argument...
 */
#ifndef CPROF_CMD_COMMAND_LINE_H
#define CPROF_CMD_COMMAND_LINE_H

#include <getopt.h>

/* Headings of --help, in their order. */
enum option_group {
	OPTIONS_VIEW,
	OPTIONS_TARGET,
	OPTIONS_HOW,
	OPTIONS_SELECT,
	OPTIONS_FRAMES,
	OPTIONS_SHAPE,
	OPTIONS_FILES,
	OPTIONS_LOOKS,
	OPTIONS_SERIES,
	OPTIONS_OUTPUT,
	OPTIONS_OTHER,
	OPTION_GROUPS,
};

/*
 * An option. The value is returned by cli_option; if it is a letter or a digit, it is the short option too.
 * argument: its name in capitals, or its values, as "html|svg"; in brackets, "[=MIN]", if it may be left out;
 * NULL if there is none. text: a line that says what the option does; NULL for a second name, which is accepted
 * and not listed. The last row has no name.
 */
struct option_row {
	enum option_group group;
	int value;
	const char *name, *argument, *text;
};

struct command_line {
	const char *name;     /* "cprof-top" */
	const char *purpose;  /* "show where the time went, as a table" */
	/* "[FILE ...]"; several forms are separated by newlines. If the first is COMMAND, options end before it. */
	const char *operands;
	const struct option_row *rows;
};

/* Rows of the options that each command has; cli_other handles them. */
#define CLI_ROWS                                                       \
	{ OPTIONS_OTHER, 'h', "help", NULL, "print this text and exit" }, \
	{ OPTIONS_OTHER, 'V', "version", NULL, "print the version and exit" }

/*
 * As getopt_long by the table of cli_begin, but an unknown option or a missing argument is a usage error with a
 * message of ours. So is a shortened option that would take an existing file as its argument.
 */
int cli_option(int argc, char **argv);
/*
 * Handles an option that the command does not handle itself. Prints the help (--help) or the version
 * (--version) on stdout and exits with status 0; any other option is a usage error.
 */
void cli_other(int option) __attribute__((noreturn));
/*
 * Reports a value that is none of those in the table as a usage error. option: as the user writes it, "--by" or
 * "-o".
 */
void cli_invalid(const char *option, const char *text) __attribute__((noreturn));
/* Prints the options in their groups, as --help does. */
void cli_print_options(void);
/* Returns the word that the text was most likely meant to be, or NULL. words ends with NULL. */
const char *cli_guess(const char *text, const char *const *words);
/* Returns the command of cli_begin. */
const struct command_line *cli_command(void);

#endif
