#include "cmd/shared/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/shared/cli.h"

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

/* An operand that is the output would be empty before it is read. */
static void refuse_operands(char *const *operands)
{
	struct stat output, operand;

	if (stat(noted, &output) != 0 || !S_ISREG(output.st_mode))
		return;
	for (; *operands; operands++) {
		if (stat(*operands, &operand) == 0 && operand.st_dev == output.st_dev && operand.st_ino == output.st_ino)
			cli_usage("-o %s and the operand %s are the same file", noted, *operands);
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
