/*
 * The ids that a reader of perf's text assigns, and the segments that they belong to.
 *
 *	script_segment_begin(r);		// the header, unless it has begun
 *	event = script_event(r, &head);		// its record is in the stream on return
 *	thread = script_thread(r, &head);
 *	...
 *	if (script_segment_full(r))
 *		script_segment_end(r, END_CONTINUES);	// ids start over
 *
 * For script_read.c and script_stack.c. If memory runs out, the reader has failed and the returned id is
 * arbitrary.
 */
#ifndef CPROF_PERFSCRIPT_SCRIPT_IDS_H
#define CPROF_PERFSCRIPT_SCRIPT_IDS_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/perfscript/script_read.h"

/* A line that has been read before, parsed. */
struct script_known {
	struct script_frame f;
	enum script_kind kind;
	uint32_t unit; /* the unit of this frame alone, plus 1; 0: none yet */
	struct slice source;
	uint64_t source_line;
};

/* Sets up empty tables; the reader's old ones must have been released. */
void script_segment_init(struct script_reader *r);
void script_segment_release(struct script_reader *r);
void script_segment_begin(struct script_reader *r);
void script_segment_end(struct script_reader *r, enum end_reason reason);
/* Returns whether the tables have reached their limit for one segment. */
bool script_segment_full(const struct script_reader *r);
/* Returns whether they have grown far beyond it, while one sample was read. */
bool script_segment_over(const struct script_reader *r);
/* Takes one of the text's comments, for the header of segments that begin after it. */
void script_comment(struct script_reader *r, struct slice line);

static inline void script_put(struct script_reader *r, struct record rec)
{
	writer_put(r->w, &rec);
}

/* Returns the number of a text; *fresh: it is new. Inline, as the next one, because each frame calls both. */
static inline uint32_t script_number(struct script_reader *r, struct intern *t, struct slice text, bool *fresh)
{
	size_t before = t->n;
	uint32_t id = 0;

	r->failed = !intern_add(t, text, &id) || r->failed;
	*fresh = !r->failed && t->n > before;
	return id;
}

/* Returns the id of this key, or next if the key is new. */
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
/* Writes the thread's process, and its command if that changed, as well. */
uint64_t script_thread(struct script_reader *r, const struct script_head *h);

#endif
