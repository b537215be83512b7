#include "common/unwind/cfi.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/search.h"
#include "common/unwind/cfa.h"

/* A CIE: the common part of functions. */
struct cie {
	size_t at; /* offset in the section */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* encoding of addresses in its FDEs */
	bool usable;
	bool sized;       /* FDEs have augmentation data, preceded by their size */
	bool signal;
	struct cfa_state initial;
};

struct cies {
	struct cie *items; /* by at */
	size_t n, cap;
	size_t last; /* the last one found: most FDEs follow their CIE */
};

/* A CIE or an FDE. */
struct entry {
	size_t at;
	bool is_cie;
	bool wide;        /* the 64-bit format */
	uint64_t cie;     /* FDE: offset of its CIE */
	struct cursor in; /* the rest of the entry */
};

enum more { MORE, NO_MORE, DAMAGED };

/* Reads the next entry and moves c past it. */
static enum more next_entry(const struct cfi *cfi, struct cursor *c, struct entry *e)
{
	const uint8_t *section = cfi->section.bytes.p, *id_at;
	bool eh = cfi->source == SPAN_EH_FRAME;
	uint64_t n, id;

	do {
		e->at = (size_t)(c->p - section);
		if (cursor_left(c) == 0)
			return NO_MORE;
		if (!encoded_fixed(c, 4, &n))
			return DAMAGED;
		if (n == 0 && cfi->section.no_end)
			return NO_MORE;
	} while (n == 0); /* a terminator that the linker left between two files' parts */
	e->wide = n == UINT32_MAX;
	if (e->wide && !encoded_fixed(c, 8, &n))
		return DAMAGED;
	if (n > cursor_left(c))
		return DAMAGED;
	e->in = cursor_over(c->p, (size_t)n);
	id_at = c->p;
	c->p += n;
	/* In .eh_frame the field has four bytes in both formats, and is a distance back. */
	if (!encoded_fixed(&e->in, e->wide && !eh ? 8 : 4, &id))
		return DAMAGED;
	e->is_cie = id == (eh ? 0 : e->wide ? UINT64_MAX : UINT32_MAX);
	e->cie = eh ? (uint64_t)(id_at - section) - id : id;
	return MORE;
}

/* Skips the personality routine's address, which is not needed here; it may be indirect or omitted. */
static bool skip_personality(const struct cfi *cfi, struct cursor *c)
{
	uint8_t encoding;
	uint64_t skipped;

	if (!encoded_u8(c, &encoding))
		return false;
	if (encoding == ENCODED_OMITTED)
		return true;
	if (encoding == ENCODED_ALIGNED)
		return encoded_pointer(c, encoding, &cfi->bases, &skipped);
	return encoded_value(c, encoding, &skipped);
}

/* Reads the augmentation: its letters say, in order, which data it has. */
static bool read_augmentation(const struct cfi *cfi, struct cie *cie, const char *letters, struct cursor *c)
{
	struct slice data;
	struct cursor in;
	uint8_t of_handlers;

	if (letters[0] == '\0')
		return true;
	if (letters[0] != 'z' || !cursor_slice(c, &data))
		return false;
	cie->sized = true;
	in = cursor_over(data.p, data.n);
	for (letters++; *letters; letters++) {
		bool good = true;

		switch (*letters) {
		case 'R':
			good = encoded_u8(&in, &cie->encoding);
			break;
		case 'L':
			good = encoded_u8(&in, &of_handlers);
			break;
		case 'P':
			good = skip_personality(cfi, &in);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			break;
		default: /* the rest has an unknown meaning but a known length */
			return true;
		}
		if (!good)
			return false;
	}
	return true;
}

/* Reads the fields before the augmentation's data. */
static bool read_cie_head(struct cie *cie, struct cursor *c, const char **letters)
{
	uint8_t version, address_size, segment_size;
	uint64_t return_register;
	const uint8_t *nul;

	if (!encoded_u8(c, &version) || (version != 1 && version != 3 && version != 4))
		return false;
	nul = memchr(c->p, '\0', cursor_left(c));
	if (!nul)
		return false;
	*letters = (const char *)c->p;
	c->p = nul + 1;
	if (version == 4 && (!encoded_u8(c, &address_size) || address_size != 8 ||
			     !encoded_u8(c, &segment_size) || segment_size != 0))
		return false;
	if (!encoded_unsigned(c, &cie->code_align) || !encoded_signed(c, &cie->data_align))
		return false;
	if (version == 1 ? !encoded_fixed(c, 1, &return_register) : !encoded_unsigned(c, &return_register))
		return false;
	return return_register == UNWIND_RIP;
}

/* Leaves m->remembered alone: it is larger than all the rest. */
static void machine_start(struct cfa_machine *m, const struct cfi *cfi, const struct cie *cie, struct cursor code,
			  uint64_t start)
{
	m->code = code;
	m->loc = start;
	m->code_align = cie->code_align;
	m->data_align = cie->data_align;
	m->encoding = cie->encoding;
	m->bases = &cfi->bases;
	m->state = cie->initial;
	m->n_remembered = 0;
}

static bool read_cie(const struct cfi *cfi, struct cie *cie, struct cursor c)
{
	struct cfa_machine m;
	const char *letters;

	if (!read_cie_head(cie, &c, &letters) || !read_augmentation(cfi, cie, letters, &c))
		return false;
	machine_start(&m, cfi, cie, c, 0);
	m.initial = NULL;
	if (cfa_advance(&m) != CFA_END)
		return false;
	cie->initial = m.state;
	return true;
}

/* Reads all CIEs first: in .debug_frame one may follow its FDEs. Returns false if out of memory. */
static bool read_cies(struct cfi *cfi, struct cies *cies)
{
	struct cursor c = cursor_over(cfi->section.bytes.p, cfi->section.bytes.n);
	struct entry e;

	while (next_entry(cfi, &c, &e) == MORE) {
		struct cie *cie;

		if (!e.is_cie)
			continue;
		if (!grow_array(&cies->items, &cies->cap, cies->n, sizeof(*cies->items)))
			return false;
		cie = &cies->items[cies->n++];
		cie->at = e.at;
		cie->usable = read_cie(cfi, cie, e.in);
	}
	return true;
}

static const struct cie *find_cie(struct cies *cies, uint64_t at)
{
	size_t low;

	if (cies->last < cies->n && cies->items[cies->last].at == at)
		return &cies->items[cies->last];
	low = SEARCH_COUNT(cies->n, middle, cies->items[middle].at < at);
	if (low == cies->n || cies->items[low].at != at)
		return NULL;
	cies->last = low;
	return &cies->items[low];
}

/* A function's addresses, and how to convert them to file offsets. */
struct function {
	uint64_t start, end; /* end: cut at the end of the segment's bytes */
	uint64_t to_offset;  /* to be added */
};

/* Adds a function's rows. Returns false if its program is wrong; some rows have been added then. */
static bool add_rows(const struct cfi *cfi, const struct cie *cie, struct cursor code, const struct function *fn,
		     struct spans *s)
{
	struct cfa_machine m;
	enum cfa_more more;

	machine_start(&m, cfi, cie, code, fn->start);
	m.initial = &cie->initial;
	do {
		uint64_t from = m.loc, to;
		struct unwind_rule rule;

		more = cfa_advance(&m);
		if (more == CFA_BAD)
			return false;
		to = more == CFA_END || m.loc > fn->end ? fn->end : m.loc;
		rule = cfa_rule(&m.state, cie->signal);
		spans_add(s, cfi->source, from + fn->to_offset, to + fn->to_offset, &rule);
	} while (more == CFA_ROW && m.loc < fn->end);
	return true;
}

/* Reads an FDE's range, and its file offset. Returns 1; 0 if its code does not exist; -1 if damaged. */
static int read_range(const struct cfi *cfi, const struct cie *cie, struct cursor *c, struct function *fn,
		      uint64_t *offset)
{
	uint64_t length, left;

	if (!encoded_pointer(c, cie->encoding, &cfi->bases, &fn->start) || !encoded_value(c, cie->encoding, &length))
		return -1;
	/* Functions that the linker discarded remain at address 0, or at an address without code. */
	if (length == 0 || (fn->start == 0 && cfi->source == SPAN_DEBUG_FRAME) ||
	    !code_map_offset(cfi->code, fn->start, offset, &left))
		return 0;
	fn->end = fn->start + (length < left ? length : left);
	fn->to_offset = *offset - fn->start;
	return 1;
}

/* Reads an FDE: its range, its augmentation data and its program. */
static bool read_fde(struct cfi *cfi, const struct cie *cie, struct cursor c, struct spans *s)
{
	static const struct unwind_rule bad = { .kind = UNWIND_BAD };
	struct spans_mark before = spans_mark(s);
	struct function fn;
	struct slice skipped;
	uint64_t offset;
	int there = read_range(cfi, cie, &c, &fn, &offset);

	if (there <= 0)
		return there == 0;
	cfi->functions++;
	if ((!cie->sized || cursor_slice(&c, &skipped)) && add_rows(cfi, cie, c, &fn, s))
		return true;
	spans_undo(s, before);
	spans_add(s, cfi->source, offset, fn.end + fn.to_offset, &bad);
	return false;
}

bool cfi_spans(struct cfi *cfi, struct spans *s)
{
	struct cursor c = cursor_over(cfi->section.bytes.p, cfi->section.bytes.n);
	struct cies cies = { 0 };
	struct entry e;
	bool good = read_cies(cfi, &cies);
	enum more more = NO_MORE;

	while (good && (more = next_entry(cfi, &c, &e)) == MORE) {
		const struct cie *cie = e.is_cie ? NULL : find_cie(&cies, e.cie);

		if (!e.is_cie && (!cie || !cie->usable || !read_fde(cfi, cie, e.in, s)))
			cfi->bad++;
		good = !s->failed && !s->too_large;
	}
	cfi->bad += more == DAMAGED;
	free(cies.items);
	return good || s->too_large;
}

bool cfi_functions(struct cfi *cfi, struct function_list *l)
{
	struct cursor c = cursor_over(cfi->section.bytes.p, cfi->section.bytes.n);
	struct cies cies = { 0 };
	struct entry e;
	bool good = read_cies(cfi, &cies);

	while (good && next_entry(cfi, &c, &e) == MORE) {
		const struct cie *cie = e.is_cie ? NULL : find_cie(&cies, e.cie);
		struct function fn;
		uint64_t offset;

		if (!cie || !cie->usable || read_range(cfi, cie, &e.in, &fn, &offset) <= 0)
			continue;
		good = grow_array(&l->items, &l->cap, l->n, sizeof(*l->items));
		if (good)
			l->items[l->n++] = (struct function_range){ fn.start, fn.end };
	}
	free(cies.items);
	return good;
}

struct encoded_bases cfi_bases(const struct elf_file *f, const struct section *section)
{
	return (struct encoded_bases){
		.section = section->bytes.p,
		.vaddr = section->vaddr,
		.text = section_vaddr(f, ".text"),
		.data = section_vaddr(f, ".got"),
	};
}
