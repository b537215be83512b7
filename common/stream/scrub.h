/*
 * A stream without what tells whose it is: names of functions stay, paths, commands and the host's ids do not.
 *
 *	struct scrub *s = scrub_new(key);
 *
 *	writer_through(w, scrub_put, s);
 *	...writer_put(w, &record)...
 *	if (scrub_no_memory(s)) ...
 *	scrub_free(s);
 *
 * A text that is hidden becomes the first 64 bits of its HMAC-SHA256, in hexadecimal digits: the same text with the same key
 * is always the same hash, and without the key nobody can try guesses.
 *
 * Kernel addresses are moved, each GiB of them by itself, so that _stext is where x86-64 links it, and the first address
 * seen of another GiB at a place that depends on nothing: what is left says nothing of where the kernel was loaded.
 */
#ifndef CPROF_STREAM_SCRUB_H
#define CPROF_STREAM_SCRUB_H

#include "common/stream/writer.h"

struct scrub;

/* The key is copied. NULL without memory. */
struct scrub *scrub_new(struct slice key);
void scrub_free(struct scrub *s);
/* For writer_through, with the struct scrub as arg. */
bool scrub_put(void *scrub, struct writer *w, const struct record *r);
bool scrub_no_memory(const struct scrub *s);

#endif
