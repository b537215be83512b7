/*
 * Parts of files that are mapped, or copied if small, and that may shrink or change meanwhile.
 *
 *	mapped_guard();				// once, in main: installs a handler for SIGBUS
 *	struct mapped m;
 *
 *	if (!mapped_open(&m, fd, offset, n))	// the descriptor may be closed afterwards
 *		...the file has fewer bytes, or out of memory...
 *	...m.p, m.n...
 *	if (mapped_lost(&m))
 *		...some of it has disappeared...
 *	mapped_close(&m);
 *
 * A file that shrinks loses pages of its mappings, and touching them raises SIGBUS. The handler replaces the
 * whole mapping by zeros and marks it, so that the process survives. A reader has to call mapped_lost, or to
 * verify the bytes otherwise (candidate.c keeps checksums of all names). Nothing is mapped before
 * mapped_guard has been called. Parts smaller than MAPPED_LEAST bytes are copied, which costs no more than a
 * mapping. Not thread-safe.
 *
 * Pages that were read count as the process's memory until they are released. In a part larger than
 * MAPPED_WINDOW bytes mapped_use releases them automatically after a number of calls.
 */
#ifndef CPROF_ELF_MAPPED_H
#define CPROF_ELF_MAPPED_H

#include "common/base/cursor.h"

#ifdef FUZZING /* fuzzed files are small */
enum { MAPPED_LEAST = 1, MAPPED_WINDOW = 4096 };
#else
enum { MAPPED_LEAST = 128 << 10, MAPPED_WINDOW = 32 << 20 };
#endif

struct mapped_region;

struct mapped {
	const uint8_t *p;
	size_t n;
	struct mapped_region *region; /* NULL: p is a copy */
};

/* Installs the handler. Returns false if the system refuses it; everything is then copied. */
bool mapped_guard(void);
/* Opens n bytes at offset. Returns false if the file has fewer, on a read error, or if out of memory. */
bool mapped_open(struct mapped *m, int fd, uint64_t offset, uint64_t n);
/* Takes over bytes from malloc. */
void mapped_take(struct mapped *m, char *bytes, size_t n);
void mapped_close(struct mapped *m);
/* Counts one read of a few bytes anywhere in the part. Call it for each. */
static inline void mapped_use(const struct mapped *m);
/* Releases all pages that are in memory, whatever the part's size. They are read again when needed. */
void mapped_relax(const struct mapped *m);
/* Returns true if the file has shrunk and the bytes were replaced by zeros. */
bool mapped_lost(const struct mapped *m);
/* Returns the most bytes of the process's memory that the part may use. */
size_t mapped_bytes(const struct mapped *m);

/* The slow path of mapped_use, for large parts. */
void mapped_count_use(const struct mapped *m);

static inline void mapped_use(const struct mapped *m)
{
	if (m->region && m->n > MAPPED_WINDOW)
		mapped_count_use(m);
}

#endif
