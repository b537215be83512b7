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
 * A symbol takes 14 bytes and its name, all of a kernel 5 MB.
 *
 * Which name: only code counts (types t T w W). Of several at one address the first by: a function
 * before a label of the linker's (_stext, __irqentry_text_start, …) and before __pfx_, __cfi_ and
 * __pi_ names; global before weak before local; then as prefer.h says. Mapping symbols ($x, .L…) are no names.
 *
 * How far: to the next symbol, but not beyond the kernel's text (_etext) or the module's end, where that is told;
 * else 64 kB. Code of __init, freed at boot, has names only with_init. Addresses in between have none:
 * they are unknown, not the function before.
 */
#ifndef CPROF_RESOLVE_KALLSYMS_H
#define CPROF_RESOLVE_KALLSYMS_H

#include "common/base/buf.h"

struct kernel_symbol {
	uint64_t address, size; /* address <= looked up < address + size */
	struct slice name;      /* lent until the next call on the same object */
	struct slice module;    /* "[ext4]", "[bpf]", as in kallsyms; empty: the kernel proper */
};

/* Zeroes are an empty one. */
struct kallsyms {
	/* By address; three arrays, because an array of structs would be half padding. */
	uint64_t *address;
	uint32_t *name;    /* offset in names of "Tname\0" behind the type letter */
	uint16_t *module;  /* 0: the kernel proper */
	size_t n, cap_address, cap_name, cap_module;
	struct buf names;
	struct kallsyms_module *modules; /* by number, 0 unused */
	size_t n_modules, cap_modules;
	uint64_t text, etext, init, init_end; /* bounds of the kernel proper */
	uint64_t stext; /* of the symbol _stext; 0: there is none */
	bool with_init; /* for the caller to set: names of __init are wanted, as of a boot that was recorded */
	size_t lines;   /* that were symbols, also those with hidden addresses: with lines and no n, all were */
};

/* Reads all lines; others than symbols' are passed over. False: errno. */
bool kallsyms_read(struct kallsyms *t, int fd);
/* Where the memory of a module ends, by its name without brackets. */
void kallsyms_module_end(struct kallsyms *t, struct slice name, uint64_t end);
bool kallsyms_find(const struct kallsyms *t, uint64_t address, struct kernel_symbol *out);
/* Code of modules and BPF programs there is gone; the kernel proper stays. */
void kallsyms_remove(struct kallsyms *t, uint64_t address, uint64_t size);
void kallsyms_release(struct kallsyms *t);

#endif
