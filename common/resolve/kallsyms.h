/*
 * Kernel symbols from text: /proc/kallsyms, a copy of it, or a System.map.
 *
 *	struct kallsyms t = { 0 };
 *	struct kernel_symbol s;
 *
 *	if (!kallsyms_read(&t, fd))
 *		...errno...
 *	if (kallsyms_find(&t, address, &s))
 *		...s.name, s.module, s.address <= address < s.address + s.size...
 *	kallsyms_release(&t);
 *
 * A symbol takes 14 bytes plus its name; a whole kernel takes 5 MB.
 *
 * Choice of names: only code counts (types t T w W). At one address, a function wins over a linker's label
 * (_stext, __irqentry_text_start, …) and over __pfx_, __cfi_ and __pi_ names; then global over weak over
 * local; then prefer.h decides. Mapping symbols ($x, .L…) are ignored.
 *
 * Extent of a symbol: to the next symbol, but not beyond the kernel's text (_etext) or the module's end if
 * that is known, else 64 kB. Code of __init, freed at boot, has names only with with_init. Addresses in
 * between are unknown; they do not belong to the function before.
 */
#ifndef CPROF_RESOLVE_KALLSYMS_H
#define CPROF_RESOLVE_KALLSYMS_H

#include "common/base/buf.h"

struct kernel_symbol {
	uint64_t address, size; /* address <= looked up < address + size */
	struct slice name;      /* lent until the next call on the same object */
	struct slice module;    /* "[ext4]", "[bpf]", as in kallsyms; empty: the kernel proper */
};

/* A zeroed object is empty. */
struct kallsyms {
	/* Sorted by address; three arrays, because an array of structs would be half padding. */
	uint64_t *address;
	uint32_t *name;    /* offset in names, after the type letter of "Tname\0" */
	uint16_t *module;  /* 0: the kernel proper */
	size_t n, cap_address, cap_name, cap_module;
	struct buf names;
	struct kallsyms_module *modules; /* by number, 0 unused */
	size_t n_modules, cap_modules;
	uint64_t text, etext, init, init_end; /* bounds of the kernel proper */
	uint64_t stext; /* address of _stext; 0: there is none */
	bool with_init; /* set by the caller: name __init code, for a recorded boot */
	size_t lines;   /* lines with a symbol; if n is 0, all their addresses were hidden */
};

/* Reads all lines, and skips those without a symbol. Returns false and sets errno on failure. */
bool kallsyms_read(struct kallsyms *t, int fd);
/* Sets the end of a module's memory; name is without brackets. */
void kallsyms_module_end(struct kallsyms *t, struct slice name, uint64_t end);
/* Finds the symbol that contains the address. Returns false if there is none. */
bool kallsyms_find(const struct kallsyms *t, uint64_t address, struct kernel_symbol *out);
/* Removes the code of modules and BPF programs in this range; the kernel proper stays. */
void kallsyms_remove(struct kallsyms *t, uint64_t address, uint64_t size);
void kallsyms_release(struct kallsyms *t);

#endif
