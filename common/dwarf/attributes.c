#ifdef HAVE_LIBDW
#include <dwarf.h>

#include "common/dwarf/unit.h"

struct reading {
	struct attributes *a;
	unsigned int n;
};

static int keep_attribute(Dwarf_Attribute *attribute, void *arg)
{
	enum wanted wanted = wanted_of(attribute->code);
	struct reading *r = arg;

	if (wanted < WANTED) {
		r->a->of[wanted] = *attribute;
		r->a->has[wanted] = true;
	}
	return r->n++ < ATTRIBUTES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* libdw delivers an attribute before it checks that it is inside its unit, so all count or none. */
bool attributes_read(Dwarf_Die *die, struct attributes *a)
{
	struct reading r = { .a = a };

	memset(a->has, 0, sizeof(a->has));
	return dwarf_getattrs(die, keep_attribute, &r, 0) == 1;
}

static bool is_address(unsigned int form)
{
	return form == DW_FORM_addr || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4) || form == DW_FORM_addrx ||
	       form == DW_FORM_GNU_addr_index;
}

/*
 * Checks the offset of a list that is an index into a table of 64-bit offsets, because libdw trusts it and
 * crashes if it is beyond all memory. (A 32-bit offset is off by at most 4 GB, which libdw detects.)
 */
static bool list_is_there(const struct lines *l, const struct attributes *a)
{
	Dwarf_Attribute ranges = a->of[WANT_RANGES], base;
	struct attributes unit;
	struct cursor c = cursor_over(l->rnglists.p, l->rnglists.n), index;
	uint8_t offset_size = 0;
	Dwarf_Word start = 20; /* after a header of 64-bit DWARF */
	Dwarf_Die die;
	uint64_t i, list = 0;

	if (ranges.form != DW_FORM_rnglistx)
		return true;
	if (dwarf_cu_info(ranges.cu, NULL, NULL, &die, NULL, NULL, NULL, &offset_size) != 0)
		return false;
	if (offset_size == 4)
		return true;
	index = cursor_over(ranges.valp, 10);
	if (dwarf_cu_getdwarf(ranges.cu) != l->dwarf || !cursor_varint(&index, &i) || !attributes_read(&die, &unit))
		return false;
	base = unit.of[WANT_RNGLISTS_BASE];
	if (unit.has[WANT_RNGLISTS_BASE] && dwarf_formudata(&base, &start) != 0)
		return false;
	if (start > l->rnglists.n || i >= (l->rnglists.n - start) / 8)
		return false;
	c.p += start + i * 8;
	for (unsigned int k = 0; k < 8; k++)
		list |= (uint64_t)c.p[k] << 8 * k;
	return list < l->rnglists.n - start;
}

/* Reads the single range given by DW_AT_low_pc and DW_AT_high_pc. */
static bool only_range(const struct attributes *a, struct code_range *range)
{
	Dwarf_Attribute low = a->of[WANT_LOW_PC], high = a->of[WANT_HIGH_PC];
	Dwarf_Word length;

	if (dwarf_formaddr(&low, &range->start) != 0)
		return false;
	if (is_address(high.form))
		return dwarf_formaddr(&high, &range->end) == 0;
	if (dwarf_formudata(&high, &length) != 0)
		return false;
	range->end = range->start + length;
	return true;
}

uint64_t unit_base(const struct attributes *a)
{
	static const enum wanted says[] = { WANT_LOW_PC, WANT_ENTRY_PC };
	Dwarf_Addr base;

	for (unsigned int i = 0; i < 2; i++) {
		Dwarf_Attribute of = a->of[says[i]];

		if (a->has[says[i]] && dwarf_formaddr(&of, &base) == 0)
			return base;
	}
	return 0;
}

/*
 * Returns the offset of the list, which is all that libdw needs if it also gets the base; 0 if libdw has to
 * find it. (libdw gives the offsets 0 and 1 other meanings.)
 */
static ptrdiff_t list_offset(const struct attributes *a)
{
	Dwarf_Attribute ranges = a->of[WANT_RANGES];
	Dwarf_Word offset;

	return ranges.form == DW_FORM_sec_offset && dwarf_formudata(&ranges, &offset) == 0 && offset > 1 &&
		       offset <= PTRDIFF_MAX ? (ptrdiff_t)offset : 0;
}

bool range_next(const struct lines *l, Dwarf_Die *die, const struct attributes *a, struct range_walk *walk,
		struct code_range *range)
{
	uint64_t most;

	if (walk->offset == 1)
		return false;
	if (walk->offset == 0 && a->has[WANT_LOW_PC] && a->has[WANT_HIGH_PC]) {
		walk->offset = 1;
		if (!only_range(a, range))
			return false;
	} else {
		if (walk->offset == 0 && (!a->has[WANT_RANGES] || !list_is_there(l, a)))
			return false;
		if (walk->offset == 0 && walk->based)
			walk->offset = list_offset(a);
		walk->offset = dwarf_ranges(die, walk->offset, &walk->base, &range->start, &range->end);
		if (walk->offset <= 0)
			return false;
	}
	most = code_end(&l->code, range->start);
	if (range->end > most)
		range->end = most;
	if (range->end < range->start)
		range->end = range->start;
	return true;
}
#endif
