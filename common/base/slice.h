/*
 * Bytes that belong to somebody else.
 *
 *	struct slice name = slice_of("main");
 *
 *	if (slice_begins(name, "ma"))
 *		...
 */
#ifndef CPROF_BASE_SLICE_H
#define CPROF_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes, not terminated by NUL. */
struct slice {
	const uint8_t *p;
	size_t n;
};

/* Compares byte by byte, a prefix before the longer text. Returns a value below, equal to or above 0. */
static inline int slice_compare(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int differ = n ? memcmp(a.p, b.p, n) : 0;

	return differ ? differ : a.n < b.n ? -1 : a.n > b.n;
}

/* Returns the length in bytes of the longest common prefix. */
static inline size_t slice_common(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	while (i + 8 <= n && memcmp(a.p + i, b.p + i, 8) == 0)
		i += 8;
	while (i < n && a.p[i] == b.p[i])
		i++;
	return i;
}

static inline struct slice slice_of(const char *text)
{
	return (struct slice){ (const uint8_t *)text, strlen(text) };
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
	return slice_equal(a, slice_of(text));
}

static inline bool slice_begins(struct slice a, const char *text)
{
	struct slice b = slice_of(text);

	return a.n >= b.n && memcmp(a.p, b.p, b.n) == 0;
}

/* Returns the part of a path after its last slash. */
static inline struct slice slice_base(struct slice path)
{
	const uint8_t *slash = path.n ? (const uint8_t *)memrchr(path.p, '/', path.n) : NULL;

	return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

/* Parses a decimal number. Returns 0 if it is not one, or is too large for a time in nanoseconds. */
static inline uint64_t slice_decimal(struct slice text)
{
	uint64_t v = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || v > INT64_MAX / 10 - 9)
			return 0;
		v = v * 10 + text.p[i] - '0';
	}
	return v;
}

/* Cuts a text off the beginning. Returns false, and changes nothing, if it is not there. */
static inline bool slice_cut_start(struct slice *s, const char *start)
{
	size_t n = strlen(start);

	if (!slice_begins(*s, start))
		return false;
	s->p += n;
	s->n -= n;
	return true;
}

/* The same at the end. */
static inline bool slice_cut_end(struct slice *s, const char *end)
{
	size_t n = strlen(end);

	if (s->n < n || memcmp(s->p + s->n - n, end, n) != 0)
		return false;
	s->n -= n;
	return true;
}

#endif
