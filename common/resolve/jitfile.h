/*
 * Jitdump files: what a JIT compiler writes of each piece of code, as perf specified it.
 *
 *	struct jitfile f = { 0 };
 *	struct jitfile_code code;
 *
 *	...read bytes from f.offset on, at least JITFILE_NEEDS of them where the file has as many...
 *	while ((got = jitfile_next(&f, bytes, at, &code)) == JITFILE_CODE)
 *		...code.name, code.address, at code.time...
 *
 * A header, then records with a length each. Loads, moves and the end are taken out; line tables and unwinding
 * information are passed over, and so are the bytes of the code, unread. The file may grow while it is read: what
 * is not whole yet is asked for again. A record that contradicts itself is passed over, one that hides where the
 * next one begins ends the file.
 */
#ifndef CPROF_RESOLVE_JITFILE_H
#define CPROF_RESOLVE_JITFILE_H

#include "common/base/cursor.h"
#include "common/resolve/perfmap.h"

enum { JITFILE_NEEDS = 56 + PERFMAP_NAME_MAX }; /* bytes from f.offset that decide about any record */

struct jitfile {
	uint64_t offset;  /* in the file: all before it is done */
	bool begun;       /* the header was read */
	bool arch_times;  /* times are of another clock than CLOCK_MONOTONIC */
	uint32_t pid;     /* as the header says, in the process's own namespace */
	const char *why;  /* after JITFILE_BAD, a sentence */
};

struct jitfile_code {
	uint64_t time, address, size, old;
	uint64_t kind;     /* enum jitcode_kind */
	struct slice name; /* lent, of the bytes given */
};

enum jitfile_got { JITFILE_CODE, JITFILE_MORE, JITFILE_BAD };

/*
 * The next piece of code in bytes that begin at this offset of the file, which is not beyond f->offset. More: they
 * end before it is known what comes next.
 */
enum jitfile_got jitfile_next(struct jitfile *f, struct slice bytes, uint64_t at, struct jitfile_code *code);

#endif
