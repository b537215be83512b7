/*
 * Compiled code of languages, as the BPF programs have sent it: from a position in it to the functions that
 * run there, inlined ones first.
 *
 *	lang_codes_take(cs, code);	// struct lang_code, by bpf_lang_drain
 *	n = lang_codes_levels(cs, id, position, levels);	// of a mark
 *
 * Code is interned by its contents, as functions are.
 */
#ifndef CPROF_RECORD_LANG_CODES_H
#define CPROF_RECORD_LANG_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/lang/lang.h"

enum { LANG_LEVELS = 32 }; /* most functions of one place in code; outer ones are dropped */

/* A function that runs at a place. All but the last one of a place are inlined. */
struct lang_level {
	uint32_t function; /* id of the programs; 0: the code's own; or LEVEL_STATE */
	uint32_t position; /* in the function, as the language has it; LEVEL_STATE: an enum lang_state */
};
#define LEVEL_STATE UINT32_MAX

struct code {
	uint32_t language, tier;
	uint32_t parts[7];
	struct slice bytes;
};

struct level_cache; /* decoded places of JavaScript */

struct lang_codes {
	struct code *items;
	size_t n, cap;
	struct intern keys; /* contents to index */
	struct idmap by_id; /* id of the programs to index */
	const struct lang_image *images; /* lent: LANG_IMAGES of them */
	struct level_cache *cache;	 /* NULL: nothing is cached */
};

/* As FUNCTIONS_BYTES and FUNCTIONS_IDS of script_functions.h. */
enum { CODES_BYTES = 32 << 20, CODES_IDS = 1 << 19 };

void lang_codes_init(struct lang_codes *cs, const struct lang_image *images);
void lang_codes_release(struct lang_codes *cs);
void lang_codes_clear(struct lang_codes *cs);
bool lang_codes_full(const struct lang_codes *cs);
void lang_codes_take(struct lang_codes *cs, const struct lang_code *code);
/*
 * Fills levels with the functions at a position, innermost first. Returns their number; 0: the code is not
 * known, or says nothing of this position. *tier: enum lang_tier of common/stream/record_values.h.
 */
int lang_codes_levels(const struct lang_codes *cs, uint32_t id, uint32_t position,
		      struct lang_level levels[static LANG_LEVELS], uint32_t *tier);

/* In lang_codes_javascript.c: the same for V8's code of this index among the items. */
int lang_codes_javascript(const struct lang_codes *cs, uint32_t at, uint32_t position,
			  struct lang_level levels[static LANG_LEVELS]);
struct level_cache *level_cache_new(void); /* NULL: out of memory */
void level_cache_free(struct level_cache *c);

#endif
