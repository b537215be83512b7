/*
 * V8's position tables, 9.4 to 14.6: from an offset in code to functions and positions in their scripts.
 *
 *	struct javascript_level levels[JAVASCRIPT_LEVELS];
 *
 *	n = javascript_levels(&code, offset, levels);	// innermost first
 *
 * offset: as in javascript.h, lang_mark.at. The tables come from a process and may be cut or damaged.
 *
 * Sources: src/codegen/source-position-table.cc, src/codegen/source-position.h,
 * src/baseline/bytecode-offset-iterator.h, src/interpreter/bytecode-array-iterator.cc.
 */
#ifndef CPROF_JAVASCRIPT_POSITIONS_H
#define CPROF_JAVASCRIPT_POSITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/slice.h"

enum { JAVASCRIPT_LEVELS = 32 };

/* The parts of struct lang_code. lengths: of lang_image, 3 × bytecodes bytes; empty: unknown. */
struct javascript_code {
	uint32_t version;
	bool baseline;
	struct slice positions, inlinings, offsets, bytecodes, lengths;
};

struct javascript_level {
	int32_t function; /* index among inlined functions; JAVASCRIPT_OWN: the code's own */
	uint32_t position; /* in the script, in UTF-16 units; JAVASCRIPT_NOWHERE: unknown */
};

#define JAVASCRIPT_OWN (-1)
#define JAVASCRIPT_NOWHERE UINT32_MAX

/*
 * Fills levels, the code's own function last. Returns their number, at least 1. With more than
 * JAVASCRIPT_LEVELS, the ones before the last are left out.
 */
int javascript_levels(const struct javascript_code *c, uint32_t offset,
		      struct javascript_level levels[static JAVASCRIPT_LEVELS]);

/* Finds the bytecode of this offset in Sparkplug's code. Returns false if it has none, as in the prologue. */
bool javascript_bytecode_at(const struct javascript_code *c, uint32_t offset, uint32_t *bytecode);

#endif
