#include "common/go/gotrees.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/le.h"

enum {
	/* Offsets in a record of its lists and numbers, counted from the end of its address. */
	FILES_AT = 16, LINES_AT = 20, LISTS_AT = 24, UNIT_AT = 28,
	BARE_END = 40,   /* size of a record's fixed part, in the oldest layout */
	FLAG_TO_END = 3, /* bytes from the flags to the end of the fixed part, in all other layouts */
	FLAG_1_18 = 37,
	ENTRY_OLD = 20,  /* parent, kind, file, line, name, instruction */
	ENTRY_NEW = 16,  /* kind, name, instruction, line of the function: since 1.20 */
	TAIL = 1 << 18,  /* bytes read for the last tree, whose length is not recorded */
	CHECKED = 4096,
	PLACES_MAX = 16, /* candidates for the module's data */
	STEP = 1 << 14,
	/* Words of the module's data: the header, then the parts as slices, among others. */
	MODULE_NAMES = 1, MODULE_TEXT = 22, MODULE_FUNCS_1_18 = 38, MODULE_FUNCS = 40, MODULE_FUNCS_LAST = 44,
	MODULE_WORDS = MODULE_FUNCS_LAST + 2,
	BASES_MAX = 10,
	RELA_SIZE = 24,
};

/* One layout: which list and which datum belong to the trees, and the bytes of a call. */
struct form {
	uint8_t flag_at; /* identifies the layout */
	uint8_t list, data, entry;
};

static const struct form forms[] = {
	{ 0, 2, 4, ENTRY_OLD },  /* 1.14, 1.15 */
	{ 0, 1, 2, ENTRY_OLD },  /* 1.12, 1.13 */
	{ 41, 2, 3, ENTRY_OLD }, /* 1.16, 1.17 */
	{ 37, 2, 3, ENTRY_OLD }, /* 1.18, 1.19 */
	{ 41, 2, 3, ENTRY_NEW }, /* 1.20 */
};

static bool is_form(const struct gopclntab *t, const struct form *form)
{
	return t->flag_at == form->flag_at && (form->entry == ENTRY_NEW) == (t->field == 4 && t->flag_at != FLAG_1_18);
}

bool gotrees_details(const struct gotrees *trees, const struct gopclntab *t, const struct go_function *fn,
		     struct go_details *d)
{
	const uint8_t *p = fn->record.p, *numbers = p + t->field;
	size_t end = t->flag_at ? t->flag_at + FLAG_TO_END : BARE_END, at;
	size_t width = t->field == 8 ? 8 : 4; /* bytes of a datum: an address, or a distance from the base */
	uint64_t lists;

	*d = (struct go_details){ 0 };
	if (fn->record.n < end)
		return false;
	d->files = le32_load(numbers + FILES_AT);
	d->lines = le32_load(numbers + LINES_AT);
	d->unit = t->flag_at ? le32_load(numbers + UNIT_AT) : 0;
	lists = le32_load(numbers + LISTS_AT);
	if (!trees->data || trees->list >= lists || trees->data >= p[end - 1] || lists > (fn->record.n - end) / 4)
		return true;
	at = end + lists * 4;
	if (width == 8) /* addresses are aligned */
		at += (t->vaddr + (uint64_t)(p - t->bytes.p) + at) & 4;
	if (at > fn->record.n || (trees->data + 1) * width > fn->record.n - at)
		return true;
	d->indexes = le32_load(p + end + trees->list * 4);
	if (width == 8)
		d->tree = le64_load(p + at + trees->data * 8);
	else if (le32_load(p + at + trees->data * 4) != UINT32_MAX)
		d->tree = trees->base + le32_load(p + at + trees->data * 4);
	return true;
}

bool gotrees_call(const struct gotrees *trees, uint64_t tree, uint32_t i, struct gotree_call *call)
{
	uint64_t at = tree - trees->vaddr + (uint64_t)i * trees->entry;
	const uint8_t *p;

	if (!trees->entry || tree < trees->vaddr || at >= trees->bytes.n || trees->bytes.n - at < trees->entry)
		return false;
	p = trees->bytes.p + at + (trees->entry == ENTRY_NEW ? 4 : 12);
	*call = (struct gotree_call){ le32_load(p), le32_load(p + 4) };
	return true;
}

/* Reads at most n bytes that the file loads at this address. Returns how many there are, or 0. */
static size_t read_loaded(const struct elf_file *f, uint64_t vaddr, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < f->n_loaded; i++) {
		const struct elf_segment *s = &f->loaded[i];
		uint64_t into = vaddr - s->vaddr, at = s->offset + into;
		size_t have = 0;

		if (vaddr < s->vaddr || into >= s->filesz || at < into || at > INT64_MAX)
			continue;
		n = n < s->filesz - into ? n : (size_t)(s->filesz - into);
		while (have < n) {
			ssize_t got = pread(f->fd, p + have, n - have, (off_t)(at + have));

			if (got <= 0)
				break;
			have += (size_t)got;
		}
		return have;
	}
	return 0;
}

/* The starts of the first and the last tree. */
struct tree_range {
	uint64_t first, last;
	size_t n;
};

static struct tree_range find_range(const struct gotrees *trees, const struct gopclntab *t)
{
	struct tree_range x = { UINT64_MAX, 0, 0 };
	struct go_function fn;
	struct go_details d;

	for (size_t i = 0; i < t->n; i++) {
		if (!gopclntab_function(t, i, &fn) || !gotrees_details(trees, t, &fn, &d) || !d.tree || !d.indexes)
			continue;
		x.first = d.tree < x.first ? d.tree : x.first;
		x.last = d.tree > x.last ? d.tree : x.last;
		x.n++;
	}
	return x;
}

static bool is_name(struct slice name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] <= ' ' || name.p[i] == 0x7f)
			return false;
	}
	return name.n > 0;
}

/* Returns true if nearly all trees begin with a call with a name and an instruction in the function. */
static bool make_sense(const struct gotrees *trees, const struct gopclntab *t, size_t n)
{
	size_t step = n / CHECKED + 1, seen = 0, good = 0, looked = 0;
	struct go_function fn;
	struct go_details d;

	for (size_t i = 0; i < t->n; i++) {
		struct gotree_call call;

		if (!gopclntab_function(t, i, &fn) || !gotrees_details(trees, t, &fn, &d) || !d.tree || !d.indexes ||
		    seen++ % step != 0)
			continue;
		looked++;
		good += gotrees_call(trees, d.tree, 0, &call) && call.parent < fn.end - fn.start &&
			is_name(gopclntab_text(t->names, call.name, 256));
	}
	return good > 0 && good >= looked - looked / 16;
}

/* Reads the bytes from the first tree to the end of the last. Returns false if out of memory. */
static bool read_trees(const struct elf_file *f, const struct tree_range *x, struct gotrees *trees)
{
	uint64_t most = 0, n;
	uint8_t *p;

	for (size_t i = 0; i < f->n_loaded; i++) {
		const struct elf_segment *s = &f->loaded[i];

		if (x->first >= s->vaddr && x->first - s->vaddr < s->filesz)
			most = s->filesz - (x->first - s->vaddr);
	}
	n = x->last - x->first + TAIL;
	n = n < most ? n : most;
	n = n < ELF_PART_MAX ? n : ELF_PART_MAX;
	if (n == 0)
		return true;
	p = malloc(n);
	if (!p)
		return false;
	trees->vaddr = x->first;
	trees->bytes = (struct slice){ p, read_loaded(f, x->first, p, (size_t)n) };
	return true;
}

/* Reads the trees in this form; keeps them in *trees if they make sense. Returns false if out of memory. */
static bool try_form(const struct elf_file *f, const struct gopclntab *t, const struct form *form, uint64_t base,
		     struct gotrees *trees)
{
	struct tree_range x;

	*trees = (struct gotrees){ .base = base, .entry = form->entry, .list = form->list, .data = form->data };
	x = find_range(trees, t);
	if (x.n && !read_trees(f, &x, trees))
		return false;
	if (x.n && make_sense(trees, t, x.n))
		return true;
	gotrees_close(trees);
	return true;
}

/* Candidate addresses of the module's data, which begin with the address of the table. */
struct places {
	uint64_t items[PLACES_MAX];
	size_t n;
};

static void add_place(struct places *p, uint64_t vaddr)
{
	if (p->n < PLACES_MAX)
		p->items[p->n++] = vaddr;
}

static void scan_relocations(const struct elf_file *f, uint64_t wanted, struct places *p)
{
	struct section rela;

	if (!section_find(f, ".rela.dyn", &rela))
		return;
	for (size_t at = 0; at + RELA_SIZE <= rela.bytes.n; at += RELA_SIZE) {
		if (le64_load(rela.bytes.p + at + 8) == R_X86_64_RELATIVE && le64_load(rela.bytes.p + at + 16) == wanted)
			add_place(p, le64_load(rela.bytes.p + at));
	}
}

static void scan_segment(const struct elf_file *f, const struct elf_segment *s, uint64_t wanted, struct places *p)
{
	uint8_t bytes[STEP];
	uint64_t at = -s->vaddr & 7;
	size_t n;

	while (at < s->filesz && p->n < PLACES_MAX && (n = read_loaded(f, s->vaddr + at, bytes, sizeof(bytes))) >= 8) {
		for (size_t i = 0; i + 8 <= n; i += 8) {
			if (le64_load(bytes + i) == wanted)
				add_place(p, s->vaddr + at + i);
		}
		at += n & ~(size_t)7;
	}
}

/* Candidate values of go:func.*, best first. */
struct bases {
	uint64_t items[BASES_MAX];
	size_t n;
};

static void add_base(struct bases *b, uint64_t base)
{
	if (base && b->n < BASES_MAX)
		b->items[b->n++] = base;
}

/* Adds the candidates if the module's data are at this address. */
static void bases_of_module(const struct elf_file *f, const struct gopclntab *t, uint64_t vaddr, struct bases *b)
{
	uint8_t bytes[MODULE_WORDS * 8] = { 0 };
	uint64_t names = t->vaddr + (uint64_t)(t->names.p - t->bytes.p), end = t->vaddr + t->bytes.n;
	size_t n = read_loaded(f, vaddr, bytes, sizeof(bytes));

	if (n < (MODULE_FUNCS + 1) * 8)
		return;
	gopclntab_relocate(f, bytes, n, vaddr);
	if (le64_load(bytes) != t->vaddr || le64_load(bytes + MODULE_NAMES * 8) != names ||
	    le64_load(bytes + MODULE_TEXT * 8) != t->text)
		return;
	if (t->flag_at == FLAG_1_18) {
		add_base(b, le64_load(bytes + MODULE_FUNCS_1_18 * 8));
		return;
	}
	/* From 1.26 on the table's end follows go:func.*, and later versions have more words before it. */
	for (unsigned int i = MODULE_FUNCS; i <= MODULE_FUNCS_LAST; i++) {
		if (le64_load(bytes + (i + 1) * 8) == end)
			add_base(b, le64_load(bytes + i * 8));
	}
	for (unsigned int i = MODULE_FUNCS; i <= MODULE_FUNCS_LAST; i++)
		add_base(b, le64_load(bytes + i * 8));
}

static void bases_of_places(const struct elf_file *f, const struct gopclntab *t, const struct places *p,
			    struct bases *b)
{
	for (size_t i = 0; i < p->n && !b->n; i++)
		bases_of_module(f, t, p->items[i], b);
}

/* Finds the module's data by relocations, else by its bytes; from the last segment on: data are last. */
static void find_bases(const struct elf_file *f, const struct gopclntab *t, struct bases *b)
{
	struct places p = { .n = 0 };

	scan_relocations(f, t->vaddr, &p);
	bases_of_places(f, t, &p, b);
	for (size_t i = f->n_loaded; i > 0 && !b->n; i--) {
		if (f->loaded[i - 1].exec)
			continue;
		p.n = 0;
		scan_segment(f, &f->loaded[i - 1], t->vaddr, &p);
		bases_of_places(f, t, &p, b);
	}
}

bool gotrees_open(const struct elf_file *f, const struct gopclntab *t, struct gotrees *trees)
{
	struct bases b = { .n = 0 };

	*trees = (struct gotrees){ 0 };
	if (t->field == 4)
		find_bases(f, t, &b);
	else
		b.n = 1; /* records have whole addresses */
	for (size_t k = 0; k < b.n; k++) {
		for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !trees->entry; i++) {
			if (is_form(t, &forms[i]) && !try_form(f, t, &forms[i], b.items[k], trees))
				return false;
		}
	}
	return true;
}

void gotrees_close(struct gotrees *trees)
{
	free((uint8_t *)trees->bytes.p);
	*trees = (struct gotrees){ 0 };
}
