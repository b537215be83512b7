/*
 * What every command says and how it ends; see EXIT STATUS in cprof(7) for the exit statuses.
 *
 * The library returns, the command speaks: only files under cmd/ print or exit.
 */
#ifndef CPROF_CMD_CLI_H
#define CPROF_CMD_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/profile/instant.h"
#include "common/resolve/debuginfod.h"
#include "common/resolve/unread.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"

enum status {
	STATUS_OK = 0,
	STATUS_SYSTEM = 1,  /* open, write, memory, the kernel */
	STATUS_USAGE = 2,
	STATUS_DAMAGED = 3, /* the input was damaged or cut short; everything good was delivered */
	STATUS_BELOW = 4,   /* all is well, but below what an option demands */
	STATUS_GREW = 5,    /* the same, but something grew by more than an option allows */
};

/* Names the command for messages; to be called first. */
void cli_begin(const char *name, const char *usage);
/* For who frees and asks for megabytes again and again: they stay with the program, and are not faulted in anew. */
void cli_keep_memory(void);
/*
 * "NAME: " and one sentence on stderr. Names of files and texts of captures may be part of it as they are: what a terminal
 * would act on is escaped (label_append_shown).
 */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same without "NAME: ", for a line of a list. */
void cli_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_die(enum status status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* The same for memory that ran out: status 1. */
void cli_no_memory(void) __attribute__((noreturn));
/* getopt_long, which ends the program by a sentence of ours at an option that is not known or lacks its argument. */
int cli_option(int argc, char **argv, const char *letters, const struct option *longs);
/* On stderr one sentence and where to find the options; where fmt is NULL, the usage. Status 2. */
void cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Usage on stdout, status 0 (--help). */
void cli_help(void) __attribute__((noreturn));
void cli_version(void) __attribute__((noreturn));
/* A number of an option, or usage. */
uint64_t cli_number(const char *option, const char *text, uint64_t least, uint64_t most);
/* --debuginfod; ends the program where no server is named or the library is not there. */
struct debuginfod *cli_debuginfod(void);
/* Says what became of the questions, if there were some that nobody answered, and frees it; NULL: it was not asked for. */
void cli_debuginfod_done(struct debuginfod *d);
/* Says which files could not be read: the first three, or all. "cprof-sym: cannot read 2 debug sections of /lib/x.so: damaged" */
void cli_unread(const struct unread *u, bool all);
/* From 0 to 100, or usage. */
double cli_percent(const char *option, const char *text);
/* Bytes, or so many K, M or G of them; between so many MiB and so many GiB, or usage. */
uint64_t cli_size(const char *option, const char *text, unsigned int least_mib, unsigned int most_gib);

/* A time of --from and --to, by the local clock, or usage. */
void cli_instant(struct instant *to, const char *option, const char *text);
/*
 * Usage where both are given and nothing can lie between them. Of two times of the day the later one may come first: then the night
 * between is meant, which is said.
 */
void cli_window(const struct instant *from, const struct instant *to);
/* The directory that an option names, or it ends: a misspelt one would look like files that are not there. */
const char *cli_directory(const char *option, const char *path);

/*
 * Opens an operand for reading; "-" is standard input. Dies on failure. Where that is a pipe, the first
 * Ctrl-C is for the recorder at its head: what has been recorded is still to come through.
 */
int cli_open(const char *path);
/* Binary output belongs into a file or a pipe: dies (usage) where stdout is a terminal. */
void cli_refuse_terminal(void);
/*
 * After reading to the end: says what was damaged, or dies if the system failed. The status to end
 * with; the reader is freed.
 */
enum status cli_reader_done(struct reader *r, int got);
/* Finishes a stream or stdout; dies with status 1 if a byte was lost. */
void cli_writer_done(struct writer *w);
void cli_stdout_done(void);

#endif
