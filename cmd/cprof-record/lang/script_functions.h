/*
 * Functions of interpreted languages, as the BPF programs have sent them: from the ids of samples to names
 * and lines.
 *
 *	script_functions_take(fs, f, place);	// struct lang_function, by bpf_lang_drain
 *	at = script_functions_at(fs, frame);	// of a sample: the function and its line, as one number
 *
 * Functions are interned by their contents. A function that is sent again, or runs in many processes, is
 * stored once.
 */
#ifndef CPROF_RECORD_LANG_SCRIPT_FUNCTIONS_H
#define CPROF_RECORD_LANG_SCRIPT_FUNCTIONS_H

#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/lang/lang.h"

#define SCRIPT_AT ((1u << 26) - 1)
#define SCRIPT_TIER_SHIFT 26
#define SCRIPT_INLINED (1u << 29)

struct function {
	uint32_t language, version, script; /* script: id among the paths */
	uint32_t line, flags;
	uint32_t start, end; /* positions in the script, if not equal */
	struct slice name, lines; /* lines: the table of its language; may be cut */
	/* Its id in the stream's segment. */
	uint32_t segment;
	uint64_t id;
};

/* Where the text of a script is in a file. */
struct script_place {
	uint32_t file; /* index of an executable + 1; 0: the text is in the path */
	uint32_t width, image; /* bytes of a unit; the executable's image */
	uint64_t offset;
};

struct script {
	uint32_t language, units;
	struct slice path;
	struct script_place place;
	uint32_t segment;
	uint64_t id;
};

struct script_functions {
	struct function *items;
	size_t n, cap;
	struct script *scripts;
	size_t n_scripts, cap_scripts;
	struct intern keys, script_keys; /* contents to index */
	struct idmap by_id;		 /* id of the programs to index */
	struct buf scratch, path;
	uint64_t taken,
		lost; /* functions that were sent; those that found no memory, or were beyond the limits */
};

/*
 * Beyond these limits, all functions are forgotten at the next segment, and those that still run are sent
 * again. Until then, functions are taken up to twice these limits; further ones are lost.
 */
enum { FUNCTIONS_BYTES = 32 << 20, FUNCTIONS_IDS = 1 << 19 };

void script_functions_init(struct script_functions *fs);
void script_functions_release(struct script_functions *fs);
/* Forgets all functions. Frames of the stream that refer to them must have been written. */
void script_functions_clear(struct script_functions *fs);
/* Returns true beyond the limits. */
bool script_functions_full(const struct script_functions *fs);
/* place: of the script's text. */
void script_functions_take(struct script_functions *fs, const struct lang_function *f, struct script_place place);
/* Returns false if the record of this id was lost. */
bool script_functions_has(const struct script_functions *fs, uint32_t id);
/*
 * Returns the function and the line of a sample's frame: index + 1 in bits 32 to 61, line in bits 0 to 31;
 * without a function, the frame's position as it is.
 *
 * For languages whose frames are machine frames (lang_is_walked), the line is in bits 0 to 25 only, or for
 * JavaScript the position plus 1; the tier is in bits 26 to 28, and bit 29 marks an inlined function.
 */
uint64_t script_functions_at(const struct script_functions *fs, uint64_t frame);

#endif
