#include "common/views/brief.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/array.h"

/* Bytes for "\n_4294967295 more lines_\n" of a section. */
enum { MORE = 40, PRIORITIES = 16 };

static void append(struct buf *to, const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		to->failed = true;
	else
		buf_text(to, text);
	free(text);
}

/* Returns the length of the text cut to most bytes, but not inside a character of UTF-8. */
static size_t cut_length(struct slice text, size_t most)
{
	size_t n = text.n < most ? text.n : most;

	while (n && n < text.n && (text.p[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void brief_title(struct brief *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	append(&b->title, fmt, args);
	va_end(args);
	b->title.n = cut_length(buf_view(&b->title), BRIEF_TITLE);
}

void brief_section(struct brief *b, const char *title, const char *head)
{
	struct brief_section *s = &b->sections[b->n_sections++];

	s->title = title;
	if (head)
		buf_text(&s->head, head);
}

void brief_line(struct brief *b, size_t priority, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	append(&b->text, fmt, args);
	va_end(args);
	if (!grow_array(&b->lines, &b->cap, b->n, sizeof(*b->lines))) {
		b->failed = true;
		return;
	}
	b->lines[b->n++] = (struct brief_line){ b->n_sections - 1, priority, b->text.n, false };
	b->sections[b->n_sections - 1].lines++;
}

/* Names with a backtick are between two of them, and a bar does not end a cell. */
void brief_name(struct buf *out, struct slice name)
{
	const char *fence = name.n && memchr(name.p, '`', name.n) ? "``" : "`";
	size_t head = cut_length(name, BRIEF_NAME * 2 / 3), tail = name.n - BRIEF_NAME / 3;

	buf_text(out, fence);
	if (fence[1])
		buf_byte(out, ' ');
	for (size_t i = 0; i < name.n; i++) {
		if (name.n > BRIEF_NAME && i == head) {
			for (i = tail; i < name.n && (name.p[i] & 0xc0) == 0x80;)
				i++;
			buf_text(out, "…");
		}
		if (name.p[i] == '|')
			buf_byte(out, '\\');
		buf_byte(out, name.p[i] < ' ' ? '?' : name.p[i]);
	}
	if (fence[1])
		buf_byte(out, ' ');
	buf_text(out, fence);
}

void brief_code(struct buf *out, struct slice text)
{
	bool ticks = text.n && memchr(text.p, '`', text.n);

	buf_text(out, ticks ? "`` " : "`");
	for (size_t i = 0; i < text.n; i++)
		buf_byte(out, text.p[i] < ' ' ? '?' : text.p[i]);
	buf_text(out, ticks ? " ``" : "`");
}

static bool is_plain(struct slice argument)
{
	for (size_t i = 0; i < argument.n; i++) {
		uint8_t c = argument.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      memchr("-_./=,:@+%", c, 10)))
			return false;
	}
	return argument.n;
}

void brief_quote(struct buf *out, struct slice argument)
{
	if (is_plain(argument)) {
		buf_bytes(out, argument.p, argument.n);
		return;
	}
	buf_byte(out, '\'');
	for (size_t i = 0; i < argument.n; i++) {
		if (argument.p[i] == '\'')
			buf_text(out, "'\\''");
		else
			buf_byte(out, argument.p[i]);
	}
	buf_byte(out, '\'');
}

static struct slice line_at(const struct brief *b, size_t i)
{
	size_t begin = i ? b->lines[i - 1].end : 0;

	return (struct slice){ b->text.p + begin, b->lines[i].end - begin };
}

/* Returns the bytes that a line takes; the first one of a section brings its title and its head. */
static size_t cost_of(const struct brief *b, size_t i)
{
	const struct brief_section *s = &b->sections[b->lines[i].section];
	size_t first = s->chosen ? 0 : strlen("\n## \n\n") + strlen(s->title) + s->head.n + MORE;

	return line_at(b, i).n + 1 + first;
}

static void choose_lines(struct brief *b, size_t priority, size_t *left)
{
	for (size_t i = 0; i < b->n; i++) {
		struct brief_section *s = &b->sections[b->lines[i].section];
		size_t cost;

		if (b->lines[i].priority != priority || s->full)
			continue;
		cost = cost_of(b, i);
		s->full = cost > *left;
		if (s->full)
			continue;
		*left -= cost;
		b->lines[i].chosen = true;
		s->chosen++;
	}
}

static void write_section(const struct brief *b, size_t section, struct buf *out)
{
	const struct brief_section *s = &b->sections[section];

	if (!s->chosen)
		return;
	buf_printf(out, "\n## %s\n\n", s->title);
	if (s->head.n)
		buf_bytes(out, s->head.p, s->head.n);
	for (size_t i = 0; i < b->n; i++) {
		struct slice line = line_at(b, i);

		if (!b->lines[i].chosen || b->lines[i].section != section)
			continue;
		buf_bytes(out, line.p, line.n);
		buf_byte(out, '\n');
	}
	if (s->chosen < s->lines)
		buf_printf(out, "\n_%zu more lines_\n", s->lines - s->chosen);
}

void brief_write(struct brief *b, struct buf *out)
{
	size_t left = b->budget > b->title.n + 1 ? b->budget - b->title.n - 1 : 0;

	b->failed = b->failed || b->title.failed || b->text.failed;
	if (b->failed)
		return;
	for (size_t priority = 0; priority < PRIORITIES; priority++)
		choose_lines(b, priority, &left);
	buf_bytes(out, b->title.p, b->title.n);
	buf_byte(out, '\n');
	for (size_t i = 0; i < b->n_sections; i++)
		write_section(b, i, out);
}

void brief_release(struct brief *b)
{
	for (size_t i = 0; i < b->n_sections; i++)
		buf_release(&b->sections[i].head);
	buf_release(&b->title);
	buf_release(&b->text);
	free(b->lines);
	*b = (struct brief){ 0 };
}
