/* The parts of javascript_identify. Only for javascript*.c. */
#ifndef CPROF_JAVASCRIPT_INTERNAL_H
#define CPROF_JAVASCRIPT_INTERNAL_H

#include "common/lang/javascript.h"
#include "common/lang/runtime.h"

/*
 * In javascript_offsets.c: fills image->at from the file's metadata. Returns false if it has none. *complete:
 * all offsets are known, and of a layout that is.
 */
bool javascript_offsets(const struct elf_file *f, struct lang_image *image, bool *complete);
/* In javascript_builtins.c: finds the ranges of the builtins, and the lengths of bytecodes. */
void javascript_builtins(const struct elf_file *f, struct lang_image *image);

#endif
