/*
 * What the files of this room have in common that take records into a capture; nobody else includes it.
 *
 * Each kind of record has a function, thread_apply for RECORD_THREAD, beside what is known of such things. Those of
 * them that refuse a record return a sentence why, and have then changed nothing; capture_apply calls them and counts.
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
 *		...c->threads[r->id] is there; its first time it is zero...
 *	}
 */
#ifndef CPROF_CAPTURE_INSIDE_H
#define CPROF_CAPTURE_INSIDE_H

#include "common/capture/capture.h"

/* The sentence, known by its address, that is nobody's record's fault. */
extern const char capture_no_memory[];

/*
 * Ids are dense, but what defined some of them may have been lost or filtered out. Each array may
 * have this much room that nothing defined, so that a few bad bytes cannot ask for gigabytes.
 */
enum { CAPTURE_GAP_BYTES = 16 << 20 };

/*
 * Makes room for element id of one of the arrays by id, or says what is wrong. New elements are zero, up to id itself:
 * of what is reserved beyond it, no page is needed before it is used. The macro spares its callers the names of the
 * five fields that belong to an array.
 */
static inline __attribute__((always_inline))
const char *make_room(void *array_ptr, size_t *n, size_t *cap, size_t defined, size_t size, uint64_t id)
{
	uint8_t *p;

	if (id == 0 || id >= CAPTURE_GAP_BYTES / size + 2 * defined || id >> 31)
		return "an id out of range";
	if (!extend_array(array_ptr, cap, (size_t)id, size))
		return capture_no_memory;
	memcpy(&p, array_ptr, sizeof(p));
	for (; *n <= id; ++*n) /* nearly always one */
		memset(p + *n * size, 0, size);
	return NULL;
}

#define MAKE_ROOM(c, what, id)                                                                       \
	make_room(&(c)->what, &(c)->n_##what, &(c)->cap_##what, (c)->defined_##what, sizeof(*(c)->what), id)

#define DEFINED(c, what, id) ((id) < (c)->n_##what && (c)->what[id].defined)

/* The number of a text of the segment; false without memory. */
static inline bool text_add(struct capture *c, struct slice s, uint32_t *id)
{
	return intern_add(&c->texts, s, id);
}

/* Makes s a copy that lives as long as the segment; false without memory. */
static inline bool text_keep(struct capture *c, struct slice *s)
{
	uint32_t id;

	if (!text_add(c, *s, &id))
		return false;
	*s = capture_text(c, id);
	return true;
}

#endif
