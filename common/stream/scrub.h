/*
 * Removes from a stream whatever identifies its owner: function names stay; paths, commands and the host's
 * ids do not.
 *
 *	struct scrub *s = scrub_new(key);
 *
 *	writer_through(w, scrub_put, s);
 *	...writer_put(w, &record)...
 *	if (scrub_no_memory(s)) ...
 *	scrub_free(s);
 *
 * A hidden text becomes the first 64 bits of its HMAC-SHA256, in hexadecimal digits. The same text with the
 * same key always gives the same hash, and without the key nobody can test guesses.
 *
 * Kernel addresses are moved, each GiB separately: _stext to the address where x86-64 links it, and the page
 * of the first address seen in any other GiB to a fixed address. The result does not reveal where the kernel
 * was loaded.
 */
#ifndef CPROF_STREAM_SCRUB_H
#define CPROF_STREAM_SCRUB_H

#include "common/stream/writer.h"

struct scrub;

/* Returns NULL if out of memory. The key is copied. */
struct scrub *scrub_new(struct slice key);
void scrub_free(struct scrub *s);
/* The callback for writer_through; arg is the struct scrub. Returns false if out of memory or w failed. */
bool scrub_put(void *scrub, struct writer *w, const struct record *r);
/* Returns true if memory ran out; the output is then incomplete. */
bool scrub_no_memory(const struct scrub *s);

#endif
