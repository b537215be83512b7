#include "common/export/json.h"

#include <inttypes.h>
#include <math.h>

#ifdef HAVE_JANSSON

#include <jansson.h>

enum { DIGITS = 6 };

bool json_known(void)
{
	return true;
}

static int append(const char *text, size_t n, void *out)
{
	buf_bytes(out, text, n);
	return 0;
}

/* Takes the reference over. */
static bool print(struct buf *out, json_t *value)
{
	bool good = value && json_dump_callback(value, append, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS)) == 0;

	json_decref(value);
	return good;
}

/* The library takes all of a text or nothing: where it refuses, each byte that alone is not ASCII goes. */
static json_t *as_ascii(struct slice text)
{
	struct buf plain = { 0 };
	json_t *value;

	for (size_t i = 0; i < text.n; i++)
		buf_byte(&plain, text.p[i] < 0x80 ? text.p[i] : '?');
	value = plain.failed ? NULL : json_stringn((const char *)plain.p, plain.n);
	buf_release(&plain);
	return value;
}

void json_text(struct buf *out, struct slice text)
{
	json_t *value = json_stringn(text.n ? (const char *)text.p : "", text.n);

	if (!print(out, value ? value : as_ascii(text)))
		out->failed = true;
}

void json_number(struct buf *out, double v)
{
	if (!print(out, isfinite(v) ? json_real(v) : json_null()))
		out->failed = true;
}

#else

bool json_known(void)
{
	return false;
}

void json_text(struct buf *out, struct slice text)
{
	(void)text;
	out->failed = true;
}

void json_number(struct buf *out, double v)
{
	(void)v;
	out->failed = true;
}

#endif

/* The library's integers have a sign, and counts have 64 bits. */
void json_count(struct buf *out, uint64_t v)
{
	buf_printf(out, "%" PRIu64, v);
}
