/*
 * Checks full_write at a pipe whose reader takes its time: signals end its calls with a part written, and with
 * nothing written. Failures have their errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/full_write.h"
#include "tests/lib/check.h"

enum { BYTES = 400123 }; /* more than the pipe has room for */

static uint8_t bytes[BYTES];
static volatile int *caught; /* shared with the reader */
static int room;             /* bytes of the pipe: a page */

static void note_signal(int signal)
{
	(void)signal;
	++*caught;
}

/* Returns whether the process sleeps. A writer does so only in write(2). */
static bool is_asleep(pid_t pid)
{
	char path[64], text[512] = "", *end;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	end = n > 0 ? strrchr(text, ')') : NULL; /* the state follows the name */
	return end && end[1] && end[2] == 'S';
}

static int bytes_in(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) == 0 ? n : -1;
}

/* Waits until the writer sleeps because the pipe is full, after it has caught that many signals. */
static void wait_for_writer(int from, pid_t writer, int signals)
{
	while (*caught != signals || bytes_in(from) != room || !is_asleep(writer))
		usleep(1000);
}

/* Interrupts the writer three times, then reads all. Exits with 0 if the bytes are those of the test. */
static void run_reader(int from, pid_t writer)
{
	static uint8_t got[BYTES + 1];
	size_t n = 0;
	ssize_t one;

	alarm(60);
	for (int i = 0; i < 3; i++) {
		wait_for_writer(from, writer, i);
		kill(writer, SIGUSR1);
	}
	wait_for_writer(from, writer, 3);
	while (n < sizeof(got) && (one = read(from, got + n, sizeof(got) - n)) > 0)
		n += (size_t)one;
	_exit(n != BYTES || memcmp(got, bytes, BYTES) != 0);
}

static void small_pipe(int ends[2], int flags)
{
	if (pipe2(ends, O_CLOEXEC | flags) != 0)
		exit(1);
	room = fcntl(ends[1], F_SETPIPE_SZ, 1);
}

/* The first signal finds a call that has filled the pipe, which returns short; the others find idle ones. */
static void check_signals(void)
{
	struct sigaction action = { .sa_handler = note_signal }; /* without SA_RESTART */
	pid_t self = getpid(), reader;
	int ends[2], status = -1;
	bool whole;

	sigaction(SIGUSR1, &action, NULL);
	small_pipe(ends, 0);
	reader = fork();
	if (reader == 0) {
		close(ends[1]);
		run_reader(ends[0], self);
	}
	close(ends[0]);
	whole = full_write(ends[1], bytes, BYTES);
	check(whole, "signals do not end it");
	close(ends[1]);
	waitpid(reader, &status, 0);
	check_is(*caught, 3, "  three came");
	check(status == 0, "  and the reader gets all bytes, once");
}

static void check_failures(void)
{
	int ends[2], full = open("/dev/full", O_WRONLY);

	errno = 0;
	check(!full_write(full, bytes, 1) && errno == ENOSPC, "a full disk is a failure");
	check(!full_write(-1, bytes, 1) && errno == EBADF, "no file is a failure");
	check(full_write(-1, NULL, 0), "no bytes need no call");
	small_pipe(ends, O_NONBLOCK);
	check(!full_write(ends[1], bytes, BYTES) && errno == EAGAIN, "a call that would block is a failure");
	check_is(bytes_in(ends[0]), room, "  after as many bytes as the pipe takes");
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	check(!full_write(ends[1], bytes, 1) && errno == EPIPE, "a pipe without a reader is a failure");
	close(ends[1]);
	close(full);
}

int main(void)
{
	caught = mmap(NULL, sizeof(*caught), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)random_u64();
	check_signals();
	check_failures();
	return checks_done();
}
