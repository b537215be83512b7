#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cprof-annotate/annotate.h"
#include "common/base/array.h"

/* Output that a function needs is smaller, and so is its time. */
enum { OUTPUT_MOST = 16 << 20, CPU_SECONDS = 60, EXIT_MISSING = 127 };

/* Runs the program in the child, with the file as its descriptor of the same number. */
static void run_child(const char *program, int fd, int out, uint64_t from, uint64_t to)
{
	struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS }, files = { 0, 0 };
	char begin[40], end[40], name[32],
		*argv[] = { (char *)(uintptr_t)program,
			    (char *)"-d",
			    (char *)"-w",
			    (char *)"-C",
			    (char *)"--no-show-raw-insn",
			    begin,
			    end,
			    name,
			    NULL };
	int flags = fcntl(fd, F_GETFD);

	snprintf(begin, sizeof(begin), "--start-address=0x%" PRIx64, from);
	snprintf(end, sizeof(end), "--stop-address=0x%" PRIx64, to);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_FSIZE, &files);
	setenv("LC_ALL", "C", 1);
	unsetenv("DEBUGINFOD_URLS"); /* it would ask servers */
	if (flags >= 0 && fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC) == 0 && dup2(out, STDOUT_FILENO) >= 0)
		execvp(program, argv);
	_exit(errno == ENOENT || errno == EACCES ? EXIT_MISSING : 1);
}

/* Reads the child's output; returns false if it is larger than anything a function needs. */
static bool read_output(int fd, struct buf *out)
{
	ssize_t got = 1;

	while (got != 0 && out->n < OUTPUT_MOST) {
		if (!buf_reserve(out, 1 << 16))
			cli_no_memory();
		got = read(fd, out->p + out->n, 1 << 16);
		if (got < 0 && errno != EINTR)
			break;
		out->n += got > 0 ? (size_t)got : 0;
	}
	return got == 0;
}

/* Adds the line "  401136:\tmov    %rdi,%rax" of objdump; all others have another form. */
static void add_line(struct instructions *list, const uint8_t *p, size_t n)
{
	const uint8_t *tab = memchr(p, '\t', n);
	char number[32], *end;
	size_t digits = tab ? (size_t)(tab - p) : 0;
	uint64_t address;

	if (digits < 2 || digits >= sizeof(number) || tab[-1] != ':' || p[0] != ' ')
		return;
	memcpy(number, p, digits);
	number[digits - 1] = '\0';
	address = strtoull(number, &end, 16);
	if (end == number || *end)
		return;
	if (!grow_array(&list->items, &list->cap, list->n, sizeof(*list->items)))
		cli_no_memory();
	list->items[list->n++] =
		(struct instruction){ address, (size_t)(tab + 1 - list->text.p), n - digits - 1 };
}

static void split_output(struct instructions *list)
{
	for (size_t i = 0; i < list->text.n;) {
		const uint8_t *p = list->text.p + i, *end = memchr(p, '\n', list->text.n - i);
		size_t n = end ? (size_t)(end - p) : list->text.n - i;

		add_line(list, p, n);
		i += n + 1;
	}
}

static pid_t start_child(const char *program, int fd, int out, int in, uint64_t from, uint64_t to)
{
	pid_t child = fork();

	if (child == 0) {
		close(in);
		run_child(program, fd, out, from, to);
	}
	return child;
}

void instructions_read(struct instructions *list, const char *program, int fd, uint64_t from, uint64_t to)
{
	int pipes[2], state = 0;
	bool whole = false;
	pid_t child;

	*list = (struct instructions){ 0 };
	fflush(NULL);
	if (pipe2(pipes, O_CLOEXEC) != 0)
		cli_die(STATUS_SYSTEM, "cannot make a pipe: %s", strerror(errno));
	child = start_child(program, fd, pipes[1], pipes[0], from, to);
	close(pipes[1]);
	if (child < 0)
		cli_die(STATUS_SYSTEM, "cannot start %s: %s", program, strerror(errno));
	whole = read_output(pipes[0], &list->text);
	close(pipes[0]);
	if (!whole)
		kill(child, SIGKILL);
	while (waitpid(child, &state, 0) < 0 && errno == EINTR)
		;
	split_output(list);
	list->missing = WIFEXITED(state) && WEXITSTATUS(state) == EXIT_MISSING;
	if (!whole)
		buf_printf(&list->error, "its output is larger than %d MiB", OUTPUT_MOST >> 20);
	else if (WIFSIGNALED(state))
		buf_printf(&list->error, "signal %d ended it", WTERMSIG(state));
	else if (state && !list->n)
		buf_printf(&list->error, "it ended with status %d", WEXITSTATUS(state));
	else if (!list->n)
		buf_text(&list->error, "it printed no instruction");
}

void instructions_release(struct instructions *list)
{
	buf_release(&list->text);
	buf_release(&list->error);
	free(list->items);
	*list = (struct instructions){ 0 };
}
