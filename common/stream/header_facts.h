/*
 * Facts from the header of a capture's first segment, without reading the rest: for choosing among files.
 *
 *	struct header_facts h;
 *
 *	if (header_facts_read(bytes, &h)) ...it began at h.start...
 */
#ifndef CPROF_STREAM_HEADER_FACTS_H
#define CPROF_STREAM_HEADER_FACTS_H

#include "common/base/buf.h"

/* Bytes at the beginning of a file among which the header is. */
enum { HEADER_FACTS_BYTES = 64 << 10 };

struct header_facts {
	uint64_t start;  /* nanoseconds since 1970 */
	uint64_t series; /* the same number for files of one recording: of one host, boot and command line */
	bool booted;     /* there is a boot ID, without which the series says little */
};

/* The keys of the META records that files of one recording have in common. */
enum { HEADER_SERIES_KEYS = 4 };
extern const char *const header_series_keys[HEADER_SERIES_KEYS];

/* Returns false if the bytes do not begin with a whole and good header that has a time. */
bool header_facts_read(struct slice bytes, struct header_facts *h);

#endif
