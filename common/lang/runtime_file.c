#include "common/lang/runtime_file.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/unwind_sections.h"

enum { HEADERS_MOST = 128 };

/* Returns false if the symbol is not defined or has no name. */
static bool read_symbol(const struct section *t, size_t at, struct slice names, struct runtime_symbol *out)
{
	Elf64_Sym s;

	memcpy(&s, t->bytes.p + at, sizeof(s));
	if (s.st_shndx == SHN_UNDEF || s.st_name >= names.n)
		return false;
	out->name = (const char *)names.p + s.st_name;
	out->value = s.st_value;
	out->size = s.st_size;
	return memchr(out->name, 0, names.n - s.st_name) != NULL;
}

/* Calls visit for each defined symbol of this table. Returns how many symbols it has. */
static size_t visit_table(const struct elf_file *f, const char *table, const char *strings,
			  runtime_visit *visit, void *arg)
{
	struct section t, s;
	struct runtime_symbol symbol;

	if (!section_find(f, table, &t) || !section_find(f, strings, &s))
		return 0;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= t.bytes.n; at += sizeof(Elf64_Sym)) {
		if (read_symbol(&t, at, s.bytes, &symbol))
			visit(arg, &symbol);
	}
	return t.bytes.n / sizeof(Elf64_Sym);
}

void runtime_each_dynamic(const struct elf_file *f, runtime_visit *visit, void *arg)
{
	visit_table(f, ".dynsym", ".dynstr", visit, arg);
}

void runtime_each_symbol(const struct elf_file *f, runtime_visit *visit, void *arg)
{
	visit_table(f, ".symtab", ".strtab", visit, arg);
}

struct wanted {
	struct runtime_symbol *symbols;
	size_t n, found;
};

static void keep_wanted(void *arg, const struct runtime_symbol *s)
{
	struct wanted *w = arg;

	for (size_t i = 0; i < w->n; i++) {
		struct runtime_symbol *to = &w->symbols[i];

		if (to->value || *to->name != *s->name || strcmp(to->name, s->name) != 0 || !s->value)
			continue;
		to->value = s->value;
		to->size = s->size;
		w->found++;
	}
}

void runtime_symbols(const struct elf_file *f, struct runtime_symbol *symbols, size_t n)
{
	struct wanted w = { symbols, n, 0 };
	size_t dynamic = visit_table(f, ".dynsym", ".dynstr", keep_wanted, &w);

	if (w.found < n && (w.found || dynamic <= 1))
		visit_table(f, ".symtab", ".strtab", keep_wanted, &w);
}

bool runtime_read(const struct elf_file *f, uint64_t vaddr, void *to, size_t n)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr <= s->filesz && n <= s->filesz - (vaddr - s->vaddr))
			return pread(f->fd, to, n, (off_t)(s->offset + (vaddr - s->vaddr))) == (ssize_t)n;
	}
	return false;
}

bool runtime_contains(const struct elf_file *f, uint64_t vaddr, uint64_t n, bool code)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->exec == code && vaddr >= s->vaddr && vaddr - s->vaddr <= s->memsz &&
		    n <= s->memsz - (vaddr - s->vaddr))
			return true;
	}
	return false;
}

bool runtime_header(const struct elf_file *f, uint32_t type, struct runtime_header *header)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (pread(f->fd, &e, sizeof(e), 0) != (ssize_t)sizeof(e) || e.e_phentsize != sizeof(p) ||
	    e.e_phoff > INT64_MAX / 2)
		return false;
	for (size_t i = 0; i < e.e_phnum && i < HEADERS_MOST; i++) {
		if (pread(f->fd, &p, sizeof(p), (off_t)(e.e_phoff + i * sizeof(p))) != (ssize_t)sizeof(p))
			return false;
		if (p.p_type != type)
			continue;
		*header = (struct runtime_header){ p.p_offset, p.p_vaddr, p.p_filesz, p.p_memsz, p.p_align };
		return true;
	}
	return false;
}

size_t runtime_add_loop(const struct elf_file *f, struct lang_image *image, uint64_t start, uint64_t end)
{
	size_t i = 0;

	while (i < LANG_LOOPS && image->loops[i].end)
		i++;
	if (i == LANG_LOOPS || start >= end || !runtime_contains(f, start, end - start, true))
		return LANG_LOOPS;
	image->loops[i] = (struct lang_loop){ start, end };
	return i;
}
