#include "cmd/shared/operands/operand_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/shared/operands/unpack_child.h"
#include "common/base/array.h"
#include "common/compress/unpack.h"
#include "common/stream/reader.h"

/* An operand that a child decompresses. */
struct source {
	int fd;
	pid_t pid; /* 0: it has ended */
	enum packing packing;
	const char *name;
	enum status status;
};

static struct source *sources;
static size_t n_sources, cap_sources;

const char *operand_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static struct source *find_source(int fd)
{
	for (size_t i = 0; i < n_sources; i++) {
		if (sources[i].fd == fd)
			return &sources[i];
	}
	return NULL;
}

static void ignore_signal(int sig)
{
	(void)sig;
}

static void outlive_interrupt(void)
{
	struct sigaction act = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND },
			 before;
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) && sigaction(SIGINT, NULL, &before) == 0 &&
	    before.sa_handler == SIG_DFL)
		sigaction(SIGINT, &act, NULL);
}

static bool wait_for_bytes(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1) > 0 && !(p.revents & POLLHUP);
}

/*
 * Copies the first bytes of a pipe and leaves them in it. A writer may have written fewer than a magic
 * number; that is so rare that waiting for others may be slow.
 */
static size_t peek_pipe(int fd, uint8_t to[PACKING_BYTES])
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	ssize_t n = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	for (;;) {
		n = tee(fd, ends[1], PACKING_BYTES, 0);
		if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_bytes(fd))))
			continue;
		if (n > 0)
			n = read(ends[0], to, PACKING_BYTES);
		if (n <= 0 || !packing_open((struct slice){ to, (size_t)n }) || !wait_for_bytes(fd))
			break;
		nanosleep(&pause, NULL);
	}
	close(ends[0]);
	close(ends[1]);
	return n > 0 ? (size_t)n : 0;
}

/* Returns the packing by the first bytes, which stay unread. */
static enum packing peek_packing(int fd)
{
	uint8_t start[PACKING_BYTES];
	ssize_t n = 0;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return PACKED_NOT;
	if (S_ISREG(st.st_mode))
		n = pread(fd, start, sizeof(start), lseek(fd, 0, SEEK_CUR));
	else if (S_ISFIFO(st.st_mode))
		n = (ssize_t)peek_pipe(fd, start);
	else if (S_ISSOCK(st.st_mode))
		n = recv(fd, start, sizeof(start), MSG_PEEK);
	return packing_of((struct slice){ start, n > 0 ? (size_t)n : 0 });
}

static int start_unpacking(int fd, const char *path, enum packing packing)
{
	struct source s = { .packing = packing, .name = operand_name(path) };

	if (packing_lacks(packing))
		cli_die(STATUS_USAGE, "%s is not available: built without %s; decompress %s first",
			packing_name(packing), packing_lacks(packing), s.name);
	s.pid = unpack_child_start(fd, packing, &s.fd);
	if (s.pid < 0)
		cli_die(STATUS_SYSTEM, "cannot decompress %s: %s", s.name, strerror(errno));
	if (fd != STDIN_FILENO)
		close(fd);
	if (!grow_array(&sources, &cap_sources, n_sources, sizeof(*sources)))
		cli_no_memory();
	sources[n_sources++] = s;
	return s.fd;
}

int operand_open(const char *path)
{
	int fd = STDIN_FILENO;
	enum packing packing;

	if (strcmp(path, "-") == 0) {
		outlive_interrupt();
		if (isatty(STDIN_FILENO))
			cli_warn("reading standard input, a terminal: name a FILE, or end the text with "
				 "Ctrl-D");
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			cli_die(STATUS_SYSTEM, "%s: %s", path, strerror(errno));
	}
	packing = peek_packing(fd);
	return packing == PACKED_NOT ? fd : start_unpacking(fd, path, packing);
}

size_t operand_peek(int fd, const char *name, uint8_t *to, size_t size, size_t enough)
{
	size_t n = 0;

	while (n < enough) {
		ssize_t got = read(fd, to + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			cli_die(STATUS_SYSTEM, "%s: %s", name, strerror(errno));
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return n;
}

static bool is_at_end(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
}

static void report_failure(struct source *s, const struct unpack_result *result)
{
	const char *packing = packing_name(s->packing);

	switch (result->ended) {
	case UNPACKED_WHOLE:
		return;
	case UNPACKED_SYSTEM:
		cli_die(STATUS_SYSTEM, "%s: %s", s->name, strerror(result->error));
	case UNPACKED_KILLED:
		cli_die(STATUS_SYSTEM, "cannot decompress %s: the process was killed", s->name);
	case UNPACKED_CUT:
		cli_warn("%s: the %s file is cut short", s->name, packing);
		break;
	case UNPACKED_LARGE:
		cli_warn("%s: the %s file requires more than %d MiB of memory: decompress it first",
			 s->name, packing, UNPACK_MEMORY >> 20);
		break;
	case UNPACKED_DAMAGED:
		cli_warn("%s: the %s file is damaged", s->name, packing);
		break;
	}
	s->status = STATUS_DAMAGED;
}

enum status operand_check(int fd)
{
	struct source *s = find_source(fd);
	struct unpack_result result;

	if (!s)
		return STATUS_OK;
	if (s->pid && is_at_end(fd)) {
		unpack_child_wait(s->pid, &result);
		s->pid = 0;
		report_failure(s, &result);
	}
	return s->status;
}

void operand_drop(int fd)
{
	struct source *s = find_source(fd);
	struct unpack_result result;

	if (fd != STDIN_FILENO)
		close(fd);
	if (!s)
		return;
	if (s->pid) {
		kill(s->pid, SIGKILL);
		unpack_child_wait(s->pid, &result);
	}
	*s = sources[--n_sources];
}

enum status operand_close(int fd)
{
	enum status status = operand_check(fd);

	operand_drop(fd);
	return status;
}

void operand_pass(int fd, int to)
{
	struct source *s = find_source(fd);

	close(fd);
	if (s)
		s->fd = to;
}

enum status operand_reader_done(struct reader *r, int got, int fd)
{
	enum status status = operand_check(fd);

	if (status == STATUS_OK && got < 0) {
		status = reader_refused(r) ? STATUS_DAMAGED : STATUS_SYSTEM;
		cli_warn("%s", reader_error(r));
	} else if (status == STATUS_OK && reader_damage(r)) {
		status = STATUS_DAMAGED;
		cli_warn("%s", reader_damage(r));
	}
	reader_free(r);
	return status;
}
