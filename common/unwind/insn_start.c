#include "common/unwind/insn_start.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/unwind/functions.h"
#include "common/unwind/insn.h"

enum { DISTANCE_MAX = 1 << 20, ARM64_INSN = 4 };

/* Finds the start of the function that contains the address. */
static bool find_function(const struct elf_file *f, uint64_t vaddr, uint64_t *start)
{
	struct function_list l = { 0 };
	bool found = false;
	size_t i;

	for (int by_symbols = 0; by_symbols < 2 && !found; by_symbols++) {
		bool read = by_symbols ? functions_of_symbols(f, &l, NULL, NULL) : functions_read(f, &l);

		found = read && functions_find(&l, vaddr, &i);
		if (found)
			*start = l.items[i].start;
		functions_release(&l);
	}
	return found;
}

static bool find_offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz &&
		    s->offset <= INT64_MAX - s->filesz) {
			*offset = s->offset + (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}

/* Decodes the instructions from the offset on. Returns true if one of them ends just after n bytes. */
static bool decode_to(const struct elf_file *f, uint64_t offset, size_t n)
{
	size_t bytes = n + INSN_BYTES_MAX, at = 0;
	uint8_t *code = malloc(bytes);
	ssize_t got = code ? pread(f->fd, code, bytes, (off_t)offset) : -1;
	struct insn i;

	while (at < n && got > 0 && at < (size_t)got &&
	       insn_decode((struct slice){ code + at, (size_t)got - at }, &i))
		at += i.length;
	free(code);
	return at == n;
}

bool insn_starts(const struct elf_file *f, uint64_t vaddr)
{
	uint64_t start, offset;
	GElf_Ehdr h;

	if (!gelf_getehdr(f->elf, &h))
		return false;
	if (h.e_machine == EM_AARCH64)
		return vaddr % ARM64_INSN == 0;
	return h.e_machine == EM_X86_64 && find_function(f, vaddr, &start) && vaddr - start <= DISTANCE_MAX &&
	       find_offset(f, start, &offset) && decode_to(f, offset, vaddr - start);
}
