/*
 * The ids that a reader of perf's text gives to what it meets, and the segments that they are of.
 *
 *	script_segment_begin(r);		// the header, unless it has begun
 *	event = script_event(r, &head);		// its record is in the stream when this returns
 *	thread = script_thread(r, &head);
 *	...
 *	if (script_segment_full(r))
 *		script_segment_end(r, END_CONTINUES);	// ids begin anew
 *
 * For scriptread.c and scriptstack.c. Where memory runs out the reader has failed, and what is returned is some id.
 */
#ifndef CPROF_EXPORT_SCRIPTIDS_H
#define CPROF_EXPORT_SCRIPTIDS_H

#include "common/export/scriptread.h"

/* A line that has been read before. */
struct script_known {
	struct script_frame f;
	enum script_kind kind;
	bool good;
	uint32_t unit; /* of this frame alone + 1; 0: none yet */
	struct slice source;
	uint64_t source_line;
};

/* Tables without anything in them; the reader's are released first. */
void script_segment_init(struct script_reader *r);
void script_segment_release(struct script_reader *r);
void script_segment_begin(struct script_reader *r);
void script_segment_end(struct script_reader *r, enum end_reason reason);
/* Is what is known as much as a segment may know? */
bool script_segment_full(const struct script_reader *r);
/* One of the text's comments, for the header of segments that begin after it. */
void script_comment(struct script_reader *r, struct slice line);

static inline void script_put(struct script_reader *r, struct record rec)
{
	writer_put(r->w, &rec);
}

/* The number of a text; *fresh where it is new. Here to be inlined, as the next one: both are asked at each frame. */
static inline uint32_t script_number(struct script_reader *r, struct intern *t, struct slice text, bool *fresh)
{
	size_t before = t->n;
	uint32_t id = 0;

	r->failed = !intern_add(t, text, &id) || r->failed;
	*fresh = !r->failed && t->n > before;
	return id;
}

/* The id under this key: an old one, or a new one, which is next. */
static inline uint64_t script_id(struct script_reader *r, struct idmap *m, uint64_t key, uint64_t next, bool *fresh)
{
	uint32_t id = (uint32_t)next;

	*fresh = false;
	if (idmap_find(m, key, &id))
		return id;
	*fresh = idmap_set(m, key, id);
	r->failed = !*fresh || r->failed;
	return id;
}

uint64_t script_string(struct script_reader *r, struct slice text);
uint64_t script_event(struct script_reader *r, const struct script_head *h);
/* With its process, and with its command as of now. */
uint64_t script_thread(struct script_reader *r, const struct script_head *h);

#endif
