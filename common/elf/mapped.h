/*
 * Parts of files that are read where they lie, and that may shrink or change meanwhile.
 *
 *	mapped_guard();				// once, in main: from here on SIGBUS is this room's
 *	struct mapped m;
 *
 *	if (!mapped_open(&m, fd, offset, n))	// the descriptor may be closed afterwards
 *		...not that many bytes in the file, or no memory...
 *	...m.p, m.n...
 *	if (mapped_lost(&m))
 *		...some of it was not there any more...
 *	mapped_close(&m);
 *
 * A file that shrinks takes its pages with it, and touching them is SIGBUS. The handler puts zeros in
 * the place of the whole mapping and marks it: nobody dies, and whoever reads has to ask mapped_lost, or to know
 * otherwise what the bytes were (candidate.c keeps checksums of all names). Nothing is mapped before
 * mapped_guard has been called, nor are parts of less than MAPPED_LEAST bytes: these are copied, which
 * costs no more than a mapping. Reading is for one thread.
 *
 * Pages that were read count as the process's memory until they are let go. Of a part of more than
 * MAPPED_WINDOW bytes that happens by itself: after every so many calls of mapped_use.
 */
#ifndef CPROF_ELF_MAPPED_H
#define CPROF_ELF_MAPPED_H

#include "common/base/cursor.h"

#ifdef FUZZING /* whose files are small */
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

/* False where the system refuses the handler; then all is copied. */
bool mapped_guard(void);
bool mapped_open(struct mapped *m, int fd, uint64_t offset, uint64_t n);
/* Takes bytes from malloc over. */
void mapped_take(struct mapped *m, char *bytes, size_t n);
void mapped_close(struct mapped *m);
/* To be called for each read of some bytes anywhere in it. */
static inline void mapped_use(const struct mapped *m);
/* Lets all pages go that are in memory, whatever its size. */
void mapped_relax(const struct mapped *m);
bool mapped_lost(const struct mapped *m);
/* What it may hold of the process's memory. */
size_t mapped_bytes(const struct mapped *m);

/* The same as mapped_use of a large one. */
void mapped_count_use(const struct mapped *m);

static inline void mapped_use(const struct mapped *m)
{
	if (m->region && m->n > MAPPED_WINDOW)
		mapped_count_use(m);
}

#endif
