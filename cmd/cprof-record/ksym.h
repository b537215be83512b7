/*
 * Names of kernel addresses: asked of the kernel one by one where it answers (bpf/ksym.bpf.c), else
 * looked up in /proc/kallsyms (kernel.c): 50 ms, and 5 MB that stay only where the kernel answers nothing at all.
 */
#ifndef CPROF_RECORD_KSYM_H
#define CPROF_RECORD_KSYM_H

#include "cmd/cprof-record/engine.h"
#include "cmd/cprof-record/kernel.h"

struct ksym;

/* NULL without memory. use_bpf: whether BPF may be tried at all. */
struct ksym *ksym_new(bool use_bpf);
void ksym_free(struct ksym *k);
/* Slices in out are lent until the next call. */
bool ksym_find(struct ksym *k, uint64_t address, struct kernel_symbol *out);
/* As kernel_add and kernel_remove; where the kernel is asked it knows what was added. */
void ksym_add(struct ksym *k, uint64_t address, uint64_t size, struct slice name);
void ksym_remove(struct ksym *k, uint64_t address, uint64_t size);
/* Where the idle loop waits; zeros where that cannot be known. */
void ksym_idle(struct ksym *k, struct idle_ranges *idle);
/* The address of _stext, asked for once; 0: it is hidden. */
uint64_t ksym_stext(struct ksym *k);
/* Why there are no names, or NULL. */
const char *ksym_why(const struct ksym *k);

#endif
