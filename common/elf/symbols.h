/*
 * The functions of an ELF file as disjoint intervals: one look-up finds the right name.
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
 * Names stay where they are, in the mapped file (see mapped.h for what happens when it shrinks), and are copied
 * when they are asked for. Of all there are checksums since the tables were read, so a file that is
 * written to afterwards gives the names it had or none. That it was not written to while the tables were
 * being read is seen by its size and times; see symbols_damaged.
 *
 * What may be a name: FUNC, GNU_IFUNC, NOTYPE and OBJECT symbols that lie in a section which is
 * loaded and executable. Not undefined, absolute and common ones, not sections, files and
 * thread-local variables, not the mapping symbols $a, $d, $t, $x.
 *
 * Which one names an address:
 * 1. Of the symbols with a size that cover it, the one that begins last; of those the one that
 *    ends first. So the innermost, and after its end the one around it again. A symbol ends at its
 *    section's end at the latest, and beyond its end it names nothing.
 * 2. Of several with the same range: .symtab before .dynsym before a PLT stub; global before weak
 *    before local; function before label before object; then by prefer.h:
 *    fewer leading underscores; the shorter name; the lower bytes. The order of the tables does not matter.
 * 3. Where none covers it, a symbol without a size that lies in none: from .symtab it reaches to the
 *    next symbol or to the section's end, from .dynsym (which is sparse) it names its first byte only.
 */
#ifndef CPROF_ELF_SYMBOLS_H
#define CPROF_ELF_SYMBOLS_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"

#define SYMBOL_NONE UINT32_MAX

enum {
	SYMBOLS_SYMTAB = 1,
	SYMBOLS_DYNAMIC = 2,  /* .dynsym; on x86-64 also the stubs of .plt, .plt.sec, .plt.got and .iplt */
	SYMBOLS_SEPARATE = 4, /* the file is a separate debug file: remembered as their origin */
	SYMBOLS_MINIDEBUG = 8, /* the same of one that was in .gnu_debugdata: behind .symtab, before .dynsym */
};

enum symbol_origin { ORIGIN_SYMTAB, ORIGIN_DYNSYM, ORIGIN_PLT, ORIGIN_DEBUG, ORIGIN_MINIDEBUG, ORIGINS };

enum { SYMBOL_NAME_MAX = 8192 }; /* bytes of a name; what is longer is cut */

/* What a look-up needs to keep of a symbol; all of it in one line of the CPU's cache. */
struct symbol {
	uint64_t start;
	uint32_t name;  /* offset in its string table */
	uint32_t tag;   /* a number that the caller may keep with it; 0 at first */
	uint8_t table;  /* which string table */
	uint8_t origin; /* enum symbol_origin */
};

struct symbols;

struct symbols *symbols_new(void);
void symbols_free(struct symbols *t);
/* Takes in the tables that what asks for. How many symbols that could name code, or -1 without memory. */
long symbols_add(struct symbols *t, const struct elf_file *f, unsigned int what);
/* Decides; to be called once, before any look-up. False without memory. */
bool symbols_settle(struct symbols *t);

uint32_t symbols_find(const struct symbols *t, uint64_t vaddr);
/*
 * The address will be looked for soon. What that reads hangs together, one pointer leading to the next, so each link is
 * to be asked for in its time: far ahead, then when it is nearly there.
 */
enum expectation { EXPECT_FAR, EXPECT_NEAR };
void symbols_expect(const struct symbols *t, uint64_t vaddr, enum expectation when);
/* Lent until the symbols are freed. */
struct symbol *symbols_get(struct symbols *t, uint32_t s);
/*
 * Replaces what is in out by the name, without a version ("@@GLIBC_2.4"), and without "@plt" for a stub. False: what
 * stands in the file is no longer what stood there, or no memory (out->failed).
 */
bool symbols_name(const struct symbols *t, uint32_t s, struct buf *out);
/* Did a file shrink or change while it was read? Then nothing of this is to be believed. */
bool symbols_damaged(const struct symbols *t);
/* Does some name in the string tables begin so, be it of a symbol that names code or of another? */
bool symbols_have_prefix(const struct symbols *t, const char *prefix);
/* Memory that it holds, about, pages of the file among it. */
size_t symbols_bytes(const struct symbols *t);
/* Was there any symbol of this origin? */
bool symbols_has(const struct symbols *t, enum symbol_origin origin);

#endif
