#include "common/import/pprof_parse.h"

#include <stdlib.h>

#include "common/base/array.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_TEXT = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT = 14,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LOCATION_LINE = 4,
};

struct field {
	uint64_t number, value; /* value: of a varint */
	enum wire wire;
	struct slice bytes;
};

/*
 * Reads the next field of a message. Returns false at its end; the cursor is then there, unless the rest of
 * the message cannot be read.
 */
static bool field_next(struct cursor *c, struct field *f)
{
	struct cursor t = *c;
	uint64_t key;

	*f = (struct field){ 0 };
	if (!cursor_varint(&t, &key))
		return false;
	f->number = key >> 3;
	f->wire = (enum wire)(key & 7);
	if (f->wire == WIRE_VARINT  ? !cursor_varint(&t, &f->value)
	    : f->wire == WIRE_BYTES ? !cursor_slice(&t, &f->bytes)
	    : f->wire == WIRE_64    ? !cursor_bytes(&t, 8, &f->bytes)
				    : f->wire != WIRE_32 || !cursor_bytes(&t, 4, &f->bytes))
		return false;
	*c = t;
	return true;
}

static struct cursor over(struct slice bytes)
{
	return cursor_over(bytes.p, bytes.n);
}

/* Reads the numbers of a message into to, by the number of their field, from 1 to n. */
static void read_numbers(struct pprof_tables *t, struct slice message, uint64_t *to, size_t n)
{
	struct cursor c = over(message);
	struct field f;

	while (field_next(&c, &f)) {
		if (f.wire == WIRE_VARINT && f.number >= 1 && f.number <= n)
			to[f.number - 1] = f.value;
	}
	t->bad += c.p != c.end;
}

/* Returns whether a table with n entries takes another one, and counts the entry otherwise. */
static bool has_room(struct pprof_tables *t, size_t n)
{
	if (n < PPROF_ENTRIES_MAX)
		return true;
	t->left_out++;
	return false;
}

static bool add_type(struct pprof_tables *t, struct slice message)
{
	uint64_t v[2] = { 0 };

	if (!has_room(t, t->n_types))
		return true;
	read_numbers(t, message, v, 2);
	if (!grow_array(&t->types, &t->cap_types, t->n_types, sizeof(*t->types)))
		return false;
	t->types[t->n_types++] = (struct pprof_type){ v[0], v[1] };
	return true;
}

static bool add_mapping(struct pprof_tables *t, struct slice message)
{
	uint64_t v[6] = { 0 };

	if (!has_room(t, t->n_mappings))
		return true;
	read_numbers(t, message, v, 6);
	if (!grow_array(&t->mappings, &t->cap_mappings, t->n_mappings, sizeof(*t->mappings)) ||
	    !idmap_set(&t->by_mapping, v[0], (uint32_t)t->n_mappings))
		return false;
	t->mappings[t->n_mappings++] = (struct pprof_mapping){ v[0], v[1], v[2], v[3], v[4], v[5] };
	return true;
}

static bool add_location(struct pprof_tables *t, struct slice message)
{
	uint64_t v[3] = { 0 };

	if (!has_room(t, t->n_locations))
		return true;
	read_numbers(t, message, v, 3);
	if (!grow_array(&t->locations, &t->cap_locations, t->n_locations, sizeof(*t->locations)) ||
	    !idmap_set(&t->by_location, v[0], (uint32_t)t->n_locations))
		return false;
	t->locations[t->n_locations++] = (struct pprof_location){ v[0], v[1], v[2], message };
	return true;
}

static bool add_function(struct pprof_tables *t, struct slice message)
{
	uint64_t v[4] = { 0 };

	if (!has_room(t, t->n_functions))
		return true;
	read_numbers(t, message, v, 4);
	if (!grow_array(&t->functions, &t->cap_functions, t->n_functions, sizeof(*t->functions)) ||
	    !idmap_set(&t->by_function, v[0], (uint32_t)t->n_functions))
		return false;
	t->functions[t->n_functions++] = (struct pprof_function){ v[0], v[1], v[2], v[3] };
	return true;
}

static bool add_text(struct pprof_tables *t, struct slice text)
{
	if (!has_room(t, t->n_texts))
		return true;
	if (!grow_array(&t->texts, &t->cap_texts, t->n_texts, sizeof(*t->texts)))
		return false;
	t->texts[t->n_texts++] = text;
	return true;
}

/* Returns whether a field of a sample, which may be a packed list of numbers, can be read to its end. */
static bool reads_whole(const struct field *f)
{
	struct cursor c;
	uint64_t v;

	if (f->wire != WIRE_BYTES || (f->number != SAMPLE_LOCATION && f->number != SAMPLE_VALUE))
		return true;
	c = over(f->bytes);
	while (cursor_varint(&c, &v))
		;
	return c.p == c.end;
}

static void check_sample(struct pprof_tables *t, struct slice message)
{
	struct cursor c = over(message);
	bool whole = true;
	struct field f;

	while (field_next(&c, &f))
		whole = reads_whole(&f) && whole;
	t->bad += !whole || c.p != c.end;
}

static void take_number(struct pprof_tables *t, const struct field *f)
{
	switch (f->number) {
	case PROFILE_TIME:
		t->time_ns = f->value;
		break;
	case PROFILE_DURATION:
		t->duration_ns = f->value;
		break;
	case PROFILE_PERIOD:
		t->period = f->value;
		break;
	case PROFILE_DEFAULT:
		t->default_type = f->value;
		break;
	}
}

static bool take_message(struct pprof_tables *t, const struct field *f)
{
	uint64_t v[2] = { 0 };

	switch (f->number) {
	case PROFILE_TYPE:
		return add_type(t, f->bytes);
	case PROFILE_SAMPLE:
		t->samples++;
		check_sample(t, f->bytes);
		return true;
	case PROFILE_MAPPING:
		return add_mapping(t, f->bytes);
	case PROFILE_LOCATION:
		return add_location(t, f->bytes);
	case PROFILE_FUNCTION:
		return add_function(t, f->bytes);
	case PROFILE_TEXT:
		return add_text(t, f->bytes);
	case PROFILE_PERIOD_TYPE:
		read_numbers(t, f->bytes, v, 2);
		t->period_type = (struct pprof_type){ v[0], v[1] };
		return true;
	}
	return true;
}

bool pprof_parse(struct pprof_tables *t, struct slice bytes)
{
	struct cursor c = over(bytes);
	struct field f;

	*t = (struct pprof_tables){ .bytes = bytes };
	idmap_init(&t->by_mapping);
	idmap_init(&t->by_location);
	idmap_init(&t->by_function);
	while (field_next(&c, &f)) {
		if (f.wire == WIRE_VARINT)
			take_number(t, &f);
		else if (f.wire == WIRE_BYTES && !take_message(t, &f))
			return false;
	}
	t->bad += c.p != c.end;
	return true;
}

void pprof_tables_release(struct pprof_tables *t)
{
	idmap_release(&t->by_mapping);
	idmap_release(&t->by_location);
	idmap_release(&t->by_function);
	free(t->texts);
	free(t->types);
	free(t->mappings);
	free(t->locations);
	free(t->functions);
	*t = (struct pprof_tables){ 0 };
}

/* A profile begins with a sample type or, if a program wrote it in another order, with another table. */
bool pprof_looks_like(struct slice bytes)
{
	struct cursor c = over(bytes), in;
	struct field f, inner;

	if (!field_next(&c, &f) || f.wire != WIRE_BYTES || f.number < PROFILE_TYPE ||
	    f.number > PROFILE_FUNCTION)
		return false;
	in = over(f.bytes);
	while (field_next(&in, &inner)) {
		if (inner.number == 0 || inner.number > 10)
			return false;
	}
	return f.bytes.n && in.p == in.end;
}

struct slice pprof_text(const struct pprof_tables *t, uint64_t text)
{
	return text < t->n_texts ? t->texts[text] : slice_of("");
}

const struct pprof_mapping *pprof_find_mapping(const struct pprof_tables *t, uint64_t id)
{
	uint32_t i;

	return id && idmap_find(&t->by_mapping, id, &i) ? &t->mappings[i] : NULL;
}

const struct pprof_location *pprof_find_location(const struct pprof_tables *t, uint64_t id)
{
	uint32_t i;

	return id && idmap_find(&t->by_location, id, &i) ? &t->locations[i] : NULL;
}

const struct pprof_function *pprof_find_function(const struct pprof_tables *t, uint64_t id)
{
	uint32_t i;

	return id && idmap_find(&t->by_function, id, &i) ? &t->functions[i] : NULL;
}

struct cursor pprof_samples(const struct pprof_tables *t)
{
	return over(t->bytes);
}

bool pprof_sample_next(struct cursor *at, struct pprof_sample *s)
{
	struct field f;

	while (field_next(at, &f)) {
		if (f.wire != WIRE_BYTES || f.number != PROFILE_SAMPLE)
			continue;
		s->labels = over(f.bytes);
		s->locations = s->values = (struct pprof_numbers){ s->labels, cursor_over(NULL, 0) };
		return true;
	}
	return false;
}

/* Reads the next number of a repeated field, which is packed or not. */
static bool number_next(struct pprof_numbers *n, uint64_t number, uint64_t *value)
{
	struct field f;

	for (;;) {
		if (cursor_varint(&n->packed, value))
			return true;
		if (!field_next(&n->fields, &f))
			return false;
		if (f.number != number)
			continue;
		if (f.wire == WIRE_VARINT) {
			*value = f.value;
			return true;
		}
		if (f.wire == WIRE_BYTES)
			n->packed = over(f.bytes);
	}
}

bool pprof_location_next(struct pprof_sample *s, uint64_t *id)
{
	return number_next(&s->locations, SAMPLE_LOCATION, id);
}

bool pprof_value_next(struct pprof_sample *s, int64_t *value)
{
	uint64_t v;

	if (!number_next(&s->values, SAMPLE_VALUE, &v))
		return false;
	*value = (int64_t)v;
	return true;
}

bool pprof_label_next(struct pprof_sample *s, struct pprof_label *label)
{
	struct pprof_tables none = { 0 };
	struct field f;

	while (field_next(&s->labels, &f)) {
		uint64_t v[3] = { 0 };

		if (f.wire != WIRE_BYTES || f.number != SAMPLE_LABEL)
			continue;
		read_numbers(&none, f.bytes, v, 3);
		*label = (struct pprof_label){ v[0], v[1], v[2] };
		return true;
	}
	return false;
}

bool pprof_line_next(struct cursor *at, struct pprof_line *line)
{
	struct pprof_tables none = { 0 };
	struct field f;

	while (field_next(at, &f)) {
		uint64_t v[2] = { 0 };

		if (f.wire != WIRE_BYTES || f.number != LOCATION_LINE)
			continue;
		read_numbers(&none, f.bytes, v, 2);
		*line = (struct pprof_line){ v[0], v[1] };
		return true;
	}
	return false;
}
