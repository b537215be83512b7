/*
 * The parts of cprof-archive: files are archived, then their results are reported.
 *
 *	...archive each file, and add an item...
 *	archive_report(&archive, verbose);
 */
#ifndef CPROF_ARCHIVE_ARCHIVE_H
#define CPROF_ARCHIVE_ARCHIVE_H

#include "common/base/intern.h"
#include "common/locate/build_id_dir.h"
#include "common/locate/finder.h"

/* The outcome for a file; values below WRITTEN are the finder's (enum source_status). */
enum outcome_of_file {
	WRITTEN = 1000,
	THERE,       /* the archive has one that is as good */
	FOREIGN,     /* the archive has one made by another program */
	UNREADABLE,  /* the archive has one that cannot be opened */
	NO_BUILD_ID, /* so it could not be found by any capture */
	LONG_BUILD_ID,
};

struct item {
	unsigned int outcome;
	uint32_t path; /* text */
	uint64_t bytes, original; /* bytes written; bytes of its source files */
	uint32_t holds;
	uint32_t tries;
};

struct archive {
	const char *dir;
	struct build_id_dir shelf;
	struct finder finder;
	bool dwarf;
	struct intern keys;  /* number of the item by build ID, or by path if there is none */
	struct intern tried; /* the same keys with the path */
	struct intern texts;
	struct item *items;
	size_t n, cap;
	struct buf scratch;
};

/* Returns true if the archive has a file with this outcome. */
bool archive_is_good(unsigned int outcome);
/* Prints how many files have which outcome; verbose: and each file. Sorts the items. */
void archive_report(struct archive *a, bool verbose);

#endif
