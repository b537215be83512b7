/*
 * cprof: runs the other programs by short names: "cprof top" is cprof-top.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "cmd/shared/sibling.h"

static const struct option_row options[] = { CLI_ROWS, { 0 } };
static const struct command_line command = {
	"cprof", "run a command of the CPU profiler", "COMMAND [ARGUMENT ...]\nhelp [COMMAND]", options,
};

/* Each program with its purpose, as its own --help has it, in the order of use. */
static const struct {
	const char *name, *purpose;
} programs[] = {
	{ "run", "record a command and draw a flame graph of it" },
	{ "record", "record CPU samples with their stacks" },
	{ "sym", "add names to a capture" },
	{ "archive", "keep the symbols of a capture's files" },
	{ "top", "show where the time went, as a table" },
	{ "flame", "draw a flame graph" },
	{ "annotate", "show source lines and instructions with their shares" },
	{ "diff", "compare two profiles, and say which changes may be chance" },
	{ "fold", "print stacks as text, one a line" },
	{ "convert", "convert a capture for other tools, and their text to a capture" },
	{ "dump", "print a capture as text" },
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static bool is_program(const char *name)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (strcmp(name, programs[i].name) == 0)
			return true;
	}
	return false;
}

static void refuse_name(const char *name) __attribute__((noreturn));
static void refuse_name(const char *name)
{
	const char *words[PROGRAMS + 2], *guess;

	for (size_t i = 0; i < PROGRAMS; i++)
		words[i] = programs[i].name;
	words[PROGRAMS] = "help";
	words[PROGRAMS + 1] = NULL;
	/* perf's name for the table looks like "record". */
	guess = strcmp(name, "report") == 0 ? "top" : cli_guess(name, words);
	if (guess)
		cli_usage("invalid command \"%s\" (did you mean %s?)", name, guess);
	cli_usage("invalid command \"%s\" (expected one of those that cprof help lists)", name);
}

static enum status list_programs(void)
{
	cli_print_usage(stdout);
	printf("\nCommands:\n");
	for (size_t i = 0; i < PROGRAMS; i++)
		printf("  %-10s%s\n", programs[i].name, programs[i].purpose);
	cli_print_options();
	printf("\ncprof help COMMAND lists its options, man cprof-COMMAND explains them.\n");
	cli_stdout_done();
	return STATUS_OK;
}

/* Runs a program. argv[0] is its short name. */
static void run_program(char **argv) __attribute__((noreturn));
static void run_program(char **argv)
{
	char name[64];

	if (!is_program(argv[0]))
		refuse_name(argv[0]);
	snprintf(name, sizeof(name), "cprof-%s", argv[0]);
	argv[0] = name;
	sibling_exec(argv);
}

int main(int argc, char **argv)
{
	int c;

	cli_begin(&command);
	while ((c = cli_option(argc, argv)) != -1) {
		if (c == 'h')
			return list_programs();
		cli_other(c);
	}
	argv += optind;
	if (!argv[0] || (strcmp(argv[0], "help") == 0 && (!argv[1] || strcmp(argv[1], "help") == 0)))
		return list_programs();
	if (strcmp(argv[0], "help") == 0)
		run_program((char *[]){ argv[1], (char *)"--help", NULL });
	run_program(argv);
}
