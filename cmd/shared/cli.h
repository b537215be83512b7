/*
 * Messages, option values and exit of the commands. cprof(7), EXIT STATUS, lists the exit statuses.
 *
 * Only files under cmd/ print or exit; the library returns errors to them.
 */
#ifndef CPROF_CMD_CLI_H
#define CPROF_CMD_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/shared/command_line.h"

struct time_arg;
struct writer;

enum status {
	STATUS_OK = 0,
	STATUS_SYSTEM = 1,  /* open, write, memory, the kernel */
	STATUS_USAGE = 2,
	STATUS_DAMAGED = 3, /* the input was damaged or cut short; everything good was delivered */
	STATUS_BELOW = 4,   /* all is well, but below what an option demands */
	STATUS_GREW = 5,    /* the same, but something grew by more than an option allows */
};

/* Sets the command's name, options and operands. Call it first. *c must stay valid. */
void cli_begin(const struct command_line *c);
/*
 * Keeps freed memory in the process, so that a command that allocates megabytes again and again does not
 * fault them in each time.
 */
void cli_keep_memory(void);
/*
 * Prints "NAME: ", the sentence and a newline on stderr. File names and texts of captures may be arguments as
 * they are: the function escapes control characters (sanitize_append_shown).
 */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints a line of a list: as cli_warn, without "NAME: ". */
void cli_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Calls a function before each message, to clear a line that is drawn on the same terminal. */
void cli_before_message(void (*before)(void));
/* Prints as cli_warn and exits with the status. */
void cli_die(enum status status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* Reports that memory ran out, and exits with status 1. */
void cli_no_memory(void) __attribute__((noreturn));
/*
 * Prints the message on stderr, or the usage if fmt is NULL, and how to list the options. Exits with status 2.
 */
void cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Prints the forms of the command, "usage: cprof-top [OPTION ...] [FILE ...]". */
void cli_print_usage(FILE *to);
/* Returns the option's whole number. A text that is not a number from least to most is a usage error. */
uint64_t cli_number(const char *option, const char *text, uint64_t least, uint64_t most);
/* Returns a percentage from 0 to 100, which may end in %. Any other text is a usage error. */
double cli_percent(const char *option, const char *text);
/*
 * Returns a size in bytes. The text is a number of bytes, or of KiB, MiB or GiB with the suffix K, M or G. A
 * size below least_mib MiB or above most_gib GiB is a usage error.
 */
uint64_t cli_size(const char *option, const char *text, unsigned int least_mib, unsigned int most_gib);

/*
 * Parses a time of --from or --to. Times of day without a zone are local, and "-1h" is before the first call.
 * An invalid time is a usage error.
 */
void cli_instant(struct time_arg *to, const char *option, const char *text);
/*
 * Checks one end of a time window against the other: a window in which no time can be is a usage error. If
 * both are times of day, from may be the later one; the window then spans midnight, and a warning says so.
 * The options are for messages.
 */
void cli_window(const struct time_arg *from, const char *from_option, const struct time_arg *to,
		const char *to_option);
/*
 * Returns path if it is a directory, and exits otherwise: a misspelt directory would look like missing files.
 */
const char *cli_directory(const char *option, const char *path);

/*
 * Refuses (usage error) to write to a terminal on stdout. what: the reason, as "a capture is binary".
 */
void cli_refuse_terminal(const char *what);
/* Sets the name of standard output for messages, if it is a file. */
void cli_name_output(const char *name);
/* Returns that name, otherwise "standard output". */
const char *cli_output_name(void);
/* Flush and close the stream or stdout. Exit with status 1 if a byte could not be written. */
void cli_writer_done(struct writer *w);
void cli_stdout_done(void);

#endif
