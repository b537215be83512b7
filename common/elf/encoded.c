#include "common/elf/encoded.h"

enum {
	FORMAT_ABSOLUTE = 0x0, FORMAT_UNSIGNED = 0x1, FORMAT_U16 = 0x2, FORMAT_U32 = 0x3, FORMAT_U64 = 0x4,
	FORMAT_SIGNED = 0x9, FORMAT_S16 = 0xa, FORMAT_S32 = 0xb, FORMAT_S64 = 0xc,
	BASE_NONE = 0x00, BASE_HERE = 0x10, BASE_TEXT = 0x20, BASE_DATA = 0x30,
};

bool encoded_signed(struct cursor *c, int64_t *v)
{
	uint64_t x = 0;
	const uint8_t *p = c->p;

	for (unsigned int shift = 0; shift < 64 && p < c->end; shift += 7) {
		uint8_t b = *p++;

		x |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (b & 0x40 && shift + 7 < 64)
			x |= UINT64_MAX << (shift + 7);
		c->p = p;
		*v = (int64_t)x;
		return true;
	}
	return false;
}

bool encoded_value(struct cursor *c, uint8_t encoding, uint64_t *v)
{
	int64_t s;

	switch (encoding & ENCODED_FORMAT) {
	case FORMAT_ABSOLUTE:
	case FORMAT_U64:
	case FORMAT_S64:
		return encoded_fixed(c, 8, v);
	case FORMAT_U16:
		return encoded_fixed(c, 2, v);
	case FORMAT_U32:
		return encoded_fixed(c, 4, v);
	case FORMAT_UNSIGNED:
		return encoded_unsigned(c, v);
	case FORMAT_S16:
		if (!encoded_fixed(c, 2, v))
			return false;
		*v = (uint64_t)(int16_t)*v;
		return true;
	case FORMAT_S32:
		if (!encoded_fixed(c, 4, v))
			return false;
		*v = (uint64_t)(int32_t)*v;
		return true;
	case FORMAT_SIGNED:
		if (!encoded_signed(c, &s))
			return false;
		*v = (uint64_t)s;
		return true;
	default:
		return false;
	}
}

bool encoded_pointer(struct cursor *c, uint8_t encoding, const struct encoded_bases *bases, uint64_t *v)
{
	uint64_t here = bases->vaddr + (uint64_t)(c->p - bases->section), base = 0;
	struct cursor t = *c;

	if (encoding & ENCODED_INDIRECT)
		return false;
	switch (encoding & ENCODED_BASE) {
	case BASE_NONE:
		break;
	case BASE_HERE:
		base = here;
		break;
	case BASE_TEXT:
		base = bases->text;
		break;
	case BASE_DATA:
		base = bases->data;
		break;
	case ENCODED_ALIGNED:
		if (encoding != ENCODED_ALIGNED || -here % 8 > cursor_left(&t))
			return false;
		t.p += -here % 8;
		break;
	default:
		return false;
	}
	if ((encoding & ENCODED_BASE) != BASE_NONE && encoding != ENCODED_ALIGNED && base == 0)
		return false;
	if (!encoded_value(&t, encoding, v))
		return false;
	*v += base;
	*c = t;
	return true;
}
