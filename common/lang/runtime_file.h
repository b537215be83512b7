/*
 * Reads an interpreter's file for the languages: symbols, headers, and bytes at linked addresses.
 *
 *	struct runtime_symbol s[] = { { "_PyRuntime", 0, 0 } };
 *
 *	runtime_symbols(f, s, 1);
 *	if (s[0].value && runtime_read(f, s[0].value, bytes, sizeof(bytes)))
 *		...
 *
 * Nothing is kept: results are copies.
 */
#ifndef CPROF_LANG_RUNTIME_FILE_H
#define CPROF_LANG_RUNTIME_FILE_H

#include "common/elf/elffile.h"
#include "common/lang/lang.h"

/* Symbols of the file, by name. */
struct runtime_symbol {
	const char *name;
	uint64_t value, size; /* results; value 0: not found */
};

/*
 * Finds defined symbols in .dynsym. Reads .symtab for missing symbols only if .dynsym has one of the others,
 * or if the file is static. Interpreters export their symbols, so for most other files .symtab need not be
 * read.
 */
void runtime_symbols(const struct elf_file *f, struct runtime_symbol *symbols, size_t n);
/* Calls visit for each defined symbol of .symtab, or of .dynsym. */
typedef void runtime_visit(void *arg, const struct runtime_symbol *s);
void runtime_each_symbol(const struct elf_file *f, runtime_visit *visit, void *arg);
void runtime_each_dynamic(const struct elf_file *f, runtime_visit *visit, void *arg);

/* Reads n bytes at this linked address. Returns false if the file does not have them. */
bool runtime_read(const struct elf_file *f, uint64_t vaddr, void *to, size_t n);
/* Returns true if a loaded segment, of code or of data, contains these addresses. */
bool runtime_contains(const struct elf_file *f, uint64_t vaddr, uint64_t n, bool code);
/* Finds the first program header of this type (PT_TLS). */
struct runtime_header {
	uint64_t offset, vaddr, filesz, memsz, align;
};
bool runtime_header(const struct elf_file *f, uint32_t type, struct runtime_header *header);
/* Adds a range of the loop unless it is not code. Returns its index, or LANG_LOOPS if it was not added. */
size_t runtime_add_loop(const struct elf_file *f, struct lang_image *image, uint64_t start, uint64_t end);

#endif
