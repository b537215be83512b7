/* The parts of python_identify. Only for python*.c. */
#ifndef CPROF_PYTHON_INTERNAL_H
#define CPROF_PYTHON_INTERNAL_H

#include "common/lang/python.h"
#include "common/lang/runtime.h"

/* In python_offsets.c: fills image->at for this version. Returns false if its offsets are not known. */
bool python_offsets(const struct elf_file *f, struct lang_image *image);
/*
 * In python_tls.c: finds the thread-local variable that PyGILState_GetThisThreadState, which is at this
 * linked address, returns. Returns false if its code is not one of the known forms.
 */
bool python_tls(const struct elf_file *f, struct lang_image *image, uint64_t function);
/* In python_loops.c: finds the ranges of the loop, which begins at this linked address. */
bool python_loops(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *loop);
/*
 * In python_version.c: finds texts of the version in a file without Py_Version. Returns 0 or 0x030902 for
 * 3.9.2.
 */
uint32_t python_version(const struct elf_file *f);

#endif
