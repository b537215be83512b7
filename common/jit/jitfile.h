/*
 * Reads jitdump files, in which JIT compilers record each piece of code, as perf specified them.
 *
 *	struct jitfile f = { 0 };
 *	struct jitfile_code code;
 *
 *	...read bytes from f.offset on, at least JITFILE_NEEDS of them if the file has as many...
 *	while ((got = jitfile_next(&f, bytes, at, &code)) == JITFILE_CODE)
 *		...code.name, code.address, at code.time...
 *
 * A header is followed by records with a length each. Loads, moves and the close are returned; line tables
 * and the bytes of the code are skipped. Unwind information precedes the load of its code, and is returned
 * with it, as a place in the file. The file may grow while it is read: an incomplete record is requested
 * again. A record that contradicts itself is skipped; one that hides the start of the next ends the file.
 */
#ifndef CPROF_JIT_JITFILE_H
#define CPROF_JIT_JITFILE_H

#include "common/base/cursor.h"
#include "common/jit/perfmap.h"

enum { JITFILE_NEEDS = 56 + PERFMAP_NAME_MAX }; /* bytes from f.offset on that are enough for any record */

/* Bytes of the file; n is 0 if there are none. */
struct jitfile_part {
	uint64_t at, n;
};

struct jitfile {
	uint64_t offset;  /* in the file: all before it is done */
	bool begun;       /* the header was read */
	bool arch_times;  /* times are of another clock than CLOCK_MONOTONIC */
	uint32_t pid;     /* from the header, in the process's own PID namespace */
	struct jitfile_part unwinding; /* for the next load */
	const char *why;  /* after JITFILE_BAD, a sentence */
};

struct jitfile_code {
	uint64_t time, address, size, old;
	uint64_t kind;     /* enum jitcode_kind */
	struct slice name; /* lent, in the given bytes */
	struct jitfile_part unwinding; /* for a load: its .eh_frame */
};

enum jitfile_got { JITFILE_CODE, JITFILE_MORE, JITFILE_BAD };

/*
 * Returns the next piece of code in bytes, which begin at file offset `at`, not beyond f->offset.
 * JITFILE_MORE: more bytes are needed to decide. JITFILE_BAD: the file is unusable, and f->why says why.
 */
enum jitfile_got jitfile_next(struct jitfile *f, struct slice bytes, uint64_t at, struct jitfile_code *code);

#endif
