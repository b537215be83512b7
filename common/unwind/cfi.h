/*
 * Call frame information, .eh_frame and .debug_frame: entries that say how the frames of a range of addresses
 * are unwound. Only for this directory.
 *
 * Sources: DWARF 5 6.4.1 and 7.24; LSB 5.0 core 10.6.1 for .eh_frame.
 */
#ifndef CPROF_UNWIND_CFI_H
#define CPROF_UNWIND_CFI_H

#include "common/elf/encoded.h"
#include "common/unwind/functions.h"
#include "common/elf/unwind_sections.h"
#include "common/unwind/spans.h"

struct cfi {
	struct section section;
	enum span_source source; /* SPAN_EH_FRAME or SPAN_DEBUG_FRAME: the two differ in little */
	struct encoded_bases bases;
	const struct code_map *code;
	size_t functions, bad; /* incremented */
};

/* Adds the section's spans; damage is only counted. Returns false if out of memory. */
bool cfi_spans(struct cfi *cfi, struct spans *s);
/* Adds only the ranges, in the section's order, as linked addresses. Returns false if out of memory. */
bool cfi_functions(struct cfi *cfi, struct function_list *l);
/* Returns the bases that pointers in a section of this file may be relative to. */
struct encoded_bases cfi_bases(const struct elf_file *f, const struct section *section);

#endif
