/*
 * The functions of an ELF file as disjoint intervals, so that one look-up finds the right name.
 *
 *	struct symbols *t = symbols_new();
 *
 *	symbols_add(t, runtime_file, SYMBOLS_SYMTAB | SYMBOLS_DYNAMIC);
 *	symbols_add(t, debug_file, SYMBOLS_SYMTAB | SYMBOLS_SEPARATE);
 *	if (!symbols_settle(t))
 *		...out of memory...
 *	uint32_t s = symbols_find(t, vaddr);
 *	if (s != SYMBOL_NONE)
 *		...symbols_name(t, s, &name), vaddr - symbols_start(t, s)...
 *	symbols_free(t);
 *
 * Names stay in the mapped file (see mapped.h for a file that shrinks) and are copied on request. Checksums
 * are taken when the tables are read, so a file that is modified later gives the old name or none. A
 * modification while the tables are being read is detected by size and times; see symbols_damaged.
 *
 * Symbols used: FUNC, GNU_IFUNC, NOTYPE and OBJECT symbols in a section that is loaded and executable. Not
 * undefined, absolute and common symbols, not sections, files and thread-local variables, not the mapping
 * symbols $a, $d, $t, $x.
 *
 * An address is named by:
 *
 * 1. The symbol with a size that covers it and begins last; of those, the one that ends first. So the
 *    innermost symbol counts, and after its end the one around it again. A symbol ends at its section's end
 *    at the latest, and beyond its end it names nothing.
 *
 * 2. Among several with the same range: .symtab before .gnu_debugdata before .dynsym before a PLT stub;
 *    global before weak before local; function before NOTYPE before object; then by prefer.h. The order of
 *    the tables does not matter.
 *
 * 3. If no symbol with a size covers it, a symbol without a size that is inside no other: from .symtab it
 *    reaches to the next symbol or to the section's end; from .dynsym (which is sparse) it names its first
 *    byte only.
 */
#ifndef CPROF_SYMBOLS_SYMBOLS_H
#define CPROF_SYMBOLS_SYMBOLS_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"

#define SYMBOL_NONE UINT32_MAX

enum {
	SYMBOLS_SYMTAB = 1,
	SYMBOLS_DYNAMIC = 2,  /* .dynsym; on x86-64 also the stubs of .plt, .plt.sec, .plt.got and .iplt */
	SYMBOLS_SEPARATE = 4, /* with SYMBOLS_SYMTAB: a separate debug file; recorded as the origin */
	SYMBOLS_MINIDEBUG = 8, /* with SYMBOLS_SYMTAB: from .gnu_debugdata; recorded as the origin */
};

enum symbol_origin { ORIGIN_SYMTAB, ORIGIN_DYNSYM, ORIGIN_PLT, ORIGIN_DEBUG, ORIGIN_MINIDEBUG, ORIGINS };

enum { SYMBOL_NAME_MAX = 8192 }; /* bytes of a name; longer names are cut */

/* A symbol as look-ups need it, small enough for one cache line. */
struct symbol {
	uint64_t start;
	uint32_t name;  /* offset in its string table */
	uint32_t tag;   /* for the caller's use; 0 at first */
	uint8_t table;  /* index of the string table */
	uint8_t origin; /* enum symbol_origin */
};

struct symbols;

/* Returns NULL if out of memory. */
struct symbols *symbols_new(void);
void symbols_free(struct symbols *t);
/*
 * Adds the tables selected by the flags in what (SYMBOLS_*). f may be closed afterwards. Returns the number
 * of symbols that can name code, or -1 if out of memory.
 */
long symbols_add(struct symbols *t, const struct elf_file *f, unsigned int what);
/* Builds the intervals. Call it once, before any look-up. Returns false if out of memory. */
bool symbols_settle(struct symbols *t);

/* Returns the symbol that names this linked address, or SYMBOL_NONE. */
uint32_t symbols_find(const struct symbols *t, uint64_t vaddr);
/*
 * Prefetches for a look-up of this address. A look-up follows a chain of pointers, so call it twice: long
 * before with EXPECT_FAR, then shortly before with EXPECT_NEAR.
 */
enum expectation { EXPECT_FAR, EXPECT_NEAR };
void symbols_expect(const struct symbols *t, uint64_t vaddr, enum expectation when);
/* Returns a symbol, valid until symbols_free. */
struct symbol *symbols_get(struct symbols *t, uint32_t s);
/*
 * Replaces the contents of out by the name, without a version ("@@GLIBC_2.4"), and without "@plt" for a stub.
 * Returns false if the file has changed there, or if out of memory (out->failed).
 */
bool symbols_name(const struct symbols *t, uint32_t s, struct buf *out);
/* Returns true if a file shrank or changed while it was read. The symbols must then not be used. */
bool symbols_damaged(const struct symbols *t);
/* Returns true if any name in the string tables begins with prefix, even if its symbol names no code. */
bool symbols_have_prefix(const struct symbols *t, const char *prefix);
/* Returns about how many bytes of memory the symbols hold, including pages of the file. */
size_t symbols_bytes(const struct symbols *t);
/* Returns true if any symbol of this origin names code. */
bool symbols_has(const struct symbols *t, enum symbol_origin origin);

#endif
