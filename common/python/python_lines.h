/*
 * Lines of CPython's functions, by the tables of their code objects: co_lnotab up to 3.9, co_linetable from
 * 3.10 on.
 *
 *	uint32_t line;
 *
 *	if (python_line(0x030b02, table, first_line, offset, &line))
 *		...
 *
 * version: as in struct lang_image. offset: the BPF programs' position. Since 3.11, bytes from the start of
 * the bytecode; before, the frame's f_lasti. In 3.10, f_lasti counts code units of two bytes.
 *
 * Returns false if the position has no line, and after the end of a table that was cut at LANG_TABLE bytes.
 *
 * Sources: Objects/lnotab_notes.txt of 3.9 and 3.10; Objects/locations.md of 3.11,
 * InternalDocs/code_objects.md of 3.14.
 */
#ifndef CPROF_PYTHON_LINES_H
#define CPROF_PYTHON_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/slice.h"

bool python_line(uint32_t version, struct slice table, uint32_t first_line, uint32_t offset, uint32_t *line);

#endif
