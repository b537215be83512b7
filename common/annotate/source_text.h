/*
 * Finds and reads source files whose names come from captures or from debug information: untrusted both.
 *
 *	struct source_rules rules;
 *	struct source_text text = { 0 };
 *
 *	if (!source_rules_init(&rules, dirs, n_dirs, symfs, true)) ...cannot open rules.failed...
 *	why = source_text_read(&text, &rules, path, &origin, &code);
 *	if (why == SOURCE_TEXT_READ)
 *		...source_text_line(&text, 23)...
 *	else
 *		...source_text_why(why)...
 *	source_text_release(&text);
 *	source_rules_release(&rules);
 *
 * A source is looked for below each directory that the user named: its path there, then the path without its
 * first folder, and so on to the file name alone. Links cannot lead out of such a directory. Then the file is
 * opened at its path, but only in these cases:
 *
 * - Debug information of a trusted file names it (line_files.h), its name ends as that of a source does, and
 *   it belongs to the owner of that file, or that is root, or it belongs to root and everyone can read it.
 *   Otherwise a program of one user could name another's secrets, and a page would publish them.
 * - It is the script of an interpreter, or a file without a build ID names it, and the text is not published.
 *
 * Only regular files of at most SOURCE_BYTES_MOST bytes without a NUL are read.
 */
#ifndef CPROF_ANNOTATE_SOURCE_TEXT_H
#define CPROF_ANNOTATE_SOURCE_TEXT_H

#include "common/annotate/line_sums.h"
#include "common/base/buf.h"

enum { SOURCE_BYTES_MOST = 16 << 20, SOURCE_DIRS_MOST = 64 };

enum source_text_result {
	SOURCE_TEXT_READ,
	SOURCE_TEXT_NO_NAME, /* the debug information names no file */
	SOURCE_TEXT_ABSENT,
	SOURCE_TEXT_UNTRUSTED, /* it was not looked for at its path: see above */
	SOURCE_TEXT_NOT_OWNER, /* the owner rule */
	SOURCE_TEXT_PERMISSION,
	SOURCE_TEXT_NOT_REGULAR,
	SOURCE_TEXT_TOO_LARGE,
	SOURCE_TEXT_NOT_TEXT,
	SOURCE_TEXT_NO_MEMORY,
};

struct source_rules {
	const char *const *dirs;
	int handles[SOURCE_DIRS_MOST];
	size_t n;
	int tree;	    /* --symfs: paths are below it; -1: none */
	bool published;	    /* the text goes into a page */
	const char *failed; /* the directory that cannot be opened */
};

struct source_text {
	struct buf bytes;
	uint32_t *lines; /* offset of each line's first byte */
	size_t n_lines, cap_lines;
	struct buf path; /* as it was opened */
	int64_t written; /* seconds since 1970 of the last write */
};

/* The directories are lent. Returns false and sets failed, with errno, if one cannot be opened. */
bool source_rules_init(struct source_rules *r, const char *const *dirs, size_t n, const char *symfs,
		       bool published);
void source_rules_release(struct source_rules *r);
/* Reads the file, in place of what text held. origin: who names the file; code: the file in origin->mapping.
 */
enum source_text_result source_text_read(struct source_text *text, const struct source_rules *r,
					 struct slice path, const struct source_origin *origin,
					 const struct code_origin *code);
void source_text_release(struct source_text *text);
/* Returns a line without its end, empty if there is none. line: from 1 on. */
struct slice source_text_line(const struct source_text *text, uint32_t line);
/* Returns why, as the end of a sentence: "it is not here". */
const char *source_text_why(enum source_text_result why);
/* Appends a line as plain text: tabs become spaces, other control characters "?"; cut after most bytes. */
void source_text_plain(struct buf *out, struct slice line, size_t most);

#endif
