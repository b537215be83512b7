#include "cmd/shared/command_line.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "cmd/shared/version.h"
#include "common/base/buf.h"

enum { ROWS_MAX = 128, LETTERS = 3 * ROWS_MAX, TEXT_COLUMN = 30, NAME_MAX_BYTES = 32 };

static bool is_letter(int value)
{
	return value > 0 && value <= CHAR_MAX && isalnum(value);
}

/* Returns the row of an option as the user writes it, "-o" or "--output"; NULL: there is none. */
static const struct option_row *find_row(const char *option)
{
	const struct option_row *row = cli_command()->rows;

	for (; row->name; row++) {
		if (strncmp(option, "--", 2) == 0 ? strcmp(option + 2, row->name) == 0
						  : is_letter(row->value) && option[1] == row->value && !option[2])
			return row;
	}
	return NULL;
}

static unsigned int least_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Returns the number of letters to insert, remove, replace or exchange with their neighbour to get from one
 * text to the other; NAME_MAX_BYTES if one is too long.
 */
static unsigned int distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int rows[3][NAME_MAX_BYTES + 1];

	if (n > NAME_MAX_BYTES || m > NAME_MAX_BYTES)
		return NAME_MAX_BYTES;
	for (unsigned int j = 0; j <= m; j++)
		rows[0][j] = j;
	for (unsigned int i = 1; i <= n; i++) {
		unsigned int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		now[0] = i;
		for (unsigned int j = 1; j <= m; j++) {
			bool same = a[i - 1] == b[j - 1];

			now[j] = least_of(least_of(now[j - 1], last[j]) + 1, last[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least_of(now[j], before[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

/* The best guess so far at what a word was meant to be. */
struct guess {
	const char *word;
	size_t n;
	unsigned int distance;
};

/* Takes the word if it is nearer to the text: two changes, and fewer than half of its letters. */
static void try_word(struct guess *g, const char *text, size_t n, const char *word, size_t m)
{
	unsigned int d = distance(text, n, word, m);

	if (d <= 2 && 2 * d < m && (!g->word || d < g->distance))
		*g = (struct guess){ word, m, d };
}

/* Returns the length of the value that the text begins with. Brackets hold what may follow a value. */
static size_t value_length(const char *values)
{
	return strcspn(values, "|[");
}

void cli_invalid(const char *option, const char *text)
{
	const struct option_row *row = find_row(option);
	struct guess guess = { 0 };
	struct buf list = { 0 };

	for (const char *at = row ? row->argument : ""; *at;) {
		size_t n = value_length(at), whole = strcspn(at, "|");

		if (list.n)
			buf_text(&list, at[whole] ? ", " : " or ");
		buf_bytes(&list, (const uint8_t *)at, n);
		try_word(&guess, text, strlen(text), at, n);
		at += whole + (at[whole] == '|');
	}
	if (guess.word)
		buf_printf(&list, "; did you mean %.*s?", (int)guess.n, guess.word);
	if (list.failed)
		cli_no_memory();
	cli_usage("invalid %s \"%s\" (expected %s)", option, text, buf_cstr(&list));
}

const char *cli_guess(const char *text, const char *const *words)
{
	struct guess guess = { 0 };

	for (; *words; words++)
		try_word(&guess, text, strlen(text), *words, strlen(*words));
	return guess.word;
}

/* Appends the long options that begin with name, "--from, --full-paths". Returns their number. */
static unsigned int list_matches(struct buf *list, const char *name, size_t n)
{
	unsigned int matches = 0;

	for (const struct option_row *row = cli_command()->rows; row->name; row++) {
		if (row->text && strncmp(row->name, name, n) == 0)
			buf_printf(list, "%s--%s", matches++ ? ", " : "", row->name);
	}
	return matches;
}

static void refuse_long(const char *arg) __attribute__((noreturn));
static void refuse_long(const char *arg)
{
	size_t n = strcspn(arg, "=");
	struct guess guess = { 0 };
	struct buf list = { 0 };

	if (optopt)
		cli_usage("%.*s takes no argument", (int)n, arg);
	if (list_matches(&list, arg + 2, n - 2))
		cli_usage("invalid option \"%.*s\" (expected one of %s)", (int)n, arg, buf_cstr(&list));
	for (const struct option_row *row = cli_command()->rows; row->name; row++) {
		if (row->text)
			try_word(&guess, arg + 2, n - 2, row->name, strlen(row->name));
	}
	if (guess.word)
		cli_usage("invalid option \"%.*s\" (did you mean --%s?)", (int)n, arg, guess.word);
	cli_usage("invalid option \"%.*s\"", (int)n, arg);
}

/*
 * Refuses a shortened option whose argument is the next word and an existing file: that is an operand, most
 * likely, and the command would read standard input instead. word: the option as the user wrote it.
 */
static void check_shortened(const char *word, const struct option_row *row)
{
	if (strncmp(word, "--", 2) == 0 && strchr(word, '=') == NULL && strcmp(word + 2, row->name) != 0 &&
	    access(optarg, F_OK) == 0)
		cli_usage("invalid option \"%s\" (did you mean --%s %s? \"%s\" is a file)", word, row->name, row->argument, optarg);
}

/* getopt's tables, made from the rows. */
struct tables {
	char letters[LETTERS];
	struct option longs[ROWS_MAX];
};

static void make_tables(struct tables *t)
{
	const struct option_row *row = cli_command()->rows;
	char *at = t->letters;

	if (strncmp(cli_command()->operands, "COMMAND", 7) == 0)
		*at++ = '+'; /* ends the options at the first operand */
	*at++ = ':'; /* makes getopt distinguish the two failures */
	for (size_t i = 0; row[i].name && i < ROWS_MAX - 1; i++) {
		const char *argument = row[i].argument;
		int has = !argument ? no_argument : argument[0] == '[' ? optional_argument : required_argument;

		t->longs[i] = (struct option){ row[i].name, has, NULL, row[i].value };
		if (!is_letter(row[i].value))
			continue;
		*at++ = (char)row[i].value;
		for (int colons = has == optional_argument ? 2 : has; colons > 0; colons--)
			*at++ = ':';
	}
}

int cli_option(int argc, char **argv)
{
	static struct tables tables;
	int c, index = -1;

	if (!tables.letters[0])
		make_tables(&tables);
	opterr = 0;
	c = getopt_long(argc, argv, tables.letters, tables.longs, &index);
	/* If a letter's argument is missing, musl counts the NULL after the arguments as that. */
	if (c == ':' && argv[optind - 1] && strncmp(argv[optind - 1], "--", 2) == 0)
		cli_usage("%s requires an argument", argv[optind - 1]);
	if (c == ':')
		cli_usage("-%c requires an argument", optopt);
	if (c == '?' && optopt && optopt <= CHAR_MAX && (strchr(":+", optopt) || !strchr(tables.letters, optopt)))
		cli_usage("invalid option \"-%c\"", optopt);
	if (c == '?')
		refuse_long(argv[optind - 1]);
	if (index >= 0 && optarg && optind > 1 && argv[optind - 1] == optarg)
		check_shortened(argv[optind - 2], &cli_command()->rows[index]);
	return c;
}

/* Prints one line for the option, or two if its argument is long. */
static void print_row(const struct option_row *row)
{
	struct buf left = { 0 };

	if (is_letter(row->value))
		buf_printf(&left, "  -%c, --%s", row->value, row->name);
	else
		buf_printf(&left, "      --%s", row->name);
	if (row->argument)
		buf_printf(&left, "%s%s", row->argument[0] == '[' ? "" : " ", row->argument);
	if (left.failed)
		cli_no_memory();
	if (left.n + 2 > TEXT_COLUMN)
		printf("%s\n%*s%s\n", buf_cstr(&left), TEXT_COLUMN, "", row->text);
	else
		printf("%-*s%s\n", TEXT_COLUMN, buf_cstr(&left), row->text);
	buf_release(&left);
}

void cli_print_options(void)
{
	static const char *const titles[OPTION_GROUPS] = {
		[OPTIONS_VIEW] = "What is shown",
		[OPTIONS_TARGET] = "What is recorded",
		[OPTIONS_HOW] = "How it is recorded",
		[OPTIONS_SELECT] = "Which samples count",
		[OPTIONS_FRAMES] = "How frames are shown",
		[OPTIONS_SHAPE] = "How stacks are changed",
		[OPTIONS_FILES] = "Where symbols are found",
		[OPTIONS_LOOKS] = "Looks",
		[OPTIONS_SERIES] = "Series of files",
		[OPTIONS_OUTPUT] = "Output",
		[OPTIONS_OTHER] = "Other",
	};

	for (unsigned int group = 0; group < OPTION_GROUPS; group++) {
		bool begun = false;

		for (const struct option_row *row = cli_command()->rows; row->name; row++) {
			if (row->group != group || !row->text)
				continue;
			if (!begun)
				printf("\n%s:\n", titles[group]);
			begun = true;
			print_row(row);
		}
	}
}

static void print_help(void)
{
	const struct command_line *command = cli_command();

	cli_print_usage(stdout);
	printf("%c%s.\n", toupper((unsigned char)command->purpose[0]), command->purpose + 1);
	cli_print_options();
	printf("\nman %s explains them.\n", command->name);
}

void cli_other(int option)
{
	if (option == 'h')
		print_help();
	else if (option == 'V')
		printf("%s %s\n", cli_command()->name, cprof_version);
	else
		cli_usage(NULL);
	cli_stdout_done();
	exit(STATUS_OK);
}
