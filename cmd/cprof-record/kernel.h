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
 * 60 ms of CPU, our part 5 to 10. What stays takes 5 MB; kernel_forget drops it until the next need. So
 * ask once for each address, and remember. Which name an address has, and how far that reaches:
 * common/resolve/kallsyms.h.
 */
#ifndef CPROF_RECORD_KERNEL_H
#define CPROF_RECORD_KERNEL_H

#include "common/resolve/kallsyms.h"

struct kernel;

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
/* What was added and holds address. */
bool kernel_added(const struct kernel *k, uint64_t address, struct kernel_symbol *out);
/* It went; also what kallsyms had listed in that place. */
void kernel_remove(struct kernel *k, uint64_t address, uint64_t size);

/* Appends the running kernel's build ID, raw bytes. */
bool kernel_build_id(struct buf *id);

/*
 * The address of the symbol _stext in the running kernel, by which its files tell how far it was moved; 0: it is
 * hidden. Out of kallsyms, of which only the beginning is read; where that hides it, out of the notes of /proc/kcore.
 */
uint64_t kernel_stext(const char *kallsyms, const char *kcore);

#endif
