#include <elf.h>

#include "common/base/le.h"
#include "common/elf/unwind_sections.h"
#include "common/ruby/ruby_internal.h"
#include "common/unwind/function_parts.h"

/*
 * The loop is vm_exec_core, a static function that few files have a symbol for. It jumps by a table of
 * the addresses of its instructions (insns_address_table), which no other function of Ruby has as
 * long: the table is the only run of more than 150 words that point into one function. Ruby 2.7 to 3.4
 * have 202 to 220; the matcher of regular expressions has 98. The function's bounds are those of
 * .eh_frame.
 */
enum { LABELS_MIN = 150, WORD = 8 };

struct run {
	const struct function_list *l;
	size_t function; /* that all words of the run point into */
	uint64_t next;	 /* address of the word that would continue it */
	size_t n;
	size_t best; /* function of a run that is long enough; l->n: none yet */
};

/* Adds a word of the file's data, in ascending order. */
static void take_word(struct run *r, uint64_t at, uint64_t value)
{
	size_t i;

	if (r->n && at == r->next && value >= r->l->items[r->function].start &&
	    value < r->l->items[r->function].end) {
		r->n++;
	} else {
		r->n = 0;
		if (functions_find(r->l, value, &i)) {
			r->function = i;
			r->n = 1;
		}
	}
	r->next = at + WORD;
	if (r->n >= LABELS_MIN)
		r->best = r->function;
}

/* The linker sorts the relocations of this type by address. */
static void visit_relocations(const struct elf_file *f, struct run *r)
{
	struct section s;

	if (!section_find(f, ".rela.dyn", &s))
		return;
	r->n = 0;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= s.bytes.n; at += sizeof(Elf64_Rela)) {
		const uint8_t *p = s.bytes.p + at;

		if (le64_load(p + 8) == R_X86_64_RELATIVE)
			take_word(r, le64_load(p), le64_load(p + 16));
	}
}

/* Files with other relocations, or at fixed addresses, have the addresses in place. */
static void visit_data(const struct elf_file *f, const char *name, struct run *r)
{
	struct section s;

	if (!section_find(f, name, &s))
		return;
	r->n = 0;
	for (size_t at = 0; at + WORD <= s.bytes.n; at += WORD)
		take_word(r, s.vaddr + at, le64_load(s.bytes.p + at));
}

static bool find_loop(const struct elf_file *f, const struct function_list *l, uint64_t *start)
{
	struct run r = { .l = l, .best = l->n };

	visit_relocations(f, &r);
	if (r.best == l->n)
		visit_data(f, ".data.rel.ro", &r);
	if (r.best == l->n)
		visit_data(f, ".rodata", &r);
	if (r.best < l->n)
		*start = l->items[r.best].start;
	return r.best < l->n;
}

static void add_loop(const struct elf_file *f, struct lang_image *image, const struct function_list *l,
		     uint64_t start)
{
	struct function_range parts[LANG_LOOPS - 1];
	size_t i, n;

	if (!functions_find(l, start, &i) || runtime_add_loop(f, image, start, l->items[i].end) != 0)
		return;
	n = function_parts(f, l, start, parts, LANG_LOOPS - 1);
	for (i = 0; i < n; i++)
		runtime_add_loop(f, image, parts[i].start, parts[i].end);
}

void ruby_loops(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *symbol)
{
	struct function_list l;
	uint64_t start = symbol ? symbol->value : 0;

	if (!functions_read(f, &l))
		return;
	if (start || find_loop(f, &l, &start))
		add_loop(f, image, &l, start);
	functions_release(&l);
}
