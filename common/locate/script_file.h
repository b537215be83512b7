/*
 * Finds the text of a script: its file as the process saw it, or the interpreter's file that contains it.
 *
 *	struct script_text text = { .path = path, .units = units };
 *	struct buf opened = { 0 };
 *
 *	status = script_file_ends(f, &text, &user, host, &opened, &ends);	// ends: of lines, u32 each
 *
 * A text is accepted if it has the recorded length. Files are untrusted.
 */
#ifndef CPROF_LOCATE_SCRIPT_FILE_H
#define CPROF_LOCATE_SCRIPT_FILE_H

#include "common/locate/finder.h"

enum { SCRIPT_UNITS_MOST = 256 << 20 };

struct script_ends {
	uint32_t *items; /* position of each line's last unit, ascending */
	size_t n, cap;
};

struct script_text {
	struct slice path; /* as the interpreter has it */
	uint64_t units;	   /* UTF-16 units */
	/* The file that contains the text; NULL: it is the script's path. */
	const struct module_identity *file;
	uint64_t address; /* linked */
	uint64_t width;	  /* 1: Latin-1, 2: UTF-16; 0: the address is not known, the symbol tells it */
};

/*
 * Finds where lines end. Returns SOURCE_OK, or why not: SOURCE_CHANGED for a text of another length,
 * SOURCE_NOT_A_FILE for a text that is in no file. user and host: as in struct module_identity.
 */
enum source_status script_file_ends(struct finder *f, const struct script_text *text,
				    const struct module_user *user, enum identity_host host, struct buf *opened,
				    struct script_ends *ends);
/* Returns the line of a position, from 1 on. */
uint32_t script_line(const struct script_ends *ends, uint64_t position);
/*
 * Finds the lines' ends of a text in UTF-8, or of units of 1 or 2 bytes. Sets *units to its length in UTF-16
 * units. Returns false if out of memory.
 */
bool script_utf8_ends(struct slice text, uint64_t *units, struct script_ends *ends);
bool script_unit_ends(struct slice text, uint64_t width, struct script_ends *ends);

#endif
