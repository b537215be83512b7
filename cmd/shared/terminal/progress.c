#include "cmd/shared/terminal/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "common/profile/sanitize.h"

#define ERASE "\r\033[K"

enum { FIRST_MS = 1000, NEXT_MS = 250, TEXT = 256, NUMBERS = 24, COLUMNS = 80, COLUMNS_LEAST = 20 };

/* Read by the signal's handler; changed only while the timer is off. */
static struct {
	char text[TEXT]; /* "cprof-sym: make.bin" */
	size_t n, columns;
	int fd;
	uint64_t size; /* 0: unknown */
	time_t begun;
} work;
static volatile sig_atomic_t running, shown;
static bool forbidden;

static void set_timer(long first_ms, long next_ms)
{
	const struct itimerval t = {
		.it_value = { first_ms / 1000, first_ms % 1000 * 1000 },
		.it_interval = { next_ms / 1000, next_ms % 1000 * 1000 },
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

static time_t seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Appends a number. Standard output's functions are not allowed in a handler. */
static size_t add_number(char *to, size_t n, uint64_t number)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		to[n++] = digits[--count];
	return n;
}

static size_t add_text(char *to, size_t n, const char *text)
{
	while (*text)
		to[n++] = *text++;
	return n;
}

static void write_line(int sig)
{
	char line[TEXT + 96];
	off_t at = work.size ? lseek(work.fd, 0, SEEK_CUR) : 0;
	size_t n = add_text(line, 0, ERASE), end;
	int before = errno;

	(void)sig;
	if (!running || tcgetpgrp(STDERR_FILENO) != getpgrp())
		return;
	memcpy(line + n, work.text, work.n);
	n = add_text(line, n + work.n, ": ");
	if (at > 0) {
		n = add_number(line, n, (uint64_t)at >= work.size ? 100 : (uint64_t)at * 100 / work.size);
		n = add_text(line, n, " %, ");
	}
	n = add_number(line, n, (uint64_t)(seconds_now() - work.begun));
	n = add_text(line, n, " s");
	end = strlen(ERASE) + work.columns - 1;
	shown = write(STDERR_FILENO, line, n < end ? n : end) > 0;
	errno = before;
}

static void erase_line(void)
{
	if (!shown)
		return;
	shown = 0;
	if (write(STDERR_FILENO, ERASE, strlen(ERASE)) < 0)
		return; /* a message that cannot be written is no failure */
}

/* The next line comes only after the message has been written. */
static void make_room(void)
{
	if (!running)
		return;
	set_timer(NEXT_MS, NEXT_MS);
	erase_line();
}

/* Returns whether there is a terminal for the line, and prepares it the first time. */
static bool can_show(void)
{
	static int answer = -1;
	struct sigaction act = { .sa_handler = write_line, .sa_flags = SA_RESTART };
	struct winsize size;

	if (answer >= 0 || forbidden)
		return answer > 0 && !forbidden;
	answer = isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
	if (!answer)
		return false;
	work.begun = seconds_now();
	work.columns = COLUMNS;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_LEAST)
		work.columns = size.ws_col;
	sigaction(SIGALRM, &act, NULL);
	cli_before_message(make_room);
	atexit(progress_end);
	return true;
}

/* Sets the text, cut so that the numbers after it fit into the line. */
static void set_text(const char *what)
{
	size_t most = work.columns > 2 * NUMBERS ? work.columns - NUMBERS : work.columns / 2;
	struct buf text = { 0 };

	most = most < TEXT ? most : TEXT;
	buf_printf(&text, "%s: ", cli_command()->name);
	sanitize_append_shown(&text, slice_of(what));
	work.n = text.failed ? 0 : text.n < most ? text.n : most;
	while (work.n < text.n && work.n > 0 && (text.p[work.n] & 0xc0) == 0x80)
		work.n--;
	memcpy(work.text, buf_cstr(&text), work.n);
	buf_release(&text);
}

void progress_begin(const char *what, int fd)
{
	sigset_t alarm, before;
	struct stat st;
	long left;

	if (!can_show())
		return;
	if (fd == STDIN_FILENO && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		progress_end();
		return;
	}
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &before);
	set_text(what);
	work.fd = fd;
	work.size = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (running)
		return;
	running = 1;
	left = FIRST_MS - 1000 * (long)(seconds_now() - work.begun);
	set_timer(left > NEXT_MS ? left : NEXT_MS, NEXT_MS);
}

void progress_end(void)
{
	if (!running)
		return;
	set_timer(0, 0);
	running = 0;
	erase_line();
}

void progress_forbid(void)
{
	forbidden = true;
}
