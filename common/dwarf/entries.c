#ifdef HAVE_LIBDW
#include "common/dwarf/entries.h"

#include <dwarf.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/le.h"

enum {
	SIZE_VARIES = 255,
	SIZE_UNKNOWN = 254,
	ABBREVIATIONS_MAX = 1 << 20, /* per unit; compilers use some hundreds */
	STOPS_MAX = 1 << 22,
};

enum wanted wanted_of(uint64_t code)
{
	switch (code) {
	case DW_AT_name:
		return WANT_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return WANT_LINKAGE_NAME;
	case DW_AT_low_pc:
		return WANT_LOW_PC;
	case DW_AT_high_pc:
		return WANT_HIGH_PC;
	case DW_AT_entry_pc:
		return WANT_ENTRY_PC;
	case DW_AT_ranges:
		return WANT_RANGES;
	case DW_AT_abstract_origin:
		return WANT_ORIGIN;
	case DW_AT_specification:
		return WANT_SPECIFICATION;
	case DW_AT_call_file:
		return WANT_CALL_FILE;
	case DW_AT_call_line:
		return WANT_CALL_LINE;
	case DW_AT_stmt_list:
		return WANT_STMT_LIST;
	case DW_AT_comp_dir:
		return WANT_COMP_DIR;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return WANT_DWO_NAME;
	case DW_AT_rnglists_base:
		return WANT_RNGLISTS_BASE;
	case DW_AT_language:
		return WANT_LANGUAGE;
	case DW_AT_sibling:
		return WANT_SIBLING;
	default:
		return WANT_NONE;
	}
}

/* Returns true for entries whose attributes are used. All others are only skipped. */
static bool is_asked(uint64_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point ||
	       tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit || tag == DW_TAG_skeleton_unit;
}

/* Returns the size of a form's value (DWARF 5, section 7.5.6, and older GNU extensions). */
static uint8_t size_of(const struct entries *es, uint64_t form)
{
	switch (form) {
	case 0: /* no form, and no value */
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_flag:
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_addrx1:
	case DW_FORM_strx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_addrx2:
	case DW_FORM_strx2:
		return 2;
	case DW_FORM_addrx3:
	case DW_FORM_strx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_addrx4:
	case DW_FORM_strx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sup8:
	case DW_FORM_ref_sig8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return es->address_size;
	case DW_FORM_ref_addr:
		return es->version == 2 ? es->address_size : es->offset_size;
	case DW_FORM_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return es->offset_size;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_block:
	case DW_FORM_exprloc:
	case DW_FORM_string:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_strx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
	case DW_FORM_indirect:
		return SIZE_VARIES;
	default:
		return SIZE_UNKNOWN;
	}
}

static bool pass_number(struct cursor *c)
{
	while (c->p < c->end) {
		if (!(*c->p++ & 0x80))
			return true;
	}
	return false;
}

static bool pass_block(struct cursor *c, size_t length_size)
{
	uint64_t n = 0;

	if (length_size == 0) {
		if (!cursor_varint(c, &n))
			return false;
	} else {
		if (cursor_left(c) < length_size)
			return false;
		for (size_t i = 0; i < length_size; i++)
			n |= (uint64_t)*c->p++ << 8 * i;
	}
	if (n > cursor_left(c))
		return false;
	c->p += n;
	return true;
}

static bool pass_text(struct cursor *c)
{
	const uint8_t *nul = memchr(c->p, '\0', cursor_left(c));

	if (nul)
		c->p = nul + 1;
	return nul;
}

/* Skips a value that contains its own size. */
static bool pass_value(struct cursor *c, uint32_t form)
{
	switch (form) {
	case DW_FORM_block1:
		return pass_block(c, 1);
	case DW_FORM_block2:
		return pass_block(c, 2);
	case DW_FORM_block4:
		return pass_block(c, 4);
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return pass_block(c, 0);
	case DW_FORM_string:
		return pass_text(c);
	default:
		return pass_number(c);
	}
}

/* Adds an attribute to an abbreviation. Returns false for an unknown form, at a limit, or without memory. */
static bool add_attribute(struct entries *es, struct abbreviation *a, uint64_t code, uint64_t form, const uint8_t *p)
{
	uint8_t size = size_of(es, form);
	enum wanted wanted = wanted_of(code);

	if (size == SIZE_UNKNOWN || a->tail > UINT32_MAX - SIZE_VARIES || a->n >= ATTRIBUTES_MAX ||
	    es->n_stops >= STOPS_MAX)
		return false;
	if (wanted != WANT_SIBLING && !is_asked(a->tag))
		wanted = WANT_NONE;
	if (size != SIZE_VARIES && wanted == WANT_NONE) {
		a->tail += size;
		return true;
	}
	if (!extend_array(&es->stops, &es->cap_stops, es->n_stops, sizeof(*es->stops))) {
		es->failed = true;
		return false;
	}
	es->stops[es->n_stops++] = (struct stop){
		.gap = a->tail,
		.constant = (uint32_t)(p - es->section.p), /* ELF_PART_MAX limits sections */
		.code = wanted == WANT_NONE ? 0 : (uint16_t)code,
		.form = (uint16_t)form,
		.size = size,
		.wanted = (uint8_t)wanted,
	};
	a->n++;
	a->tail = 0;
	return true;
}

/* Returns false if the abbreviation is damaged before its end. */
static bool read_attributes(struct entries *es, struct cursor *c, struct abbreviation *a)
{
	uint64_t code, form;

	while (cursor_varint(c, &code) && cursor_varint(c, &form)) {
		if (code == 0 && form == 0)
			return true;
		if (!add_attribute(es, a, code, form, c->p) || (form == DW_FORM_implicit_const && !pass_number(c)))
			return false;
	}
	return false;
}

static bool decode_abbreviation(struct entries *es, struct cursor *c, struct abbreviation *a)
{
	uint64_t tag;

	if (!cursor_varint(c, &a->code) || a->code == 0 || !cursor_varint(c, &tag) || c->p == c->end ||
	    es->n >= ABBREVIATIONS_MAX)
		return false;
	a->tag = tag <= UINT32_MAX ? (uint32_t)tag : 0;
	a->children = *c->p++ == DW_CHILDREN_yes;
	return read_attributes(es, c, a);
}

/* Decodes the next abbreviation. Returns false if there is none, or if it is damaged, which ends the list. */
static bool read_abbreviation(struct entries *es)
{
	struct cursor c = { es->p, es->section.p + es->section.n };
	struct abbreviation a = { .first = (uint32_t)es->n_stops };
	bool good = decode_abbreviation(es, &c, &a);
	uint32_t known;

	es->decoded += (uint64_t)(c.p - es->p);
	es->p = good ? c.p : NULL;
	if (!good)
		return false;
	if (!extend_array(&es->abbreviations, &es->cap, es->n, sizeof(*es->abbreviations)) ||
	    (a.code != es->n + 1 && !idmap_find(&es->others, a.code, &known) &&
	     !idmap_set(&es->others, a.code, (uint32_t)es->n))) {
		es->failed = true;
		return false;
	}
	es->abbreviations[es->n++] = a;
	return true;
}

/* Finds an abbreviation. Copies it, because the array moves when it grows. */
static bool find_abbreviation(struct entries *es, uint64_t code, struct abbreviation *is)
{
	uint32_t index;

	do {
		if (code <= es->n && es->abbreviations[code - 1].code == code) {
			*is = es->abbreviations[code - 1];
			return true;
		}
		if (es->others.n && idmap_find(&es->others, code, &index)) {
			*is = es->abbreviations[index];
			return true;
		}
	} while (es->p && read_abbreviation(es));
	return false;
}

bool entries_use(struct entries *es, struct slice section, uint64_t offset, const Dwarf_Die *die, const uint8_t *end)
{
	Dwarf_Die unit = *die;
	uint8_t address_size, offset_size;
	Dwarf_Half version;

	if (dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, &address_size, &offset_size) != 0)
		return false;
	es->cu = die->cu;
	es->start = (const uint8_t *)die->addr - dwarf_cuoffset(&unit);
	es->end = end;
	if (es->section.p == section.p && es->offset == offset && es->version == version &&
	    es->address_size == address_size && es->offset_size == offset_size)
		return true;
	es->section = section;
	es->offset = offset;
	es->version = version;
	es->address_size = address_size;
	es->offset_size = offset_size;
	es->p = offset < section.n ? section.p + offset : NULL;
	es->n = es->n_stops = 0;
	if (es->others.n)
		idmap_clear(&es->others);
	return true;
}

bool entries_begin(struct entries *es, const uint8_t *p, struct entry *e)
{
	struct cursor c = { p, es->end };
	uint64_t code;

	if (p >= es->end || !cursor_varint(&c, &code))
		return false;
	e->p = p;
	e->values = e->next = c.p;
	e->ends_level = code == 0;
	return e->ends_level || find_abbreviation(es, code, &e->is);
}

/* Resolves a reference relative to the unit's start. Returns NULL unless it leads forward. */
static const uint8_t *sibling_of(const struct entries *es, const uint8_t *entry, const uint8_t *value, uint32_t form)
{
	struct cursor c = { value, es->end };
	uint64_t offset;

	if (form == DW_FORM_ref4)
		offset = le32_load(value);
	else if (form == DW_FORM_ref2)
		offset = le16_load(value);
	else if (form == DW_FORM_ref1)
		offset = *value;
	else if (form == DW_FORM_ref8)
		offset = le64_load(value);
	else if (form != DW_FORM_ref_udata || !cursor_varint(&c, &offset))
		return NULL;
	return offset < (uint64_t)(es->end - es->start) && es->start + offset > entry ? es->start + offset : NULL;
}

/* Reads a form stored with the value (DW_FORM_indirect). It must not be indirect again or implicit_const. */
static bool pass_form(struct cursor *c, uint32_t *form)
{
	uint64_t v;

	if (!cursor_varint(c, &v) || v > UINT16_MAX || v == DW_FORM_indirect || v == DW_FORM_implicit_const)
		return false;
	*form = (uint32_t)v;
	return true;
}

/* Returns the value of an attribute and moves c after it. Returns NULL if it is not inside the unit. */
static const uint8_t *pass_stop(const struct entries *es, const struct stop *s, struct cursor *c, uint32_t *form)
{
	uint8_t size = s->size;
	const uint8_t *value;

	*form = s->form;
	if (s->gap > cursor_left(c))
		return NULL;
	c->p += s->gap;
	if (s->form == DW_FORM_indirect) {
		if (!pass_form(c, form))
			return NULL;
		size = size_of(es, *form);
	}
	value = c->p;
	if (size == SIZE_VARIES)
		return pass_value(c, *form) ? value : NULL;
	if (size == SIZE_UNKNOWN || size > cursor_left(c))
		return NULL;
	c->p += size;
	return value;
}

bool entries_pass(const struct entries *es, struct entry *e, struct attributes *a)
{
	struct cursor c = { e->values, es->end };

	e->sibling = NULL;
	if (a)
		memset(a->has, 0, sizeof(a->has));
	for (uint32_t i = 0; i < e->is.n; i++) {
		const struct stop *s = &es->stops[e->is.first + i];
		uint32_t form;
		const uint8_t *value = pass_stop(es, s, &c, &form);

		if (!value)
			return false;
		if (s->wanted == WANT_SIBLING)
			e->sibling = sibling_of(es, e->p, value, form);
		if (!a || s->wanted >= WANTED)
			continue;
		if (form == DW_FORM_implicit_const)
			value = es->section.p + s->constant;
		a->has[s->wanted] = true;
		a->of[s->wanted] = (Dwarf_Attribute){ s->code, form, (uint8_t *)(uintptr_t)value, es->cu };
	}
	if (e->is.tail > cursor_left(&c))
		return false;
	e->next = c.p + e->is.tail;
	return true;
}

size_t entries_bytes(const struct entries *es)
{
	return es->cap * sizeof(*es->abbreviations) + es->cap_stops * sizeof(*es->stops) +
	       (es->others.keys ? (es->others.mask + 1) * (sizeof(uint64_t) + sizeof(uint32_t)) : 0);
}

void entries_release(struct entries *es)
{
	free(es->abbreviations);
	free(es->stops);
	idmap_release(&es->others);
	*es = (struct entries){ 0 };
}
#endif
