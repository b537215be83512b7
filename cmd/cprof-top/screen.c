#include "cmd/cprof-top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/shared/cli.h"

/* Escape sequences that every terminal of the last decades supports. */
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define WRAP_OFF "\033[?7l"
#define WRAP_ON "\033[?7h"

#define CUT "..."

enum { LINES = 24, COLUMNS = 80, LINES_LEAST = 4, COLUMNS_LEAST = 20 };

static volatile sig_atomic_t resized;

static void note_resize(int sig)
{
	(void)sig;
	resized = 1;
}

static void measure_terminal(struct screen *s)
{
	struct winsize size;

	s->lines = LINES;
	s->columns = COLUMNS;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		s->lines = size.ws_row;
		s->columns = size.ws_col;
	}
	s->lines = s->lines < LINES_LEAST ? LINES_LEAST : s->lines;
	s->columns = s->columns < COLUMNS_LEAST ? COLUMNS_LEAST : s->columns;
}

void screen_open(struct screen *s)
{
	struct sigaction act = { .sa_handler = note_resize, .sa_flags = SA_RESTART };
	const char *term = getenv("TERM");
	sigset_t winch;

	if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
		return;
	s->on = true;
	measure_terminal(s);
	/*
	 * SIGWINCH is delivered only during the wait, so no change is missed between the check and the wait.
	 */
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, NULL);
	sigaction(SIGWINCH, &act, NULL);
}

bool screen_wait(struct screen *s, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGWINCH);
	while (ppoll(&p, 1, NULL, &mask) < 0 && errno == EINTR) {
		if (resized) {
			resized = 0;
			measure_terminal(s);
			return true;
		}
	}
	return false;
}

/* Returns how many bytes of the line fit into the columns, one column for each character. */
static size_t count_fitting_bytes(const uint8_t *p, size_t n, unsigned int columns)
{
	size_t i = 0;

	while (i < n && columns-- > 0) {
		do
			i++;
		while (i < n && (p[i] & 0xc0) == 0x80);
	}
	return i;
}

static void put_line(const struct screen *s, struct buf *out, const uint8_t *p, size_t n)
{
	size_t fit = count_fitting_bytes(p, n, s->columns);

	if (fit == n) {
		buf_bytes(out, p, n);
	} else {
		buf_bytes(out, p, count_fitting_bytes(p, n, s->columns - (unsigned int)strlen(CUT)));
		buf_text(out, CUT);
	}
	buf_text(out, CLEAR_LINE "\n");
}

static void put_all(const struct buf *out)
{
	if (out->failed)
		cli_no_memory();
	if (fwrite(out->p, 1, out->n, stdout) != out->n || fflush(stdout) != 0)
		cli_die(STATUS_SYSTEM, "standard output: cannot write: %s", strerror(errno));
}

void screen_draw(struct screen *s, const struct buf *text)
{
	size_t lines = buf_lines(text), most = s->lines - 1; /* the cursor is on the line below */
	size_t shown = lines > most ? most - 1 : lines;
	const uint8_t *p = text->p;
	struct buf out = { 0 };

	/* Scroll up the text that was on the screen before, so that it is not lost. */
	for (unsigned int i = 0; !s->drawn && i < s->lines; i++)
		buf_byte(&out, '\n');
	s->drawn = true;
	buf_text(&out, WRAP_OFF HOME);
	for (size_t i = 0; i < shown; i++) {
		const uint8_t *end = memchr(p, '\n', text->n - (size_t)(p - text->p));

		put_line(s, &out, p, (size_t)(end - p));
		p = end + 1;
	}
	if (shown < lines)
		buf_printf(&out, "[%zu more lines]" CLEAR_LINE "\n", lines - shown);
	buf_text(&out, CLEAR_BELOW WRAP_ON);
	put_all(&out);
	buf_release(&out);
}
