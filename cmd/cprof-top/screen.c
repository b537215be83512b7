#include "cmd/cprof-top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cprof-top/keyboard.h"
#include "cmd/shared/cli.h"
#include "cmd/shared/terminal/text_colour.h"

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

enum screen_event screen_wait(struct screen *s, int fd)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = s->keys, .events = POLLIN } };
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGWINCH);
	while (ppoll(p, sizeof(p) / sizeof(p[0]), NULL, &mask) < 0 && errno == EINTR) {
		if (!resized && !keyboard_continued())
			continue;
		resized = 0;
		measure_terminal(s);
		return SCREEN_RESIZED;
	}
	if (p[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		s->keys = -1;
	else if (p[1].revents & POLLIN)
		return SCREEN_KEYS;
	return SCREEN_INPUT;
}

/* Returns the length of the colour that the text begins with, "ESC [ 3 3 m", or 0. */
static size_t colour_length(const uint8_t *p, size_t n)
{
	size_t i = 2;

	if (n < 3 || p[0] != 0x1b || p[1] != '[')
		return 0;
	while (i < n && p[i] != 'm')
		i++;
	return i < n ? i + 1 : 0;
}

/* Returns how many bytes of the line fit into the columns, one for each character, none for colours. */
static size_t count_fitting_bytes(const uint8_t *p, size_t n, unsigned int columns)
{
	size_t i = 0, colour;

	while (i < n) {
		colour = colour_length(p + i, n - i);
		if (!colour && columns-- == 0)
			break;
		i += colour;
		if (colour)
			continue;
		do
			i++;
		while (i < n && (p[i] & 0xc0) == 0x80);
	}
	return i;
}

static void put_bytes(struct buf *out, const uint8_t *p, size_t n, bool colours)
{
	for (size_t i = 0, colour; i < n; i += colour ? colour : 1) {
		colour = colour_length(p + i, n - i);
		if (!colour || colours)
			buf_bytes(out, p + i, colour ? colour : 1);
	}
}

static void put_line(const struct screen *s, struct buf *out, const uint8_t *p, size_t n, bool marked)
{
	size_t fit = count_fitting_bytes(p, n, s->columns);
	bool coloured = n > 0 && memchr(p, 0x1b, n);

	if (marked)
		buf_text(out, COLOUR_BACK);
	if (fit == n) {
		put_bytes(out, p, n, !marked);
	} else {
		put_bytes(out, p, count_fitting_bytes(p, n, s->columns - (unsigned int)strlen(CUT)), !marked);
		buf_text(out, CUT);
	}
	if (marked || (coloured && fit < n))
		buf_text(out, COLOUR_PLAIN);
	buf_text(out, CLEAR_LINE "\n");
}

static void put_all(const struct buf *out)
{
	if (out->failed)
		cli_no_memory();
	if (fwrite(out->p, 1, out->n, stdout) != out->n || fflush(stdout) != 0)
		cli_die(STATUS_SYSTEM, "standard output: cannot write: %s", strerror(errno));
}

/* Says how many lines are not shown, above and below. */
static void put_missing(struct buf *out, size_t above, size_t below)
{
	if (above)
		buf_printf(out, "[%zu lines above, %zu more]" CLEAR_LINE "\n", above, below);
	else
		buf_printf(out, "[%zu more lines]" CLEAR_LINE "\n", below);
}

void screen_draw(struct screen *s, const struct buf *text, long marked, size_t head, const char *status)
{
	size_t lines = buf_lines(text), most = s->lines - 1; /* the cursor is on the line below */
	size_t shown = lines > most ? most - 1 : lines;
	size_t above = marked >= (long)shown && head < shown ? (size_t)marked - shown + 1 : 0;
	const uint8_t *p = text->p;
	struct buf out = { 0 };

	/* Scroll up the text that was on the screen before, so that it is not lost. */
	for (unsigned int i = 0; !s->drawn && i < s->lines; i++)
		buf_byte(&out, '\n');
	s->drawn = true;
	buf_text(&out, WRAP_OFF HOME);
	for (size_t i = 0; i < shown + above; i++) {
		const uint8_t *end = memchr(p, '\n', text->n - (size_t)(p - text->p));

		if (i < head || i >= head + above)
			put_line(s, &out, p, (size_t)(end - p), (long)i == marked);
		p = end + 1;
	}
	if (shown < lines)
		put_missing(&out, above, lines - shown - above);
	if (status)
		put_bytes(&out, (const uint8_t *)status,
			  count_fitting_bytes((const uint8_t *)status, strlen(status), s->columns - 1), true);
	buf_text(&out, CLEAR_BELOW WRAP_ON);
	put_all(&out);
	buf_release(&out);
}

void screen_leave(struct screen *s)
{
	if (s->drawn)
		fputs("\r" CLEAR_LINE, stdout);
	fflush(stdout);
}
