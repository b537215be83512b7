#include <elf.h>

#include "common/base/le.h"
#include "common/elf/unwind_sections.h"
#include "common/python/python_internal.h"
#include "common/lang/runtime_code.h"

/*
 * From 3.15 on, PyGILState_GetThisThreadState only loads a thread-local variable:
 *	mov %fs:-40,%rax; ret			in an executable
 *	lea WORD(%rip),%rdi; call __tls_get_addr; (pop %rbp;) mov 40(%rax),%rax; ret	in a library
 * It begins with endbr64 or not, and with push %rbp; mov %rsp,%rbp or not.
 *
 * This variable keeps its value while a thread has released the GIL, unlike the one of
 * PyThreadState_GetUnchecked.
 */
enum { CODE_BYTES = 48 };

static bool is_return(struct cursor *c)
{
	code_skip(c, "\x5d", 1);
	return code_skip(c, "\xc3", 1);
}

/* An executable's block ends at the thread pointer. */
static bool take_local(const struct elf_file *f, struct lang_image *image, struct cursor c)
{
	struct runtime_header h;
	int32_t disp;
	uint64_t below;

	if (!code_skip(&c, "\x64\x48\x8b\x04\x25", 5) || !code_disp(&c, &disp) || disp >= 0 || !is_return(&c))
		return false;
	below = 0 - (uint64_t)(int64_t)disp;
	if (!runtime_header(f, PT_TLS, &h) || h.align > 4096 || h.memsz > UINT32_MAX || below < 8 ||
	    below > h.memsz + h.align)
		return false;
	image->at[PY_TLS] = (uint32_t)below;
	return true;
}

/* Returns true if the loader stores the number of the library's own block in this word. */
static bool is_module_word(const struct elf_file *f, uint64_t word)
{
	struct section s;

	if (!section_find(f, ".rela.dyn", &s))
		return false;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= s.bytes.n; at += sizeof(Elf64_Rela)) {
		if (le64_load(s.bytes.p + at) == word && le64_load(s.bytes.p + at + 8) == R_X86_64_DTPMOD64)
			return true;
	}
	return false;
}

static bool take_module(const struct elf_file *f, struct lang_image *image, struct cursor c,
			uint64_t function, const uint8_t *code)
{
	struct runtime_header h;
	int32_t disp, offset;
	uint64_t word;

	if (!code_skip(&c, "\x48\x8d\x3d", 3) || !code_disp(&c, &disp))
		return false;
	word = function + (uint64_t)(c.p - code) + (uint64_t)(int64_t)disp;
	if (!code_skip(&c, "\xe8", 1) || !code_disp(&c, &offset))
		return false;
	code_skip(&c, "\x5d", 1);
	if (code_skip(&c, "\x48\x8b\x80", 3)) {
		if (!code_disp(&c, &offset))
			return false;
	} else if (code_skip(&c, "\x48\x8b\x40", 3) && cursor_left(&c)) {
		offset = (int8_t)*c.p++;
	} else {
		return false;
	}
	if (!is_return(&c) || !runtime_header(f, PT_TLS, &h) || offset < 0 || h.memsz < 8 ||
	    (uint64_t)offset > h.memsz - 8 || word < image->text || word - image->text >= UINT32_MAX ||
	    !is_module_word(f, word))
		return false;
	image->at[PY_TLS_WORD] = (uint32_t)(word - image->text) + 1;
	image->at[PY_TLS_OFFSET] = (uint32_t)offset;
	return true;
}

bool python_tls(const struct elf_file *f, struct lang_image *image, uint64_t function)
{
	uint8_t code[CODE_BYTES];
	struct cursor c = cursor_over(code, sizeof(code));

	if (!function || !runtime_read(f, function, code, sizeof(code)))
		return false;
	code_start(&c);
	return take_local(f, image, c) || take_module(f, image, c, function, code);
}
