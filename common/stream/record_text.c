/* Records as lines of text, which cprof-dump prints and reads. */
#include "common/stream/record_fields.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

static void print_hex(struct buf *out, struct slice s)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < s.n; i++) {
		buf_byte(out, (uint8_t)digits[s.p[i] >> 4]);
		buf_byte(out, (uint8_t)digits[s.p[i] & 15]);
	}
}

static void print_quoted(struct buf *out, struct slice s)
{
	buf_byte(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		uint8_t b = s.p[i];

		if (b == '\n')
			buf_text(out, "\\n");
		else if (b == '"' || b == '\\')
			buf_printf(out, "\\%c", b);
		else if (b < 0x20 || b >= 0x7f)
			buf_printf(out, "\\x%02x", b);
		else
			buf_byte(out, b);
	}
	buf_byte(out, '"');
}

static void print_decimal(struct buf *out, uint64_t v)
{
	uint8_t digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (uint8_t)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_bytes(out, digits + n, sizeof(digits) - n);
}

static void print_0x(struct buf *out, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t text[18];
	size_t n = sizeof(text);

	do {
		text[--n] = (uint8_t)digits[v & 15];
		v >>= 4;
	} while (v);
	text[--n] = 'x';
	text[--n] = '0';
	buf_bytes(out, text + n, sizeof(text) - n);
}

static void print_field(struct buf *out, const struct record *r, const struct field *f)
{
	struct record *lookup = (struct record *)r;
	uint64_t v = is_slice(f->kind) ? 0 : *number_at(lookup, f);

	switch (f->kind) {
	case FIELD_TEXT:
		print_quoted(out, *slice_at(lookup, f));
		break;
	case FIELD_HEX:
		print_hex(out, *slice_at(lookup, f));
		break;
	case FIELD_X:
		print_0x(out, v);
		break;
	case FIELD_ENUM:
		if (v < f->n_names && f->names[v]) {
			buf_text(out, f->names[v]);
			break;
		}
		print_decimal(out, v);
		break;
	case FIELD_U:
	case FIELD_TIME:
		print_decimal(out, v);
		break;
	}
}

void record_print(struct buf *out, const struct record *r)
{
	const struct record_desc *d = record_desc(r->type);

	if (d)
		buf_text(out, d->name);
	else
		buf_printf(out, "record-%" PRIu32, r->type);
	for (size_t i = 0; d && i < d->n; i++) {
		buf_byte(out, ' ');
		buf_text(out, d->fields[i].name);
		buf_byte(out, '=');
		print_field(out, r, &d->fields[i]);
	}
	if (r->tail.n) {
		buf_text(out, " tail=");
		print_hex(out, r->tail);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool parse_hex(const char **at, struct buf *out)
{
	const char *p = *at;

	for (; hex_digit(p[0]) >= 0; p += 2) {
		if (hex_digit(p[1]) < 0)
			return false;
		buf_byte(out, (uint8_t)(hex_digit(p[0]) << 4 | hex_digit(p[1])));
	}
	*at = p;
	return true;
}

static bool parse_quoted(const char **at, struct buf *out)
{
	const char *p = *at;

	if (*p++ != '"')
		return false;
	while (*p != '"') {
		if (*p == '\0')
			return false;
		if (*p != '\\') {
			buf_byte(out, (uint8_t)*p++);
			continue;
		}
		p++;
		if (*p == 'n') {
			buf_byte(out, '\n');
			p++;
		} else if (*p == 'x') {
			if (hex_digit(p[1]) < 0 || hex_digit(p[2]) < 0)
				return false;
			buf_byte(out, (uint8_t)(hex_digit(p[1]) << 4 | hex_digit(p[2])));
			p += 3;
		} else if (*p == '"' || *p == '\\') {
			buf_byte(out, (uint8_t)*p++);
		} else {
			return false;
		}
	}
	*at = p + 1;
	return true;
}

static bool parse_decimal(const char **at, uint64_t *v)
{
	const char *p = *at;

	if (!isdigit((unsigned char)*p))
		return false;
	for (*v = 0; isdigit((unsigned char)*p); p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (*v > UINT64_MAX / 10 || *v * 10 > UINT64_MAX - digit)
			return false;
		*v = *v * 10 + digit;
	}
	*at = p;
	return true;
}

static bool parse_0x(const char **at, uint64_t *v)
{
	const char *p = *at + 2;

	if (hex_digit(*p) < 0)
		return false;
	for (*v = 0; hex_digit(*p) >= 0; p++) {
		if (*v >> 60)
			return false;
		*v = *v << 4 | (uint64_t)hex_digit(*p);
	}
	*at = p;
	return true;
}

static bool parse_number(const char **at, const struct field *f, uint64_t *v)
{
	if (f->kind == FIELD_ENUM && !isdigit((unsigned char)**at)) {
		size_t n = strcspn(*at, " ");

		for (*v = 0; *v < f->n_names; ++*v) {
			const char *name = f->names[*v];

			if (name && strlen(name) == n && strncmp(name, *at, n) == 0) {
				*at += n;
				return true;
			}
		}
		return false;
	}
	return f->kind == FIELD_ENUM || (*at)[0] != '0' || (*at)[1] != 'x' ? parse_decimal(at, v) :
									     parse_0x(at, v);
}

/* A parsed slice, an offset into scratch until scratch cannot move any more and record_parse fixes it. */
struct pending {
	struct slice *to;
	size_t at;
};

static bool parse_slice(const char **at, enum field_kind kind, struct buf *scratch, struct slice *to,
			struct pending *pending)
{
	*pending = (struct pending){ to, scratch->n };
	if (!(kind == FIELD_TEXT ? parse_quoted(at, scratch) : parse_hex(at, scratch)))
		return false;
	to->n = scratch->n - pending->at;
	return true;
}

/* Parses "mapping", or "record-60" for a record that this version does not know. */
static bool parse_type(const char **at, uint32_t *type)
{
	static const char unknown[] = "record-";
	size_t n = strcspn(*at, " ");
	const char *p = *at;
	uint64_t number;

	for (*type = 0; *type < RECORD_TYPES; ++*type) {
		const struct record_desc *d = record_desc(*type);
		const char *name = d ? d->name : NULL;

		if (name && name[0] == p[0] && strncmp(name, p, n) == 0 && name[n] == '\0') {
			*at += n;
			return true;
		}
	}
	if (strncmp(p, unknown, sizeof(unknown) - 1) != 0)
		return false;
	p += sizeof(unknown) - 1;
	if (!parse_decimal(&p, &number) || p != *at + n || number >> 32 || record_desc((uint32_t)number))
		return false;
	*type = (uint32_t)number;
	*at = p;
	return true;
}

/* Returns false for records that have no room for a tail, the fields that a newer version added. */
static bool has_tail(uint32_t type)
{
	return type != RECORD_FLUSH && type != RECORD_SEGMENT && type != RECORD_FRAME && type != RECORD_NODE &&
	       type != RECORD_SAMPLE;
}

/* Parses " name=". */
static bool parse_label(const char **at, const char *name)
{
	size_t n = strlen(name);

	if (**at != ' ' || strncmp(*at + 1, name, n) != 0 || (*at)[n + 1] != '=')
		return false;
	*at += n + 2;
	return true;
}

bool record_parse(struct record *r, const char *line, struct buf *scratch, struct buf *error)
{
	enum { FIELDS_MAX = 12 };
	struct pending pending[FIELDS_MAX + 1];
	const struct record_desc *d;
	const char *at = line;
	size_t n = 0;

	*r = (struct record){ 0 };
	buf_clear(scratch);
	buf_clear(error);
	if (!parse_type(&at, &r->type)) {
		buf_printf(error, "invalid record \"%.*s\"", (int)strcspn(line, " "), line);
		return false;
	}
	d = record_desc(r->type);
	for (size_t i = 0; d && i < d->n; i++) {
		const struct field *f = &d->fields[i];
		bool good;

		if (i >= d->least && *at == '\0')
			continue;
		good = parse_label(&at, f->name);
		if (good && is_slice(f->kind))
			good = parse_slice(&at, f->kind, scratch, slice_at(r, f), &pending[n++]);
		else if (good)
			good = parse_number(&at, f, number_at(r, f));
		if (!good) {
			buf_printf(error, "%s: expected %s= at column %zu", d->name, f->name,
				   (size_t)(at - line) + 1);
			return false;
		}
	}
	if (has_tail(r->type) && parse_label(&at, "tail") &&
	    !parse_slice(&at, FIELD_HEX, scratch, &r->tail, &pending[n++])) {
		buf_text(error, "tail: expected hexadecimal digits");
		return false;
	}
	if (*at != '\0') {
		buf_printf(error, "more than the record's fields at column %zu", (size_t)(at - line) + 1);
		return false;
	}
	if (!buf_reserve(scratch, 1)) { /* so that even empty slices point into scratch */
		buf_text(error, "out of memory");
		return false;
	}
	for (size_t i = 0; i < n; i++)
		pending[i].to->p = scratch->p + pending[i].at;
	return true;
}
