#include "common/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool buf_reserve(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 64;
	uint8_t *p;

	if (b->failed)
		return false;
	if (n <= b->cap - b->n)
		return true;
	while (cap - b->n < n) {
		if (cap > SIZE_MAX / 2) {
			b->failed = true;
			return false;
		}
		cap *= 2;
	}
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_bytes(struct buf *b, const void *p, size_t n)
{
	if (n == 0 || (!buf_has_room(b, n) && !buf_reserve(b, n)))
		return;
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

void buf_text(struct buf *b, const char *text)
{
	buf_bytes(b, text, strlen(text));
}

void buf_slice(struct buf *b, struct slice s)
{
	buf_varint(b, s.n);
	buf_bytes(b, s.p, s.n);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !buf_reserve(b, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

struct slice buf_view(const struct buf *b)
{
	return (struct slice){ b->p, b->n };
}

size_t buf_lines(const struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->p[i] == '\n';
	return n;
}

const char *buf_cstr(struct buf *b)
{
	if (!buf_reserve(b, 1))
		return "";
	b->p[b->n] = '\0';
	return (const char *)b->p;
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}
