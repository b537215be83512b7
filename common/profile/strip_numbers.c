#include "common/profile/strip_numbers.h"

#include <ctype.h>
#include <strings.h>

enum { RUST_HASH = 16 };

/* Removed together with their number. */
static const char *const suffixes[] = { ".llvm.", ".__uniq.", ".lto_priv." };

/* Kept; their number is replaced. */
static const char *const words[] = {
	".isra.",
	".part.",
	".constprop.",
	".cold.",
	".localalias.",
	"$Proxy",
	"GeneratedMethodAccessor",
	"GeneratedConstructorAccessor",
	"GeneratedSerializationConstructorAccessor",
};

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t count_run(struct slice s, size_t at, bool (*is)(uint8_t))
{
	size_t n = 0;

	while (at + n < s.n && is(s.p[at + n]))
		n++;
	return n;
}

static bool stands_at(struct slice s, size_t at, const char *text)
{
	size_t n = strlen(text);

	return s.n - at >= n && memcmp(s.p + at, text, n) == 0;
}

/* "::h0123456789abcdef" before the end or a mark. */
static bool rust_hash_at(struct slice s, size_t at)
{
	size_t end = at + strlen("::h") + RUST_HASH;

	return stands_at(s, at, "::h") && count_run(s, at + strlen("::h"), is_hex) == RUST_HASH &&
	       (end == s.n || stands_at(s, end, "_["));
}

/* Returns the bytes to cut off at this place; 0: none. */
static size_t suffix_at(struct slice s, size_t at)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i]);
		size_t digits = stands_at(s, at, suffixes[i]) ? count_run(s, at + n, is_digit) : 0;

		if (digits)
			return n + digits;
	}
	return rust_hash_at(s, at) ? strlen("::h") + RUST_HASH : 0;
}

static bool is_place(struct slice s)
{
	return s.n && s.p[0] == '[' && memmem(s.p, s.n, "+0x", 3);
}

/*
 * Returns the length of a number to be replaced at this place; its first *kept bytes stay. 0: there is none.
 */
static size_t number_at(struct slice s, size_t at, size_t *kept)
{
	size_t digits;

	if (s.p[at] == '0' && stands_at(s, at, "0x") && (at == 0 || !isalnum(s.p[at - 1]))) {
		*kept = 2;
		digits = count_run(s, at + 2, is_hex);
		return digits ? 2 + digits : 0;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!stands_at(s, at, words[i]))
			continue;
		*kept = strlen(words[i]);
		digits = count_run(s, at + *kept, is_digit);
		return digits ? *kept + digits : 0;
	}
	return 0;
}

/*
 * Returns the length of a number after "lambda$": it follows `$` or `/` and is not the first digit of "0x".
 */
static size_t lambda_number_at(struct slice s, size_t at)
{
	size_t digits = s.p[at] == '$' || s.p[at] == '/' ? count_run(s, at + 1, is_digit) : 0;

	return digits && !stands_at(s, at + 1, "0x") ? 1 + digits : 0;
}

static bool is_lambda(struct slice s, size_t at)
{
	static const char word[] = "lambda$";

	return s.n - at >= strlen(word) && strncasecmp((const char *)s.p + at, word, strlen(word)) == 0;
}

void strip_numbers_append(struct buf *out, struct slice s)
{
	size_t n, start = out->n;
	bool lambda = false;

	if (is_place(s)) {
		buf_bytes(out, s.p, s.n);
		return;
	}
	for (size_t at = 0; at < s.n; at += n) {
		size_t kept = 1;

		lambda = lambda || is_lambda(s, at);
		n = at ? suffix_at(s, at) : 0;
		if (n)
			continue;
		n = number_at(s, at, &kept);
		if (!n && lambda)
			n = lambda_number_at(s, at);
		buf_bytes(out, s.p + at, kept);
		if (n)
			buf_byte(out, '?');
		else
			n = 1;
	}
	while (!out->failed && out->n > start + 1 && out->p[out->n - 1] == ' ')
		out->n--; /* spaces before a suffix */
}
