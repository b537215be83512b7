#include "cmd/shared/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/libc.h"
#include "common/profile/sanitize.h"
#include "common/select/time_arg.h"
#include "common/stream/writer.h"

static const struct option_row no_rows[] = { { 0 } };
static const struct command_line unnamed = { "cprof", "", "", no_rows };
static const struct command_line *command = &unnamed;
static const char *output_name = "standard output";

/*
 * Opens /dev/null for each closed standard descriptor, so that no file opened later takes its number.
 * Standard output stays unwritable.
 */
static void hold_standard(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0)
			return;
	}
}

void cli_begin(const struct command_line *c)
{
	hold_standard();
	signal(SIGXFSZ, SIG_IGN); /* write(2) then reports the error */
	command = c;
}

void cli_name_output(const char *name)
{
	output_name = name;
}

const char *cli_output_name(void)
{
	return output_name;
}

const struct command_line *cli_command(void)
{
	return command;
}

void cli_keep_memory(void)
{
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

static void (*before_message)(void);

void cli_before_message(void (*before)(void))
{
	before_message = before;
}

/* Prints one line in one write, whatever bytes its names contain. */
static void print_line(const char *prefix, const char *colon, const char *fmt, va_list ap)
{
	struct buf line = { 0 };
	char *text;

	if (vasprintf(&text, fmt, ap) >= 0) {
		sanitize_append_shown(&line, slice_of(text));
		free(text);
	} else {
		line.failed = true;
	}
	if (before_message)
		before_message();
	fprintf(stderr, "%s%s%s\n", prefix, colon, line.failed ? strerror(ENOMEM) : buf_cstr(&line));
	buf_release(&line);
}

static void print_message(const char *fmt, va_list ap)
{
	print_line(command->name, ": ", fmt, ap);
}

void cli_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line("", "", fmt, ap);
	va_end(ap);
}

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
}

void cli_die(enum status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	exit(status);
}

void cli_no_memory(void)
{
	cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
}

void cli_print_usage(FILE *to)
{
	const char *operands = command->operands;

	for (const char *prefix = "usage:"; operands; prefix = "      ") {
		size_t n = strcspn(operands, "\n");

		fprintf(to, "%s %s [OPTION ...] %.*s\n", prefix, command->name, (int)n, operands);
		operands = operands[n] ? operands + n + 1 : NULL;
	}
}

void cli_usage(const char *fmt, ...)
{
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		print_message(fmt, ap);
		va_end(ap);
	} else {
		cli_print_usage(stderr);
	}
	fprintf(stderr, "%s --help lists the options, man %s explains them\n", command->name, command->name);
	exit(STATUS_USAGE);
}

uint64_t cli_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || end == text || text[0] == '-' || v < least || v > most)
		cli_usage("invalid %s \"%s\" (expected a whole number from %" PRIu64 " to %" PRIu64 ")", option, text, least, most);
	return v;
}

void cli_instant(struct time_arg *to, const char *option, const char *text)
{
	static time_t now; /* the same for both options */
	time_t moment;
	struct tm tm;

	if (!now)
		now = time(NULL);
	if (!localtime_r(&now, &tm) || !time_arg_parse(to, text, now * INT64_C(1000000000), tm.tm_gmtoff))
		cli_usage("invalid %s \"%s\" (expected a span after the first sample, like 12.5 or 1m30s, or "
			  "before now, like -1h or \"1 hour ago\", or a time like 14:03:20 or "
			  "2026-11-21T14:03:20Z)",
			  option, text);
	/* A moment without a zone has the offset of its own date, as times are printed, not today's. */
	moment = (time_t)(to->ns / 1000000000);
	if (to->kind == TIME_ARG_MOMENT && localtime_r(&moment, &tm))
		time_arg_parse(to, text, now * INT64_C(1000000000), tm.tm_gmtoff);
}

void cli_window(const struct time_arg *from, const char *from_option, const struct time_arg *to,
		const char *to_option)
{
	if (!from->kind || from->kind != to->kind)
		return;
	if (from->kind == TIME_ARG_DAYTIME ? from->ns == to->ns : from->ns >= to->ns)
		cli_usage("%s is not before %s", from_option, to_option);
	if (from->ns > to->ns)
		cli_warn("%s is later in the day than %s: the time window spans midnight, on each day",
			 from_option, to_option);
}

const char *cli_directory(const char *option, const char *path)
{
	struct stat st;

	if (!path[0])
		cli_usage("%s requires a directory", option);
	if (stat(path, &st) != 0)
		cli_die(STATUS_SYSTEM, "%s: %s: %s", option, path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		cli_die(STATUS_SYSTEM, "%s: %s: %s", option, path, strerror(ENOTDIR));
	return path;
}

double cli_percent(const char *option, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(v >= 0 && v <= 100))
		cli_usage("invalid %s \"%s\" (expected a percentage from 0 to 100)", option, text);
	return v;
}

uint64_t cli_size(const char *option, const char *text, unsigned int least_mib, unsigned int most_gib)
{
	static const char suffixes[] = "KMG";
	uint64_t least = (uint64_t)least_mib << 20, most = (uint64_t)most_gib << 30;
	size_t digits = strspn(text, "0123456789");
	/* At the end of text, strchr finds the NUL of suffixes. */
	const char *suffix = strchr(suffixes, toupper((unsigned char)text[digits]));
	int shift = text[digits] && suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
	bool good = digits > 0 && digits < 19 && suffix && !text[digits + (shift > 0)];
	uint64_t n = good ? strtoull(text, NULL, 10) : 0;

	if (n < (least + (1ull << shift) - 1) >> shift || n > most >> shift)
		cli_usage("invalid %s \"%s\" (expected a size from %uM to %uG, like 64M)", option, text, least_mib, most_gib);
	return n << shift;
}

void cli_refuse_terminal(const char *what)
{
	if (isatty(STDOUT_FILENO))
		cli_usage("standard output is a terminal: %s, send it to a file (-o FILE) or a pipe", what);
}

void cli_writer_done(struct writer *w)
{
	if (!writer_finish(w))
		cli_die(STATUS_SYSTEM, "%s: %s", output_name, writer_error(w));
	writer_free(w);
	if (close(STDOUT_FILENO) != 0)
		cli_die(STATUS_SYSTEM, "%s: %s", output_name, strerror(errno));
}

void cli_stdout_done(void)
{
	bool failed = fflush(stdout) != 0 || ferror(stdout);

	if (fclose(stdout) != 0 || failed)
		cli_die(STATUS_SYSTEM, "%s: cannot write: %s", output_name, strerror(errno));
}
