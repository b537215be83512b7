/* The parts of ruby_identify. Only for ruby*.c. */
#ifndef CPROF_RUBY_INTERNAL_H
#define CPROF_RUBY_INTERNAL_H

#include "common/lang/ruby.h"
#include "common/lang/runtime.h"

/*
 * In ruby_tls.c: finds where a thread keeps its execution context. symbol: of ruby_current_ec, or
 * NULL. Returns false if the file does not show it.
 */
bool ruby_tls(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *symbol);
/*
 * In ruby_loops.c: finds the ranges of the loop; symbol: of vm_exec_core, or NULL. Without a loop
 * there are none.
 */
void ruby_loops(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *symbol);

#endif
