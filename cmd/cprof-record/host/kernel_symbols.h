/*
 * Kernel symbols for sampled addresses, from /proc/kallsyms and /proc/modules.
 *
 *	struct kernel *k = kernel_new();
 *	struct kernel_symbol s;
 *
 *	if (kernel_symbol(k, address, &s))
 *		...s.name, s.module, s.address <= address < s.address + s.size...
 *	else if (kernel_why(k))
 *		...report once why there are no names at all...
 *	kernel_free(k);
 *
 * The first lookup reads /proc/kallsyms. The kernel formats 120,000 lines for that, which costs 45 to 60 ms
 * of CPU; our part costs 5 to 10 ms. The table takes 5 MB until kernel_forget drops it; the next lookup reads
 * it again. So look up each address once and keep the result. common/resolve/kallsyms.h describes which
 * symbol an address gets, and where a symbol ends.
 */
#ifndef CPROF_RECORD_HOST_KERNEL_SYMBOLS_H
#define CPROF_RECORD_HOST_KERNEL_SYMBOLS_H

#include "common/resolve/kallsyms.h"

struct kernel;

/* Returns NULL if out of memory. */
struct kernel *kernel_new(void);
/* The same for other files, used by tests. The paths must stay valid until kernel_free. */
struct kernel *kernel_new_over(const char *kallsyms, const char *modules);
void kernel_free(struct kernel *k);

/*
 * Finds the symbol that contains address. For a return address, pass the address minus one. Returns false if
 * there is none. The slices in out are valid until the next call that reads or changes the table. Modules
 * loaded later are noticed: the table is read again when /proc/modules has changed. That is checked at most
 * once a second, and only for addresses outside the kernel proper.
 */
bool kernel_symbol(struct kernel *k, uint64_t address, struct kernel_symbol *out);
/*
 * Returns one sentence that says why there are no names and names the sysctl or the capability. Returns NULL
 * if there are names, or before the first lookup.
 */
const char *kernel_why(const struct kernel *k);
/* Drops the table; the next lookup reads it again. Symbols from kernel_add stay. */
void kernel_forget(struct kernel *k);

/*
 * Adds code that PERF_RECORD_KSYMBOL announces: BPF programs, trampolines. It takes precedence over kallsyms
 * and replaces earlier additions that it overlaps. Returns false if out of memory.
 */
bool kernel_add(struct kernel *k, uint64_t address, uint64_t size, struct slice name);
/* Finds the added symbol that contains address. */
bool kernel_added(const struct kernel *k, uint64_t address, struct kernel_symbol *out);
/* Removes added symbols in this range, and those that kallsyms listed there. */
void kernel_remove(struct kernel *k, uint64_t address, uint64_t size);

/* Appends the running kernel's build ID, raw bytes, from /sys/kernel/notes. */
bool kernel_build_id(struct buf *id);

/*
 * Returns the address of the symbol _stext in the running kernel, or 0 if it is hidden. Readers compare it
 * with the kernel's files to learn how far the kernel was moved. It comes from the first lines of kallsyms
 * or, if kallsyms hides it, from the notes of /proc/kcore.
 */
uint64_t kernel_stext(const char *kallsyms, const char *kcore);

#endif
