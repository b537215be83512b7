/*
 * A run of the stream, called batch here: many FRAME, NODE or SAMPLE records of one kind together in a block,
 * each coded as the difference to the one before. See RUNS in cprof-stream(5).
 *
 *	struct batch b;
 *
 *	if (!batch_begin(&b, RECORD_SAMPLE, body, time))
 *		...malformed...
 *	while (!batch_ended(&b)) {
 *		if (!batch_next(&b, &weights, &rec))
 *			...malformed; the records before it are good...
 *	}
 *	time = b.time;
 *
 * The functions are inline because reading a stream consists of little else.
 */
#ifndef CPROF_STREAM_BATCH_H
#define CPROF_STREAM_BATCH_H

#include "common/base/cursor.h"
#include "common/stream/record.h"
#include "common/stream/weights.h"

struct batch {
	struct cursor left;
	uint32_t type;
	uint64_t time; /* the last time in the block so far, nanoseconds */
	uint64_t id, process, address, frame;
};

static inline bool batch_is_of(uint32_t type)
{
	return type == RECORD_FRAME || type == RECORD_NODE || type == RECORD_SAMPLE;
}

/*
 * Begins to decode body, which is borrowed. time: the last time in the block before the run. Returns false if
 * the beginning of the run is malformed.
 */
static inline bool batch_begin(struct batch *b, uint32_t type, struct slice body, uint64_t time)
{
	*b = (struct batch){ .left = cursor_over(body.p, body.n), .type = type, .time = time };
	if (type == RECORD_FRAME)
		return cursor_varint(&b->left, &b->process) && cursor_varint(&b->left, &b->id) &&
		       cursor_varint(&b->left, &b->address);
	return type != RECORD_NODE || cursor_varint(&b->left, &b->id);
}

static inline bool batch_ended(const struct batch *b)
{
	return cursor_left(&b->left) == 0;
}

static inline bool batch_frame(struct batch *b, struct record_frame *f)
{
	uint64_t v;

	if (!cursor_varint(&b->left, &v))
		return false;
	b->address += (uint64_t)unzigzag(v >> 1);
	*f = (struct record_frame){ b->id++, b->process, v & 1, b->address };
	return true;
}

static inline bool batch_node(struct batch *b, struct record_node *n)
{
	uint64_t back, step;

	if (!cursor_varint(&b->left, &back) || !cursor_varint(&b->left, &step))
		return false;
	if (b->id < NODE_FIRST || (back >= NODE_FIRST && back - NODE_FIRST >= b->id - NODE_FIRST))
		return false; /* the id, or that of the parent, is one that only a root can have */
	b->frame += (uint64_t)unzigzag(step);
	*n = (struct record_node){ b->id, back < NODE_FIRST ? back : b->id - (back - NODE_FIRST + 1), b->frame };
	b->id++;
	return true;
}

static inline bool batch_sample(struct batch *b, const struct weights *weights, struct record_sample *s)
{
	uint64_t step, cpu;

	*s = (struct record_sample){ .event = 1 };
	if (!cursor_varint(&b->left, &step))
		return false;
	s->time = b->time += (uint64_t)unzigzag(step); /* even if the rest of the entry is malformed */
	if (!cursor_varint(&b->left, &cpu) || !cursor_varint(&b->left, &s->thread) ||
	    !cursor_varint(&b->left, &s->user) || !cursor_varint(&b->left, &s->kernel) ||
	    ((cpu & 2) && !cursor_varint(&b->left, &s->event)))
		return false;
	s->weight = weights_get(weights, s->event);
	if ((cpu & 1) && !cursor_varint(&b->left, &s->weight))
		return false;
	s->cpu = cpu >> 2;
	return s->cpu >> 32 == 0;
}

/* Decodes the next record. Returns false if it is malformed; the rest of the run is then lost. */
static inline bool batch_next(struct batch *b, const struct weights *weights, struct record *rec)
{
	rec->type = b->type;
	rec->tail = (struct slice){ NULL, 0 };
	if (b->type == RECORD_FRAME)
		return batch_frame(b, &rec->frame);
	if (b->type == RECORD_NODE)
		return batch_node(b, &rec->node);
	return batch_sample(b, weights, &rec->sample);
}

#endif
