#include "cmd/shared/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"

static const char *noted; /* NULL: standard output */

/* Returns the argument of the option -o, "html|svg|FILE". */
static const char *values(void)
{
	const struct option_row *row = cli_command()->rows;

	while (row->value != 'o')
		row++;
	return row->argument;
}

static bool has_value(const char *list, const char *text)
{
	size_t n = strlen(text);

	for (const char *at = list; n && (at = strstr(at, text)); at++) {
		if ((at == list || at[-1] == '|') && (at[n] == '|' || !at[n]))
			return true;
	}
	return false;
}

const char *result_kind(const char *text)
{
	const char *dot = strrchr(text, '.'), *suffix = dot ? dot + 1 : "";

	noted = NULL;
	if (has_value(values(), text))
		return text;
	if (strcmp(suffix, "txt") != 0 && !has_value(values(), suffix))
		cli_invalid("-o", text);
	noted = text;
	return suffix;
}

void result_note(const char *path)
{
	noted = path;
}

/* Returns whether the command would read the file as this operand. */
static bool is_read(const char *operand, const struct stat *file)
{
	struct stat st;

	if (strcmp(operand, "-") == 0 ? fstat(STDIN_FILENO, &st) != 0 : stat(operand, &st) != 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return directory_reads(operand, noted);
	return st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* An operand that is the output would be empty before it is read. */
static void refuse_operands(char *const *operands)
{
	static char input[] = "-", *const only_input[] = { input, NULL };
	struct stat output;

	if (stat(noted, &output) != 0 || !S_ISREG(output.st_mode))
		return;
	for (operands = *operands ? operands : only_input; *operands; operands++) {
		if (is_read(*operands, &output))
			cli_usage("-o %s would replace a file that is read: %s", noted,
				  operand_name(*operands));
	}
}

void result_open(char *const *operands)
{
	int fd;

	if (!noted)
		return;
	refuse_operands(operands);
	fd = open(noted, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		cli_die(STATUS_SYSTEM, "%s: %s", noted, strerror(errno));
	close(fd);
	cli_name_output(noted);
}
