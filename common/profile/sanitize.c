#include "common/profile/sanitize.h"

/* Returns whether every byte is printable ASCII. Most names are; `;` and spaces remain to be checked. */
static bool is_plain(struct slice s)
{
	static const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
	size_t i = 0;
	uint64_t bad = 0;

	/* Eight bytes at a time: a high bit shows up below 0x20, at 0x7f and above it. */
	for (; i + 8 <= s.n; i += 8) {
		uint64_t v;

		memcpy(&v, s.p + i, 8);
		bad |= v | (v - ones * 0x20) | (v + ones);
	}
	for (; i < s.n; i++)
		bad |= s.p[i] < 0x20 || s.p[i] > 0x7e ? highs : 0;
	return !(bad & highs);
}

static uint32_t read_continuation(const uint8_t *p, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		v = v << 6 | (p[i] & 0x3f);
	}
	return v;
}

/* Returns the bytes of the UTF-8 character at p (RFC 3629), and the character in *c; 0 if it is invalid. */
static size_t read_character(const uint8_t *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	uint32_t rest;

	if (n == 0 || n > left)
		return 0;
	*c = p[0];
	if (n == 1)
		return 1;
	rest = read_continuation(p + 1, n - 1);
	if (rest == UINT32_MAX)
		return 0;
	*c = (p[0] & (0xffu >> (n + 1))) << (6 * (n - 1)) | rest;
	return *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : n;
}

/* Control characters, characters that some readers take for a line end, and those that XML cannot hold. */
static bool is_forbidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || (c & 0xfffe) == 0xfffe;
}

/* Marks, embeddings, overrides, isolates of UAX 9 (bidirectional algorithm): they reorder later text. */
static bool is_bidi_control(uint32_t c)
{
	return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void sanitize_append_shown(struct buf *out, struct slice s)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t n = read_character(s.p + i, s.n - i, &c), end = i + (n ? n : 1);

		if (n && !is_forbidden(c) && !is_bidi_control(c)) {
			buf_bytes(out, s.p + i, n);
			i = end;
		}
		for (; i < end; i++)
			buf_printf(out, "\\x%02x", s.p[i]);
	}
}

static void append_checked(struct buf *out, struct slice s)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t n = read_character(s.p + i, s.n - i, &c);

		if (n == 0 || is_forbidden(c))
			buf_byte(out, '?');
		else if (c == ';')
			buf_byte(out, ':');
		else
			buf_bytes(out, s.p + i, n);
		i += n ? n : 1;
	}
}

static bool within_character(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Cuts bytes out of the middle of the text from start on, between characters. */
static void cut_middle(struct buf *out, size_t start)
{
	uint8_t *p = out->p + start;
	size_t n = out->n - start, head = SANITIZE_MAX / 2, tail = n - (SANITIZE_MAX / 2 - strlen(SANITIZE_CUT));

	while (within_character(p[head]))
		head--;
	while (within_character(p[tail]))
		tail++;
	memcpy(p + head, SANITIZE_CUT, strlen(SANITIZE_CUT));
	memmove(p + head + strlen(SANITIZE_CUT), p + tail, n - tail);
	out->n = start + head + strlen(SANITIZE_CUT) + n - tail;
}

void sanitize_append(struct buf *out, struct slice s)
{
	size_t start = out->n;

	while (s.n && s.p[0] == ' ')
		s = (struct slice){ s.p + 1, s.n - 1 };
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	if (s.n == 0)
		buf_text(out, "[unknown]");
	else if (is_plain(s) && !memchr(s.p, ';', s.n))
		buf_bytes(out, s.p, s.n);
	else
		append_checked(out, s);
	if (!out->failed && out->n - start > SANITIZE_MAX)
		cut_middle(out, start);
}

struct slice sanitize_root(struct slice stack)
{
	const uint8_t *semicolon = stack.n ? memchr(stack.p, ';', stack.n) : NULL;

	return (struct slice){ stack.p, semicolon ? (size_t)(semicolon - stack.p) : stack.n };
}

void sanitize_append_stack(struct buf *out, struct slice s)
{
	for (size_t at = 0, n; at <= s.n; at += n + 1) {
		const uint8_t *p = s.p + at, *semicolon = memchr(p, ';', s.n - at);

		n = semicolon ? (size_t)(semicolon - p) : s.n - at;
		if (at)
			buf_byte(out, ';');
		sanitize_append(out, (struct slice){ p, n });
	}
}

/* Returns 1 if a is not printable ASCII, or if a and b wrongly end one name and begin the next. */
static inline uint8_t wrong_pair(uint8_t a, uint8_t b)
{
	return (uint8_t)((uint8_t)(a - 0x20) > 0x7e - 0x20) | (uint8_t)((a == ';') & ((b == ';') | (b == ' '))) |
	       (uint8_t)((a == ' ') & (b == ';'));
}

static bool has_short_names(struct slice s)
{
	while (s.n > SANITIZE_MAX) {
		const uint8_t *semicolon = memrchr(s.p, ';', SANITIZE_MAX + 1);

		if (!semicolon)
			return false;
		s = (struct slice){ semicolon + 1, s.n - (size_t)(semicolon + 1 - s.p) };
	}
	return true;
}

bool sanitize_is_stack(struct slice s)
{
	enum { BLOCK = 32 }; /* a loop of fixed length, which compilers turn into vectors */
	size_t i = 0;

	if (s.n == 0 || s.p[0] == ' ' || s.p[0] == ';' || wrong_pair(s.p[s.n - 1], ';') || s.p[s.n - 1] == ';')
		return false;
	for (; i + BLOCK + 1 <= s.n; i += BLOCK) {
		uint8_t wrong = 0;

		for (size_t k = 0; k < BLOCK; k++)
			wrong |= wrong_pair(s.p[i + k], s.p[i + k + 1]);
		if (wrong)
			return false;
	}
	for (; i + 1 < s.n; i++) {
		if (wrong_pair(s.p[i], s.p[i + 1]))
			return false;
	}
	return s.n <= SANITIZE_MAX || has_short_names(s);
}
