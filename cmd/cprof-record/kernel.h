/*
 * The kernel's symbols, for the addresses that samples touch.
 *
 *	struct kernel *k = kernel_new();
 *	struct kernel_symbol s;
 *
 *	if (kernel_symbol(k, address, &s))
 *		...s.name, s.module, s.address <= address < s.address + s.size...
 *	else if (kernel_why(k))
 *		...said once: why there are no names at all...
 *	kernel_free(k);
 *
 * /proc/kallsyms is read at the first need: the kernel formats 120,000 lines for it, which costs 45 to
 * 60 ms of CPU, our part 5 to 10. What stays takes 14 bytes a symbol and its name, 5 MB in all;
 * kernel_forget drops it until the next need. So ask once for each address, and remember.
 *
 * Which name: only code counts (types t T w W). Of several at one address the first by: a function
 * before a label of the linker's (_stext, __irqentry_text_start, …) and before __pfx_, __cfi_ and
 * __pi_ names; global before weak before local; fewer leading underscores; not SyS_ or compat_SyS_;
 * the longest; the first in the alphabet. Mapping symbols ($x, .L…) are no names.
 *
 * How far: to the next symbol, but not beyond the kernel's text (_etext) or the module's end. Code of
 * __init, freed at boot, has no names. Addresses in between have none: they are unknown, not the
 * function before.
 */
#ifndef CPROF_RECORD_KERNEL_H
#define CPROF_RECORD_KERNEL_H

#include "common/base/buf.h"

struct kernel;

struct kernel_symbol {
	uint64_t address, size; /* address <= looked up < address + size */
	struct slice name;      /* lent until the next call on the same object */
	struct slice module;    /* "[ext4]", "[bpf]", as in kallsyms; empty: the kernel proper */
};

/* NULL without memory. */
struct kernel *kernel_new(void);
/* The same over other files, for tests. The paths are lent. */
struct kernel *kernel_new_over(const char *kallsyms, const char *modules);
void kernel_free(struct kernel *k);

/*
 * The symbol that address lies in. The caller gives the address to look up: one back for a return
 * address. Modules that were loaded since are noticed (/proc/modules has changed; looked at once a
 * second at most, and only for addresses outside of the kernel proper).
 */
bool kernel_symbol(struct kernel *k, uint64_t address, struct kernel_symbol *out);
/*
 * Why there are no names, as one sentence that names the sysctl or the capability; NULL where there
 * are some, or nobody has asked yet.
 */
const char *kernel_why(const struct kernel *k);
/* Drops the table; it is read again at the next need. What kernel_add said stays. */
void kernel_forget(struct kernel *k);

/*
 * Code that came later, as PERF_RECORD_KSYMBOL tells: BPF programs, trampolines. It goes before what
 * kallsyms says, and replaces what was added there before. False without memory.
 */
bool kernel_add(struct kernel *k, uint64_t address, uint64_t size, struct slice name);
/* It went; also what kallsyms had listed in that place. */
void kernel_remove(struct kernel *k, uint64_t address, uint64_t size);

/* Appends the running kernel's build ID, raw bytes. */
bool kernel_build_id(struct buf *id);

#endif
