#include "common/hotspot/java_names.h"

#include <string.h>

/* Names of classes that HotSpot and the class library make: a number follows. */
static const char *const made[] = {
	"GeneratedMethodAccessor",
	"GeneratedConstructorAccessor",
	"GeneratedSerializationConstructorAccessor",
	"$$Lambda$",
	"LambdaForm$MH$",
	"LambdaForm$DMH$",
	"LambdaForm$BMH$",
	"$Proxy",
};

/* The package of proxies that have no other: a number of its module follows. */
static const char proxies[] = "jdk/proxy";

/* Blobs of stubs that JDK 8 to 17 only number, by the names that JDK 21 gives them. */
static const struct {
	const char *is, *name;
} stubs[] = {
	{ "StubRoutines (1)", "StubRoutines (initial stubs)" },
	{ "StubRoutines (2)", "StubRoutines (final stubs)" },
};

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Returns how many bytes are left before a tail of digits. */
static size_t before_digits(struct slice s)
{
	size_t n = s.n;

	while (n > 0 && is_digit(s.p[n - 1]))
		n--;
	return n;
}

/*
 * A hidden class's name ends in "+0x" or "/0x" and an address, an anonymous class's of JDK 8 in "/" and
 * digits.
 */
static struct slice without_address(struct slice s)
{
	size_t n = s.n;

	while (n > 0 && is_hex(s.p[n - 1]))
		n--;
	if (n < s.n && n >= 3 && s.p[n - 1] == 'x' && s.p[n - 2] == '0' &&
	    (s.p[n - 3] == '+' || s.p[n - 3] == '/'))
		return (struct slice){ s.p, n - 3 };
	n = before_digits(s);
	if (n < s.n && n > 1 && s.p[n - 1] == '/')
		return (struct slice){ s.p, n - 1 };
	return s;
}

static bool ends_with(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.n >= n && memcmp(s.p + s.n - n, text, n) == 0;
}

static struct slice without_number(struct slice s)
{
	struct slice head = { s.p, before_digits(s) };

	for (size_t i = 0; head.n < s.n && i < sizeof(made) / sizeof(made[0]); i++) {
		if (ends_with(head, made[i]))
			return (struct slice){ s.p, head.n - (head.p[head.n - 1] == '$') };
	}
	return s;
}

/* Returns the UTF-16 unit of a sequence of three bytes at this index; 0: there is none. */
static uint32_t unit_at(struct slice s, size_t at)
{
	if (s.n < 3 || at > s.n - 3 || (s.p[at] & 0xf0) != 0xe0 || (s.p[at + 1] & 0xc0) != 0x80 ||
	    (s.p[at + 2] & 0xc0) != 0x80)
		return 0;
	return (s.p[at] & 0x0fu) << 12 | (s.p[at + 1] & 0x3fu) << 6 | (s.p[at + 2] & 0x3fu);
}

/* A character beyond 0xffff is two units, each of three bytes. */
static bool put_pair(struct buf *out, struct slice text, size_t at)
{
	uint32_t high = unit_at(text, at), low = unit_at(text, at + 3), c;

	if (high >> 10 != 0xd800 >> 10 || low >> 10 != 0xdc00 >> 10)
		return false;
	c = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
	buf_byte(out, (uint8_t)(0xf0 | c >> 18));
	buf_byte(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
	buf_byte(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	buf_byte(out, (uint8_t)(0x80 | (c & 0x3f)));
	return true;
}

static void put_text(struct buf *out, struct slice text, uint8_t slash)
{
	for (size_t i = 0; i < text.n; i++) {
		if (put_pair(out, text, i))
			i += 5;
		else if (unit_at(text, i) >> 11 == 0xd800 >> 11) { /* half of a pair is no character */
			buf_byte(out, '?');
			i += 2;
		} else {
			buf_byte(out, text.p[i] == '/' ? slash : text.p[i]);
		}
	}
}

void java_text(struct buf *out, struct slice text)
{
	put_text(out, text, '/');
}

void java_stub_name(struct buf *out, struct slice name)
{
	for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++) {
		if (slice_is(name, stubs[i].is))
			name = slice_of(stubs[i].name);
	}
	put_text(out, name, '/');
}

/* Returns the part of the name after the number of a package of proxies, or the whole name. */
static struct slice after_proxies(struct slice class)
{
	size_t n = sizeof(proxies) - 1, at = n;

	if (!slice_begins(class, proxies))
		return class;
	while (at < class.n && is_digit(class.p[at]))
		at++;
	return at > n && at < class.n && class.p[at] == '/' ? (struct slice){ class.p + at, class.n - at } : class;
}

void java_class_name(struct buf *out, struct slice class)
{
	struct slice name = without_number(without_address(class)), tail = after_proxies(name);

	if (tail.n < name.n)
		put_text(out, slice_of(proxies), '.');
	put_text(out, tail, '.');
}

void java_source_path(struct buf *out, struct slice class, struct slice file)
{
	size_t n = without_address(class).n;

	if (file.n == 0)
		return;
	while (n > 0 && class.p[n - 1] != '/')
		n--;
	java_text(out, (struct slice){ class.p, n });
	java_text(out, file);
}
