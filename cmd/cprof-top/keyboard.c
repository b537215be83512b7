#include "cmd/cprof-top/keyboard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

enum { HELD = 256, SEQUENCE_MS = 25 };

static int terminal = -1;
static struct termios normal, raw;
static volatile sig_atomic_t changed, continued, interrupted;
static bool piped;	/* standard input is a pipe from the recorder */
static char held[HELD]; /* read and not yet taken */
static size_t n_held, n_taken;

/* A process in the background would be stopped for setting the mode, unless it blocks that signal. */
static void set_mode(const struct termios *mode)
{
	sigset_t ttou, before;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	tcsetattr(terminal, TCSADRAIN, mode);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void keyboard_close(void)
{
	if (changed)
		set_mode(&normal);
	changed = 0;
}

/*
 * Gives the terminal back before the signal ends the process. The first Ctrl-C is for the
 * recorder that feeds the pipe, as in cli_open: its last samples are still to be read.
 */
static void end_by(int sig)
{
	if (sig == SIGINT && piped && !interrupted) {
		interrupted = 1;
		return;
	}
	keyboard_close();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void stop_by(int sig)
{
	(void)sig;
	keyboard_close();
	raise(SIGSTOP);
}

static void continue_by(int sig)
{
	(void)sig;
	if (terminal >= 0 && tcgetpgrp(terminal) == getpgrp()) {
		set_mode(&raw);
		changed = continued = 1;
	}
}

static void catch_signal(int sig, void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, before;

	if (sigaction(sig, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(sig, &act, NULL);
}

static void catch_signals(void)
{
	static const int ending[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGUSR1,
				      SIGUSR2, SIGABRT, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL };

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		catch_signal(ending[i], end_by);
	catch_signal(SIGTSTP, stop_by);
	catch_signal(SIGCONT, continue_by);
}

int keyboard_open(bool takes_input)
{
	struct stat st;

	if (takes_input && isatty(STDIN_FILENO))
		return -1;
	terminal = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0 || tcgetpgrp(terminal) != getpgrp() || tcgetattr(terminal, &normal) != 0) {
		if (terminal >= 0)
			close(terminal);
		return terminal = -1;
	}
	piped = takes_input && fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
	raw = normal;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_lflag |= NOFLSH; /* Ctrl-C discards no output */
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	catch_signals();
	atexit(keyboard_close);
	changed = 1;
	set_mode(&raw);
	return terminal;
}

bool keyboard_continued(void)
{
	bool had = continued;

	continued = 0;
	return had;
}

/* Reads more keys. Returns false if there are none. wait_ms: for the rest of a sequence. */
static bool read_more(int wait_ms)
{
	struct pollfd p = { .fd = terminal, .events = POLLIN };
	ssize_t got;

	if (n_taken == n_held)
		n_taken = n_held = 0;
	if (n_held == HELD || (wait_ms && poll(&p, 1, wait_ms) <= 0))
		return false;
	got = read(terminal, held + n_held, HELD - n_held);
	if (got <= 0)
		return false;
	n_held += (size_t)got;
	return true;
}

/* Takes the rest of a sequence like "ESC [ A" or "ESC [ 5 ~". */
static int take_sequence(void)
{
	char c;

	if (n_taken == n_held && !read_more(SEQUENCE_MS))
		return KEY_ESCAPE;
	if (held[n_taken] != '[' && held[n_taken] != 'O')
		return KEY_ESCAPE;
	n_taken++;
	do {
		if (n_taken == n_held && !read_more(SEQUENCE_MS))
			return KEY_OTHER;
		c = held[n_taken++];
	} while (strchr("0123456789;", c));
	return c == 'A' ? KEY_UP : c == 'B' ? KEY_DOWN : KEY_OTHER;
}

int keyboard_next(void)
{
	unsigned char c;

	if (terminal < 0 || (n_taken == n_held && !read_more(0)))
		return KEY_NONE;
	c = (unsigned char)held[n_taken++];
	if (c == KEY_ESCAPE)
		return take_sequence();
	return c == '\r' ? KEY_ENTER : c == '\b' ? KEY_BACKSPACE : c ? c : KEY_OTHER;
}
