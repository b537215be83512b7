#include "common/flame/text_width.h"

/* Returns the character of n bytes at p. */
static uint32_t decode_character(const uint8_t *p, size_t n)
{
	uint32_t v = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		v = v << 6 | (p[i] & 0x3f);
	return v;
}

static size_t character_bytes(uint8_t first)
{
	return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Returns the width relative to the font size. */
static double width_of(uint32_t c)
{
	if (c >= 0x1100)
		return 1;
	if (c >= 0x80)
		return 0.68;
	if (strchr("ijlI.,:;'|![] ", (int)c))
		return 0.35;
	if (strchr("frt()/\\\"`-", (int)c))
		return 0.42;
	if (strchr("mwMW@%", (int)c))
		return 0.98;
	if ((c >= 'A' && c <= 'Z') || strchr("<>=+~#&^", (int)c))
		return 0.8;
	return 0.63;
}

struct slice text_width_text(struct slice text, double width, double fontsize)
{
	double used = 0;
	size_t at = 0;

	while (at < text.n) {
		size_t n = character_bytes(text.p[at]);

		if (n > text.n - at)
			break;
		used += width_of(decode_character(text.p + at, n)) * fontsize;
		if (used > width)
			break;
		at += n;
	}
	return (struct slice){ text.p, at };
}

double text_width_width(struct slice text, double fontsize)
{
	double used = 0;

	for (size_t at = 0, n; at < text.n; at += n) {
		n = character_bytes(text.p[at]);
		if (n > text.n - at)
			break;
		used += width_of(decode_character(text.p + at, n)) * fontsize;
	}
	return used;
}
