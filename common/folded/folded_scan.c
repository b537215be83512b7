#include "common/folded/folded_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { INPUT_SIZE = 256 << 10 };

bool folded_scan_init(struct folded_scan *s, int fd, struct slice taken)
{
	*s = (struct folded_scan){ .fd = fd };
	s->cap = taken.n > INPUT_SIZE ? taken.n : INPUT_SIZE;
	s->in = malloc(s->cap);
	if (!s->in)
		return false;
	if (taken.n)
		memcpy(s->in, taken.p, taken.n);
	s->n = taken.n;
	return true;
}

void folded_scan_release(struct folded_scan *s)
{
	free(s->in);
	*s = (struct folded_scan){ 0 };
}

void folded_scan_bad(struct folded_scan *s, const char *why)
{
	if (s->bad++ == 0) {
		s->first_bad = s->lines;
		s->why = why;
	}
}

bool folded_scan_two_columns(const struct folded_scan *s)
{
	return !s->single && s->frames;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Returns why a line that does not end in digits after a space has no count. */
static const char *why_no_count(struct slice line)
{
	size_t at = line.n, digits = 0, others = 0;

	for (; at > 0 && line.p[at - 1] != ' ' && line.p[at - 1] != '\t'; at--) {
		digits += is_digit(line.p[at - 1]);
		others += !is_digit(line.p[at - 1]) && line.p[at - 1] != '.' && line.p[at - 1] != '-' && line.p[at - 1] != '+';
	}
	return at && digits && !others ? "the count has a sign or a fraction, and is not a whole number" : "no count after the last space";
}

/* Splits off the digits at the end of the line and the space before them. Returns NULL, or why it cannot. */
static const char *split_count(struct slice line, struct slice *stack, uint64_t *count)
{
	size_t at = line.n;
	uint64_t scale = 1, v = 0;

	while (at > 0 && is_digit(line.p[at - 1])) {
		uint64_t digit = (uint64_t)(line.p[--at] - '0');

		if (digit && (scale == 0 || __builtin_mul_overflow(digit, scale, &digit) ||
			      __builtin_add_overflow(v, digit, &v)))
			return "the count does not fit into 64 bits";
		scale = __builtin_mul_overflow(scale, (uint64_t)10, &scale) ? 0 : scale;
	}
	if (at == line.n || at == 0 || (line.p[at - 1] != ' ' && line.p[at - 1] != '\t'))
		return why_no_count(line);
	at--;
	while (at > 0 && line.p[at - 1] == ' ')
		at--;
	if (at == 0)
		return "no stack before the count";
	*stack = (struct slice){ line.p, at };
	*count = v;
	return NULL;
}

/* Returns the first line without a byte order mark. */
static struct slice skip_mark(struct slice line)
{
	bool marked = line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0;

	return marked ? (struct slice){ line.p + 3, line.n - 3 } : line;
}

/* Returns whether the stack ends in one more count, after a space. */
static bool ends_in_number(struct slice stack)
{
	size_t at = stack.n;

	while (at > 0 && is_digit(stack.p[at - 1]))
		at--;
	return at > 0 && at < stack.n && stack.p[at - 1] == ' ';
}

bool folded_scan_looks_compared(struct slice start)
{
	bool frames = false;
	const uint8_t *newline;

	while ((newline = memchr(start.p, '\n', start.n))) {
		struct slice line = { start.p, (size_t)(newline - start.p) }, stack;
		uint64_t count;

		start = (struct slice){ newline + 1, start.n - line.n - 1 };
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n && (split_count(line, &stack, &count) || !ends_in_number(stack)))
			return false;
		frames = frames || memchr(line.p, ';', line.n);
	}
	return frames;
}

/* Drops the bytes before at, makes room at the end and reads. */
static bool read_more(struct folded_scan *s)
{
	ssize_t got;

	if (s->at) {
		memmove(s->in, s->in + s->at, s->n - s->at);
		s->n -= s->at;
		s->at = 0;
	}
	if (s->n == s->cap) {
		uint8_t *bigger = realloc(s->in, s->cap * 2);

		if (!bigger)
			return false;
		s->in = bigger;
		s->cap *= 2;
	}
	do
		got = read(s->fd, s->in + s->n, s->cap - s->n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;
	s->eof = got == 0;
	s->n += (size_t)got;
	return true;
}

/* Skips a line that is too long to keep. */
static bool skip_line(struct folded_scan *s)
{
	const uint8_t *newline = NULL;

	s->lines++;
	folded_scan_bad(s, "longer than 4 MiB");
	while (!newline && !s->eof) {
		s->at = s->n;
		if (!read_more(s))
			return false;
		newline = memchr(s->in, '\n', s->n);
	}
	s->at = newline ? (size_t)(newline - s->in) + 1 : s->n;
	return true;
}

/* Sets *line to the next line, unchanged, without its LF. */
static int next_line(struct folded_scan *s, struct slice *line)
{
	for (;;) {
		const uint8_t *p = s->in + s->at, *newline = memchr(p, '\n', s->n - s->at);

		*line = (struct slice){ p, newline ? (size_t)(newline - p) : s->n - s->at };
		if (newline || (s->eof && line->n)) {
			s->at += line->n + (newline != NULL);
			s->lines++;
			return 1;
		}
		if (s->eof)
			return 0;
		if (!(line->n > FOLDED_LINE_MAX ? skip_line(s) : read_more(s)))
			return -1;
	}
}

int folded_scan_next(struct folded_scan *s, struct slice *stack, uint64_t *count)
{
	struct slice line;
	int got;

	while ((got = next_line(s, &line)) > 0) {
		const char *wrong;

		if (s->lines == 1)
			line = skip_mark(line);
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n == 0)
			continue;
		wrong = split_count(line, stack, count);
		if (s->both && !wrong && split_count(*stack, stack, &s->before)) {
			wrong = "one count where there should be two";
			s->halves++;
		}
		if (!s->single && !s->both) {
			s->single = wrong || memchr(line.p + stack->n, '\t', line.n - stack->n) || !ends_in_number(*stack);
			s->frames = s->frames || memchr(line.p, ';', line.n);
		}
		if (!wrong)
			return 1;
		folded_scan_bad(s, wrong);
	}
	return got;
}
