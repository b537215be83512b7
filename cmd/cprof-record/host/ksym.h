/*
 * Names of kernel addresses. The kernel names them one by one if it can (bpf/ksym.bpf.c). Otherwise they are
 * looked up in /proc/kallsyms (kernel_symbols.h): that takes 50 ms, and 5 MB that stay allocated only if the kernel
 * can name nothing at all.
 */
#ifndef CPROF_RECORD_HOST_KSYM_H
#define CPROF_RECORD_HOST_KSYM_H

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/kernel_symbols.h"

struct ksym;

/* Returns NULL if out of memory. use_bpf: try BPF at all. */
struct ksym *ksym_new(bool use_bpf);
void ksym_free(struct ksym *k);
/* Returns false if the address has no name. The slices in out are valid until the next call. */
bool ksym_find(struct ksym *k, uint64_t address, struct kernel_symbol *out);
/* As kernel_add and kernel_remove. With BPF, ksym_add does nothing: the kernel knows its own symbols. */
void ksym_add(struct ksym *k, uint64_t address, uint64_t size, struct slice name);
void ksym_remove(struct ksym *k, uint64_t address, uint64_t size);
/* Finds the address ranges of the idle loop; they are 0 if unknown. */
void ksym_idle(struct ksym *k, struct idle_ranges *idle);
/* Returns the address of _stext, looked up once; 0: it is hidden. */
uint64_t ksym_stext(struct ksym *k);
/* Returns why there are no names, or NULL. */
const char *ksym_why(const struct ksym *k);

#endif
