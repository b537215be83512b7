/*
 * The files here that the code of a capture came from: names and lines of its addresses, and how far the
 * paths in its debug information may be believed.
 *
 *	struct line_files files;
 *
 *	line_files_init(&files, &options);
 *	collect.note_file = line_files_note;	// see export/collect.h
 *	collect.note_context = &files;
 *	...all captures are read...
 *	n = line_files_levels(&files, &traces, location, &levels);
 *	line_files_release(&files);
 *
 * A capture chooses the paths of its files, and debug information the paths of its sources. So a file here
 * vouches for its sources (CODE_TRUSTED) only if it has the recorded build ID and was found at its path, not
 * in another process's root. A container may hold any file.
 */
#ifndef CPROF_ANNOTATE_LINE_FILES_H
#define CPROF_ANNOTATE_LINE_FILES_H

#include <sys/types.h>

#include "common/export/traces.h"
#include "common/locate/finder.h"
#include "common/resolve/modules.h"

enum code_trust {
	CODE_UNKNOWN = 0,
	CODE_NONE = 1,	  /* no such file is here, or it is in another root */
	CODE_BY_PATH = 2, /* only its path identifies it: no build ID was recorded */
	CODE_TRUSTED = 3, /* it has the recorded build ID */
};

/* The file of one mapping of the traces. */
struct line_file {
	struct module_identity is; /* its slices are texts; path is empty if the mapping has no file */
	uint32_t module;	   /* number in modules, plus 1; 0: not looked for yet */
};

/* A module, once someone has asked for its trust. */
struct code_origin {
	enum code_trust trust;
	uid_t owner;	 /* user ID; valid if the file is here */
	int64_t written; /* seconds since 1970 of its last write; 0: unknown */
};

struct line_files {
	struct modules *modules;
	struct finder finder;
	struct intern texts;
	struct line_file *files;     /* by mapping */
	struct code_origin *origins; /* by module */
	size_t cap_files, cap_origins;
};

/* A place in code, as a file's offset. */
struct code_place {
	uint32_t mapping;
	uint64_t offset;
};

/* Takes what the options point to until line_files_release. Returns false if out of memory. */
bool line_files_init(struct line_files *f, const struct modules_options *options);
void line_files_release(struct line_files *f);
/* For collect.note_file; context is a struct line_files. */
bool line_files_note(void *context, uint32_t mapping, const struct module_identity *is);
/* Returns false if the location is not in a file. */
bool line_files_place(struct line_files *f, const struct traces *s, uint32_t location,
		      struct code_place *place);
/*
 * Returns the number of levels of a place by debug information (inline_chain.h), 0 if there is none, -1 if
 * out of memory. The levels are lent until the next call; their texts are those of f->modules.
 */
long line_files_levels(struct line_files *f, const struct code_place *place, const struct level **levels);
/* Returns 1 if the place has a symbol, 0 if not, -1 if out of memory. name->offset is from the function's
 * start. */
int line_files_name(struct line_files *f, const struct code_place *place, struct module_name *name);
/* Returns the trust and facts of the mapping's file; CODE_NONE if it is not here. */
struct code_origin line_files_origin(struct line_files *f, uint32_t mapping);
/*
 * Opens the file of a mapping, as cprof-sym finds and checks it. Sets *opened to its path, or to the one that
 * the reason is about. The caller closes *file, which is NULL after a failure.
 */
enum source_status line_files_open(struct line_files *f, uint32_t mapping, struct elf_file **file,
				   struct buf *opened);

#endif
