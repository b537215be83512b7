/*
 * Shared by the files of common/capture that apply records to a capture; for no other file.
 *
 * Each record type has a function, such as thread_apply for RECORD_THREAD, in the file for its kind of thing.
 * It returns NULL, or a constant sentence that says why the record is refused and had no effect.
 * capture_apply calls these functions and counts refusals.
 *
 *	const char *thread_apply(struct capture *c, const struct record_thread *r)
 *	{
 *		const char *wrong;
 *
 *		if (!DEFINED(c, processes, r->process))
 *			return "a thread of an undefined process";
 *		wrong = MAKE_ROOM(c, threads, r->id);
 *		if (wrong)
 *			return wrong;
 *		...c->threads[r->id] exists; the first time, it is zero...
 *	}
 */
#ifndef CPROF_CAPTURE_CAPTURE_INTERNAL_H
#define CPROF_CAPTURE_CAPTURE_INTERNAL_H

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/capture/capture.h"

/* The sentence for a failed allocation, recognized by its address because it is no fault of the record. */
extern const char capture_no_memory[];

/*
 * Ids are dense, but the records that defined some of them may have been lost or filtered out. The undefined
 * part of each array is limited to GAP_BYTES, so that a few bad bytes cannot claim gigabytes. All gaps of all
 * segments together are limited to GAPS_FREE and some for each record. Otherwise each of many short segments
 * could claim as much again. Every reader clears and walks these arrays.
 */
enum { CAPTURE_GAP_BYTES = 16 << 20, CAPTURE_GAPS_FREE = 1 << 27, CAPTURE_GAPS_EACH = 1024 };

/* Counts a gap of n bytes. Returns false, and counts nothing, if it is too large. */
static inline bool claim_gap(struct capture_gaps *g, uint64_t n)
{
	if (g->bytes + n > CAPTURE_GAPS_FREE + g->records * CAPTURE_GAPS_EACH)
		return false;
	g->bytes += n;
	return true;
}

/*
 * Makes room for element id of an array, or returns a sentence. New elements are zero up to id; memory
 * reserved beyond id is not touched, so that it costs no pages. The macro fills in the fields that belong
 * to an array.
 */
static inline __attribute__((always_inline))
const char *make_room(struct capture_gaps *gaps, void *array_ptr, size_t *n, size_t *cap, size_t defined,
		      size_t size, uint64_t id)
{
	uint8_t *p;

	if (id == 0 || id >= CAPTURE_GAP_BYTES / size + 2 * defined || id >> 31)
		return "an id out of range";
	if (id > *n && !claim_gap(gaps, (id - *n) * size))
		return "an id out of range";
	if (!extend_array(array_ptr, cap, (size_t)id, size))
		return capture_no_memory;
	memcpy(&p, array_ptr, sizeof(p));
	for (; *n <= id; ++*n) /* nearly always one turn */
		memset(p + *n * size, 0, size);
	return NULL;
}

#define MAKE_ROOM(c, what, id)                                                                   \
	make_room(&(c)->gaps, &(c)->what, &(c)->n_##what, &(c)->cap_##what, (c)->defined_##what, \
		  sizeof(*(c)->what), id)

#define DEFINED(c, what, id) ((id) < (c)->n_##what && (c)->what[id].defined)

/* Finds or adds a text of the segment. Returns false if out of memory. */
static inline bool text_add(struct capture *c, struct slice s, uint32_t *id)
{
	return intern_add(&c->texts, s, id);
}

/* Replaces *s by a copy that is valid until the segment ends. Returns false if out of memory. */
static inline bool text_keep(struct capture *c, struct slice *s)
{
	uint32_t id;

	if (!text_add(c, *s, &id))
		return false;
	*s = capture_text(c, id);
	return true;
}

#endif
