#include <elf.h>

#include "common/base/le.h"
#include "common/elf/unwind_sections.h"
#include "common/ruby/ruby_internal.h"

enum { BLOCK_MOST = 1 << 16, ALIGN_MOST = 4096 };

/*
 * A word that the loader fills: with the number of the module, or with the place of a variable of its
 * block.
 */
struct word {
	enum ruby_ec is;
	uint64_t at, offset; /* linked address; of the variable in the block */
};

struct search {
	struct section symbols;
	struct word best;
	bool found;
};

/* Sets *offset to where the relocation's variable is in the block. False: it is of another file. */
static bool find_offset(const struct search *s, uint64_t info, uint64_t addend, uint64_t *offset)
{
	size_t at = (size_t)(info >> 32) * sizeof(Elf64_Sym);

	*offset = addend;
	if (at == 0)
		return true;
	if (at > s->symbols.bytes.n - sizeof(Elf64_Sym) || s->symbols.bytes.n < sizeof(Elf64_Sym))
		return false;
	if (le16_load(s->symbols.bytes.p + at + offsetof(Elf64_Sym, st_shndx)) == SHN_UNDEF)
		return false;
	*offset += le64_load(s->symbols.bytes.p + at + offsetof(Elf64_Sym, st_value));
	return true;
}

/* The word with the number is better; among others, that of the first variable. */
static void take_word(struct search *s, const struct word *w)
{
	if (s->found && (s->best.is < w->is || (s->best.is == w->is && s->best.offset <= w->offset)))
		return;
	s->best = *w;
	s->found = true;
}

static void take_relocation(struct search *s, const uint8_t *p)
{
	struct word w = { RB_EC_OFFSET, le64_load(p), 0 };
	uint64_t info = le64_load(p + 8);

	if (!find_offset(s, info, le64_load(p + 16), &w.offset))
		return;
	switch (info & 0xffffffff) {
	case R_X86_64_DTPMOD64:
		w.is = RB_EC_MODULE;
		w.offset = 0;
		break;
	case R_X86_64_TLSDESC: /* the second word of the descriptor, for blocks made at start */
		w.at += 8;
		break;
	case R_X86_64_TPOFF64:
		break;
	default:
		return;
	}
	take_word(s, &w);
}

static void search_relocations(const struct elf_file *f, struct search *s)
{
	static const char *const names[] = { ".rela.dyn", ".rela.plt" };
	struct section r;

	if (!section_find(f, ".dynsym", &s->symbols))
		s->symbols.bytes.n = 0;
	for (size_t i = 0; i < 2; i++) {
		if (!section_find(f, names[i], &r))
			continue;
		for (size_t at = 0; at + sizeof(Elf64_Rela) <= r.bytes.n; at += sizeof(Elf64_Rela))
			take_relocation(s, r.bytes.p + at);
	}
}

/*
 * The words from the first to the end of the block; with a symbol only one. False: there are too many.
 */
static bool set_words(struct lang_image *image, uint64_t first, uint64_t bytes,
		      const struct runtime_symbol *symbol)
{
	image->at[RB_TLS_FIRST] = (uint32_t)first;
	image->at[RB_TLS_WORDS] = symbol ? 1 : (uint32_t)(bytes / 8);
	return image->at[RB_TLS_WORDS] > 0 && image->at[RB_TLS_WORDS] <= RB_TLS_WORDS_MOST;
}

bool ruby_tls(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *symbol)
{
	struct runtime_header h, interpreter;
	struct search s = { .found = false };
	uint64_t value = symbol ? symbol->value : 0;

	if (!runtime_header(f, PT_TLS, &h) || h.memsz > BLOCK_MOST || h.memsz < 8 || value > h.memsz - 8)
		return false;
	if (runtime_header(f, PT_INTERP, &interpreter)) {
		uint64_t align = h.align && h.align <= ALIGN_MOST ? h.align : 1;

		image->at[RB_EC] = RB_EC_BELOW;
		return set_words(image, (h.memsz + align - 1) / align * align - value, h.memsz, symbol);
	}
	search_relocations(f, &s);
	if (!s.found || s.best.offset > h.memsz || (symbol && s.best.offset > value))
		return false;
	image->at[RB_EC] = s.best.is;
	image->state = s.best.at;
	if (s.best.is == RB_EC_OFFSET && symbol)
		return set_words(image, value - s.best.offset, 8, symbol);
	return set_words(image, value, h.memsz - s.best.offset, symbol);
}
