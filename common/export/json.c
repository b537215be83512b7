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

/* Writes the value and drops the caller's reference. */
static bool print_value(struct buf *out, json_t *value)
{
	bool good = value && json_dump_callback(value, append, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS)) == 0;

	json_decref(value);
	return good;
}

/* The library takes a whole text or nothing. If it refuses, each byte above ASCII becomes "?". */
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

	if (!print_value(out, value ? value : as_ascii(text)))
		out->failed = true;
}

void json_number(struct buf *out, double v)
{
	if (!print_value(out, isfinite(v) ? json_real(v) : json_null()))
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

/* The library's integers are signed, but counts need all 64 bits. */
void json_count(struct buf *out, uint64_t v)
{
	buf_printf(out, "%" PRIu64, v);
}
