#include "common/dwarf/line_table.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/le.h"
#include "common/base/search.h"

/* DWARF 5, sections 6.2 and 7.22. */
enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNE_DEFINE_FILE = 3,
	LNCT_PATH = 1,
	LNCT_DIRECTORY = 2,
	FORM_BLOCK2 = 0x03,
	FORM_BLOCK4 = 0x04,
	FORM_DATA2 = 0x05,
	FORM_DATA4 = 0x06,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_BLOCK = 0x09,
	FORM_BLOCK1 = 0x0a,
	FORM_DATA1 = 0x0b,
	FORM_STRP = 0x0e,
	FORM_UDATA = 0x0f,
	FORM_STRP_SUP = 0x1d,
	FORM_DATA16 = 0x1e,
	FORM_LINE_STRP = 0x1f,
	FORM_STRP_ALT = 0x1f21,
};

/* The number of fields in an entry's format is one byte; each field is a pair of numbers. */
enum { FIELDS_MAX = 255 };

struct reader {
	struct line_table *t;
	const struct line_sections *sections;
	const struct code *code;
	struct cursor c;
	bool wide; /* 64-bit DWARF */
	bool failed; /* out of memory */
	unsigned int version, address_size;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *lengths; /* number of operands of each standard opcode, from opcode 1 on */
	struct slice *directories;
	size_t n_directories, cap_directories;
};

struct state {
	uint64_t address;
	uint64_t op_index;
	uint32_t file, line;
	struct line_scratch *out;
	size_t first; /* first row of the current sequence */
	bool begun;
	bool is_code; /* the sequence begins where code can be */
};

uint64_t code_end(const struct code *code, uint64_t address)
{
	size_t low;

	if (code->n == 0)
		return address != 0 && address < UINT64_MAX - 1 ? UINT64_MAX - 1 : 0;
	low = SEARCH_COUNT(code->n, middle, code->items[middle].end <= address);
	return low < code->n && code->items[low].start <= address ? code->items[low].end : 0;
}

static bool read_number(struct cursor *c, size_t n, uint64_t *v)
{
	struct slice s;

	if (!cursor_bytes(c, n, &s))
		return false;
	*v = 0;
	for (size_t i = 0; i < n; i++)
		*v |= (uint64_t)s.p[i] << 8 * i;
	return true;
}

static bool read_byte(struct cursor *c, uint8_t *v)
{
	if (c->p == c->end)
		return false;
	*v = *c->p++;
	return true;
}

static bool read_signed(struct cursor *c, int64_t *v)
{
	uint64_t x = 0;
	const uint8_t *p = c->p;

	for (unsigned int shift = 0; shift < 64 && p < c->end; shift += 7) {
		uint8_t b = *p++;

		x |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if ((b & 0x40) && shift + 7 < 64)
			x |= UINT64_MAX << (shift + 7);
		c->p = p;
		*v = (int64_t)x;
		return true;
	}
	return false;
}

static bool read_text(struct cursor *c, struct slice *s)
{
	const uint8_t *nul = memchr(c->p, '\0', cursor_left(c));

	if (!nul)
		return false;
	*s = (struct slice){ c->p, (size_t)(nul - c->p) };
	c->p = nul + 1;
	return true;
}

bool text_at(const uint8_t *p, const uint8_t *end, struct slice *text)
{
	size_t left = (size_t)(end - p);

	*text = (struct slice){ p, strnlen((const char *)p, left < LINES_TEXT_MAX ? left : LINES_TEXT_MAX) };
	return text->n < left;
}

static bool read_text_at(struct slice section, uint64_t offset, struct slice *s)
{
	return offset < section.n && text_at(section.p + offset, section.p + section.n, s);
}

/* Notes that a limit was reached, which ends the table like damage. */
static bool cut_table(struct reader *r)
{
	r->t->cut = true;
	return false;
}

static bool add_file(struct reader *r, struct slice name, uint64_t directory)
{
	struct line_table *t = r->t;

	if (t->n_files >= LINE_TABLE_FILES_MAX)
		return cut_table(r);
	if (!grow_array(&t->files, &t->cap_files, t->n_files, sizeof(*t->files))) {
		r->failed = true;
		return false;
	}
	t->files[t->n_files] = (struct line_file){ .name = name, .compilers = directory == 0 };
	if (directory < r->n_directories)
		t->files[t->n_files].directory = r->directories[directory];
	t->n_files++;
	return true;
}

static bool add_directory(struct reader *r, struct slice name)
{
	if (r->n_directories >= LINE_TABLE_FILES_MAX)
		return cut_table(r);
	if (!grow_array(&r->directories, &r->cap_directories, r->n_directories, sizeof(*r->directories))) {
		r->failed = true;
		return false;
	}
	r->directories[r->n_directories++] = name;
	return true;
}

/* Reads a file entry before DWARF 5, ignoring its time and size. */
static bool read_old_file(struct reader *r, struct slice name)
{
	uint64_t directory, time, size;

	return cursor_varint(&r->c, &directory) && cursor_varint(&r->c, &time) && cursor_varint(&r->c, &size) &&
	       add_file(r, name, directory);
}

static bool read_old_entries(struct reader *r)
{
	struct slice name;

	if (!add_directory(r, slice_of("")))
		return false;
	for (;;) {
		if (!read_text(&r->c, &name))
			return false;
		if (name.n == 0)
			break;
		if (!add_directory(r, name))
			return false;
	}
	if (!add_file(r, slice_of(""), 0))
		return false;
	for (;;) {
		if (!read_text(&r->c, &name))
			return false;
		if (name.n == 0)
			return true;
		if (!read_old_file(r, name))
			return false;
	}
}

struct field {
	uint64_t content, form;
};

static bool read_block(struct reader *r, size_t length_size)
{
	struct slice dummy;
	uint64_t n;

	return (length_size ? read_number(&r->c, length_size, &n) : cursor_varint(&r->c, &n)) &&
	       n <= cursor_left(&r->c) && cursor_bytes(&r->c, (size_t)n, &dummy);
}

/* Reads one field, as a text or a number. A text outside its section is empty. */
static bool read_field(struct reader *r, uint64_t form, struct slice *text, uint64_t *number)
{
	size_t offset_size = r->wide ? 8 : 4;
	struct slice dummy;

	switch (form) {
	case FORM_STRING:
		return read_text(&r->c, text);
	case FORM_LINE_STRP:
	case FORM_STRP:
		if (!read_number(&r->c, offset_size, number))
			return false;
		if (!read_text_at(form == FORM_STRP ? r->sections->str : r->sections->line_str, *number, text))
			*text = slice_of("");
		return true;
	case FORM_STRP_SUP:
	case FORM_STRP_ALT:
		return read_number(&r->c, offset_size, number);
	case FORM_UDATA:
		return cursor_varint(&r->c, number);
	case FORM_DATA1:
		return read_number(&r->c, 1, number);
	case FORM_DATA2:
		return read_number(&r->c, 2, number);
	case FORM_DATA4:
		return read_number(&r->c, 4, number);
	case FORM_DATA8:
		return read_number(&r->c, 8, number);
	case FORM_DATA16:
		return cursor_bytes(&r->c, 16, &dummy);
	case FORM_BLOCK:
		return read_block(r, 0);
	case FORM_BLOCK1:
		return read_block(r, 1);
	case FORM_BLOCK2:
		return read_block(r, 2);
	case FORM_BLOCK4:
		return read_block(r, 4);
	default:
		return false;
	}
}

/* Reads the directories or the files of DWARF 5. */
static bool read_entries(struct reader *r, bool files)
{
	struct field fields[FIELDS_MAX];
	uint8_t n_fields;
	uint64_t n;

	if (!read_byte(&r->c, &n_fields))
		return false;
	for (unsigned int i = 0; i < n_fields; i++) {
		if (!cursor_varint(&r->c, &fields[i].content) || !cursor_varint(&r->c, &fields[i].form))
			return false;
	}
	if (!cursor_varint(&r->c, &n) || (n_fields == 0 && n != 0))
		return false;
	while (n--) { /* damage ends it: an entry has at least one byte */
		struct slice path = slice_of("");
		uint64_t directory = 0;

		for (unsigned int i = 0; i < n_fields; i++) {
			struct slice text = slice_of("");
			uint64_t number = 0;

			if (!read_field(r, fields[i].form, &text, &number))
				return false;
			if (fields[i].content == LNCT_PATH)
				path = text;
			else if (fields[i].content == LNCT_DIRECTORY)
				directory = number;
		}
		if (files ? !add_file(r, path, directory) : !add_directory(r, path))
			return false;
	}
	return true;
}

/* Reads the header before the line program. Returns false if the program cannot be run. */
static bool read_header(struct reader *r, uint64_t offset)
{
	struct cursor *c = &r->c, program;
	uint64_t length, version, header_length;
	struct slice lengths;
	uint8_t byte;

	if (offset > r->sections->line.n)
		return false;
	*c = cursor_over(r->sections->line.p + offset, r->sections->line.n - (size_t)offset);
	if (!read_number(c, 4, &length))
		return false;
	r->wide = length == UINT32_MAX;
	if (r->wide && !read_number(c, 8, &length))
		return false;
	if (length > cursor_left(c))
		return false;
	c->end = c->p + length;
	if (!read_number(c, 2, &version) || version < 2 || version > 5)
		return false;
	r->version = (unsigned int)version;
	if (version >= 5 && (!read_byte(c, &byte) || !read_byte(c, &byte))) /* address and selector size */
		return false;
	if (!read_number(c, r->wide ? 8 : 4, &header_length) || header_length > cursor_left(c))
		return false;
	program = (struct cursor){ c->p + header_length, c->end };
	r->max_ops = 1;
	if (!read_byte(c, &r->min_length) || (version >= 4 && !read_byte(c, &r->max_ops)) || !read_byte(c, &byte) ||
	    !read_byte(c, (uint8_t *)&r->line_base) || !read_byte(c, &r->line_range) ||
	    !read_byte(c, &r->opcode_base) || r->opcode_base == 0 ||
	    !cursor_bytes(c, r->opcode_base - 1u, &lengths))
		return false;
	r->lengths = lengths.p;
	if (version < 5 ? !read_old_entries(r) : !read_entries(r, false) || !read_entries(r, true))
		return false;
	*c = program;
	return r->line_range != 0;
}

/* Makes room for a row or a sequence, within the limit. */
static bool extend_table(struct reader *r, void *array_ptr, size_t *cap, size_t n, size_t size)
{
	if (n < *cap)
		return true;
	if (*cap >= LINE_TABLE_BYTES_MAX / size)
		return cut_table(r);
	r->failed = !grow_array(array_ptr, cap, n, size);
	return !r->failed;
}

static bool add_row(struct reader *r, struct state *s)
{
	if (!s->begun)
		s->is_code = code_end(r->code, s->address) != 0;
	s->begun = true;
	if (!s->is_code)
		return true;
	if (s->out->n == s->out->cap &&
	    !extend_table(r, &s->out->rows, &s->out->cap, s->out->n, sizeof(*s->out->rows)))
		return false;
	s->out->rows[s->out->n++] = (struct line_row){ s->address, s->file, s->line };
	return true;
}

static void begin_sequence(struct state *s)
{
	s->address = 0;
	s->op_index = 0;
	s->file = s->line = 1;
	s->first = s->out->n;
	s->begun = false;
}

/* Ends the sequence. A sequence of discarded code has no rows and is not added. */
static bool end_sequence(struct reader *r, struct state *s)
{
	struct line_scratch *out = s->out;

	if (out->n > s->first) {
		if (!extend_table(r, &out->sequences, &out->cap_sequences, out->n_sequences,
				  sizeof(*out->sequences)))
			return false;
		out->sequences[out->n_sequences++] = (struct line_sequence){ out->rows[s->first].start, s->address,
									      s->first, out->n - s->first };
	}
	begin_sequence(s);
	return true;
}

static void advance_address(const struct reader *r, struct state *s, uint64_t ops)
{
	if (r->max_ops > 1) {
		uint64_t at = s->op_index + ops;

		s->address += r->min_length * (at / r->max_ops);
		s->op_index = at % r->max_ops;
	} else {
		s->address += r->min_length * ops;
	}
}

static bool run_extended(struct reader *r, struct state *s)
{
	struct slice bytes, name;
	struct cursor outer = r->c;
	uint64_t n;
	uint8_t opcode = 0;
	bool good = true;

	if (!cursor_varint(&outer, &n) || n == 0 || n > cursor_left(&outer) || !cursor_bytes(&outer, (size_t)n, &bytes))
		return false;
	r->c = cursor_over(bytes.p, bytes.n);
	read_byte(&r->c, &opcode);
	switch (opcode) {
	case LNE_END_SEQUENCE:
		good = end_sequence(r, s);
		break;
	case LNE_SET_ADDRESS:
		good = n - 1 <= 8 && read_number(&r->c, (size_t)n - 1, &s->address);
		s->op_index = 0;
		break;
	case LNE_DEFINE_FILE:
		good = read_text(&r->c, &name) && read_old_file(r, name);
		break;
	}
	r->c = outer;
	return good;
}

static bool run_standard(struct reader *r, struct state *s, uint8_t opcode)
{
	uint64_t number;
	int64_t difference;

	switch (opcode) {
	case LNS_COPY:
		return add_row(r, s);
	case LNS_ADVANCE_PC:
		if (!cursor_varint(&r->c, &number))
			return false;
		advance_address(r, s, number);
		return true;
	case LNS_ADVANCE_LINE:
		if (!read_signed(&r->c, &difference))
			return false;
		s->line += (uint32_t)difference;
		return true;
	case LNS_SET_FILE:
		if (!cursor_varint(&r->c, &number))
			return false;
		s->file = number < ROW_GAP ? (uint32_t)number : ROW_GAP - 1;
		return true;
	case LNS_CONST_ADD_PC:
		advance_address(r, s, (255u - r->opcode_base) / r->line_range);
		return true;
	case LNS_FIXED_ADVANCE_PC:
		if (!read_number(&r->c, 2, &number))
			return false;
		s->address += number;
		s->op_index = 0;
		return true;
	default: /* irrelevant or unknown: skip the operands */
		for (unsigned int i = 0; i < r->lengths[opcode - 1]; i++) {
			if (!cursor_varint(&r->c, &number))
				return false;
		}
		return true;
	}
}

static bool run_step(struct reader *r, struct state *s)
{
	uint8_t opcode = *r->c.p++;

	if (opcode >= r->opcode_base) {
		unsigned int special = opcode - r->opcode_base;

		advance_address(r, s, special / r->line_range);
		s->line += (uint32_t)(r->line_base + (int)(special % r->line_range));
		return add_row(r, s);
	}
	return opcode ? run_standard(r, s, opcode) : run_extended(r, s);
}

static int sequence_compare(const void *a, const void *b)
{
	const struct line_sequence *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Adds a row. Merges successive rows of one file and line; the later of two with the same start stays. */
static void put_row(struct line_table *t, uint64_t start, uint32_t file, uint32_t line)
{
	struct line_row *last = t->n_rows ? &t->rows[t->n_rows - 1] : NULL;

	if (last && last->start == start) {
		t->n_rows--;
		last = t->n_rows ? last - 1 : NULL;
	}
	if (!last || last->file != file || last->line != line)
		t->rows[t->n_rows++] = (struct line_row){ start, file, line };
}

/* Adds the sequences in the order of addresses. If two overlap, the one that begins first counts. */
static bool put_sequences(struct line_table *t, struct line_scratch *s)
{
	uint64_t reached = 0;

	if (s->n_sequences == 0)
		return true;
	qsort(s->sequences, s->n_sequences, sizeof(*s->sequences), sequence_compare);
	t->rows = malloc((s->n + s->n_sequences) * sizeof(*t->rows)); /* rows, and a gap a sequence */
	if (!t->rows)
		return false;
	for (size_t i = 0; i < s->n_sequences; i++) {
		const struct line_sequence *q = &s->sequences[i];

		for (size_t k = 0; k < q->n; k++) {
			const struct line_row *row = &s->rows[q->first + k];
			uint64_t start = row->start > reached ? row->start : reached;
			uint64_t end = k + 1 < q->n ? row[1].start : q->end;

			if (end <= start)
				continue;
			put_row(t, start, row->file, row->line);
			reached = end;
		}
		if (t->n_rows && t->rows[t->n_rows - 1].file != ROW_GAP)
			put_row(t, reached, ROW_GAP, 0);
	}
	return true;
}

bool line_table_read(struct line_table *t, const struct line_sections *sections, uint64_t offset,
		     const struct code *code, struct line_scratch *scratch)
{
	struct reader r = { .t = t, .sections = sections, .code = code };
	struct state s = { .out = scratch };
	bool good = read_header(&r, offset);

	scratch->n = scratch->n_sequences = 0;
	begin_sequence(&s);
	while (good && code && r.c.p < r.c.end)
		good = run_step(&r, &s);
	if (!r.failed && !put_sequences(t, scratch))
		r.failed = true;
	if (r.c.p)
		t->work = (uint64_t)(r.c.p - (sections->line.p + offset));
	free(r.directories);
	return !r.failed;
}

void line_scratch_release(struct line_scratch *s)
{
	free(s->rows);
	free(s->sequences);
	*s = (struct line_scratch){ 0 };
}

size_t line_scratch_bytes(const struct line_scratch *s)
{
	return s->cap * sizeof(*s->rows) + s->cap_sequences * sizeof(*s->sequences);
}

void line_table_release(struct line_table *t)
{
	free(t->files);
	free(t->rows);
	*t = (struct line_table){ 0 };
}
