/*
 * cprof-dump: prints a stream as text, one record a line; -r makes a stream from such text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/result_file.h"
#include "common/base/buf.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

static enum status dump_stream(const char *path)
{
	int fd = operand_open(path);
	struct reader *r = reader_new(fd, operand_name(path));
	struct record rec;
	struct buf line = { 0 };
	enum status status;
	int got;

	if (!r)
		cli_no_memory();
	while ((got = reader_next(r, &rec)) > 0) {
		buf_clear(&line);
		record_print(&line, &rec);
		buf_byte(&line, '\n');
		if (line.failed)
			cli_no_memory();
		fwrite(line.p, 1, line.n, stdout);
		if (rec.type == RECORD_FLUSH)
			fflush(stdout);
		if (ferror(stdout))
			cli_stdout_done();
	}
	buf_release(&line);
	status = operand_reader_done(r, got, fd);
	operand_close(fd);
	return directory_done(path, status);
}

/* Writes the record of one line. An invalid line ends the stream; the records before it have been written. */
static enum status build_line(const char *name, size_t number, char *line, size_t n, struct writer *w)
{
	static struct buf scratch, error;
	struct record rec;

	if (n > 0 && line[n - 1] == '\n')
		line[--n] = '\0';
	if (n > 0 && line[n - 1] == '\r')
		line[--n] = '\0';
	if (n == 0 || line[0] == '#')
		return STATUS_OK;
	if (strlen(line) != n)
		cli_warn("%s: line %zu: a NUL byte%s", name, number,
			 number == 1 ? "; -r takes text, not a capture" : "");
	else if (!record_parse(&rec, line, &scratch, &error))
		cli_warn("%s: line %zu: %s", name, number, buf_cstr(&error));
	else if (writer_put(w, &rec))
		return STATUS_OK;
	else if (writer_refused(w))
		cli_warn("%s: line %zu: %s", name, number, writer_error(w));
	else
		cli_die(STATUS_SYSTEM, "standard output: %s", writer_error(w));
	return STATUS_DAMAGED;
}

static enum status build_stream(const char *path, struct writer *w)
{
	int fd = operand_open(path);
	FILE *in = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 0), "r");
	const char *name = operand_name(path);
	enum status status = STATUS_OK, closed;
	char *line = NULL;
	size_t cap = 0, number = 0;
	ssize_t n;

	if (!in)
		cli_die(STATUS_SYSTEM, "%s: %s", name, strerror(errno));
	while (status == STATUS_OK && (n = getline(&line, &cap, in)) > 0)
		status = build_line(name, ++number, line, (size_t)n, w);
	if (ferror(in))
		cli_die(STATUS_SYSTEM, "%s: %s", name, strerror(errno));
	if (number == 0) {
		cli_warn("%s: empty input, no record in it", name);
		status = STATUS_DAMAGED;
	}
	free(line);
	fclose(in);
	closed = operand_close(fd);
	return closed > status ? closed : status;
}

int main(int argc, char **argv)
{
	static const struct option_row options[] = {
		{ OPTIONS_OUTPUT, 'o', "output", "FILE", "write to FILE" },
		{ OPTIONS_OUTPUT, 'r', "reverse", NULL, "make a capture of the text" },
		CLI_ROWS,
		{ 0 },
	};
	static const struct command_line command = { "cprof-dump", "print a capture as text", "[FILE ...]", options };
	enum status status = STATUS_OK;
	bool reverse = false;
	struct writer *w;
	int c;

	cli_begin(&command);
	while ((c = cli_option(argc, argv)) != -1) {
		if (c == 'r')
			reverse = true;
		else if (c == 'o')
			result_note(optarg);
		else
			cli_other(c);
	}
	result_open(argv + optind);
	argv = directory_operands(argv + optind, NULL);
	if (!reverse) {
		for (; *argv; argv++) {
			enum status s = dump_stream(*argv);

			status = s > status ? s : status;
		}
		cli_stdout_done();
		return status;
	}
	cli_refuse_terminal("a capture is binary");
	w = writer_new(STDOUT_FILENO);
	if (!w)
		cli_no_memory();
	for (; *argv && status == STATUS_OK; argv++)
		status = build_stream(*argv, w);
	if (writer_refused(w) && writer_flush(w))
		writer_free(w);
	else
		cli_writer_done(w);
	return status;
}
