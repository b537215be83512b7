#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/stream/batch.h"
#include "common/stream/block.h"

struct writer {
	int fd;
	writer_sink *sink; /* NULL: write(2) */
	void *sink_arg;
	bool (*through)(void *arg, struct writer *w, const struct record *r); /* NULL: none */
	void *through_arg;
	bool inside; /* a call of through is running */
	struct buf block;       /* room for the head, then the payload so far */
	struct buf batch;       /* body of the FRAME, NODE or SAMPLE record that is being filled */
	uint32_t batch_type;    /* 0: none */
	enum block_type type;
	bool in_segment;
	uint32_t segment, sequence;
	uint64_t time;          /* last time in the block */
	struct weights weights;
	/* State of the open batch. */
	uint64_t process, last_id, last_address, last_frame;
	uint64_t bytes, segment_bytes;
	char error[160]; /* an array, so that "out of memory" needs no allocation; "": no error */
	bool failed, full;
};

struct writer *writer_new(int fd)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = fd;
	return w;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	buf_release(&w->block);
	buf_release(&w->batch);
	free(w);
}

void writer_write_by(struct writer *w, writer_sink *sink, void *arg)
{
	w->sink = sink;
	w->sink_arg = arg;
}

void writer_through(struct writer *w, bool (*put)(void *arg, struct writer *w, const struct record *r), void *arg)
{
	w->through = put;
	w->through_arg = arg;
}

static bool put_through(struct writer *w, const struct record *r)
{
	bool good;

	w->inside = true;
	good = w->through(w->through_arg, w, r);
	w->inside = false;
	return good;
}

const char *writer_error(const struct writer *w)
{
	return w->error[0] ? w->error : NULL;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->bytes;
}

uint64_t writer_segment_bytes(const struct writer *w)
{
	return w->segment_bytes;
}

/* Records a failure of the system: nothing more is written. */
static bool fail_write(struct writer *w, const char *what, const char *why)
{
	if (!w->failed)
		snprintf(w->error, sizeof(w->error), "%s: %s", what, why);
	w->failed = true;
	return false;
}

/* Records that a record makes no sense. The stream stays good without it. */
static bool refuse_record(struct writer *w, const char *why)
{
	if (!w->error[0])
		snprintf(w->error, sizeof(w->error), "%s", why);
	return false;
}

static bool write_all(struct writer *w, const uint8_t *p, size_t n)
{
	while (n > 0) {
		const char *why = NULL;
		ssize_t done = w->sink ? w->sink(w->sink_arg, p, n, &why) : write(w->fd, p, n);

		if (done < 0 && !why && errno == EINTR)
			continue;
		if (done < 0 && !why && errno == EAGAIN && !w->sink) {
			/* Another process that shares it made it non-blocking. */
			poll(&(struct pollfd){ .fd = w->fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (done < 0 && why)
			return fail_write(w, "cannot write", why);
		if (done < 0) {
			w->full = errno == ENOSPC || errno == EDQUOT;
			return fail_write(w, "cannot write", strerror(errno));
		}
		p += done;
		n -= (size_t)done;
		w->bytes += (uint64_t)done;
		w->segment_bytes += (uint64_t)done;
	}
	return true;
}

static void begin_block(struct writer *w, enum block_type type)
{
	static const uint8_t room[BLOCK_HEAD];

	buf_clear(&w->block);
	buf_bytes(&w->block, room, BLOCK_HEAD);
	w->type = type;
	w->time = 0;
}

static void end_batch(struct writer *w)
{
	buf_varint(&w->block, w->batch_type);
	buf_slice(&w->block, buf_view(&w->batch));
	if (w->batch.failed)
		w->block.failed = true;
	buf_clear(&w->batch);
	w->batch_type = 0;
}

static inline void close_batch(struct writer *w)
{
	if (w->batch_type)
		end_batch(w);
}

static bool end_block(struct writer *w)
{
	uint8_t *head;
	uint64_t check;
	size_t length;

	close_batch(w);
	if (w->block.failed)
		return fail_write(w, "cannot write", strerror(ENOMEM));
	if (w->block.n <= BLOCK_HEAD)
		return true;
	head = w->block.p;
	length = w->block.n - BLOCK_HEAD;
	check = hash_bytes(head + BLOCK_HEAD, length);
	if (w->type == BLOCK_HEADER) {
		w->segment = (uint32_t)check;
		w->sequence = 0;
		w->segment_bytes = 0;
	}
	memcpy(head, BLOCK_SYNC, BLOCK_SYNC_BYTES);
	head[4] = (uint8_t)w->type;
	head[5] = 0;
	le16_store(head + 6, 0);
	le32_store(head + 8, (uint32_t)length);
	le32_store(head + 12, w->segment);
	le32_store(head + 16, w->sequence++);
	le32_store(head + 20, (uint32_t)hash_bytes(head, 20));
	le64_store(head + 24, check);
	if (!write_all(w, head, w->block.n))
		return false;
	begin_block(w, BLOCK_RECORDS);
	return true;
}

static bool put_segment(struct writer *w, const struct record_segment *s)
{
	uint8_t version[BLOCK_VERSION_BYTES];

	if ((s->major | s->minor | s->least) >> 16)
		return refuse_record(w, "a version beyond 16 bits");
	if (w->in_segment && !end_block(w))
		return false;
	w->in_segment = true;
	weights_clear(&w->weights);
	begin_block(w, BLOCK_HEADER);
	le16_store(version, (uint16_t)s->major);
	le16_store(version + 2, (uint16_t)s->minor);
	le16_store(version + 4, (uint16_t)s->least);
	buf_bytes(&w->block, version, sizeof(version));
	return true;
}

/* Adds a frame to the open batch, or closes that batch and begins a new one if it cannot take the frame. */
static void put_frame(struct writer *w, const struct record_frame *f)
{
	uint64_t step = zigzag((int64_t)(f->address - w->last_address));

	if (w->batch_type != RECORD_FRAME || w->process != f->process || f->id != w->last_id + 1 ||
	    step >> 63) {
		close_batch(w);
		w->batch_type = RECORD_FRAME;
		buf_varint(&w->batch, f->process);
		buf_varint(&w->batch, f->id);
		buf_varint(&w->batch, f->address);
		w->process = f->process;
		step = 0;
	}
	buf_varint(&w->batch, step << 1 | (f->kind & 1));
	w->last_id = f->id;
	w->last_address = f->address;
}

/* Makes room for the given number of varints, with one check for a whole record. */
static inline bool make_room_for(struct buf *b, size_t varints)
{
	return buf_has_room(b, varints * VARINT_MAX) || buf_reserve(b, varints * VARINT_MAX);
}

static void put_node(struct writer *w, const struct record_node *n)
{
	uint8_t *p;

	if (w->batch_type != RECORD_NODE || n->id != w->last_id + 1) {
		close_batch(w);
		w->batch_type = RECORD_NODE;
		buf_varint(&w->batch, n->id);
		w->last_frame = 0;
	}
	if (!make_room_for(&w->batch, 2))
		return;
	p = varint_store(w->batch.p + w->batch.n, n->parent < NODE_FIRST ? n->parent : n->id - n->parent + NODE_FIRST - 1);
	p = varint_store(p, zigzag((int64_t)(n->frame - w->last_frame)));
	w->batch.n = (size_t)(p - w->batch.p);
	w->last_id = n->id;
	w->last_frame = n->frame;
}

static void put_sample(struct writer *w, const struct record_sample *s)
{
	bool weighted = s->weight != weights_get(&w->weights, s->event);

	if (w->batch_type != RECORD_SAMPLE) {
		close_batch(w);
		w->batch_type = RECORD_SAMPLE;
	}
	buf_varint(&w->batch, zigzag((int64_t)(s->time - w->time)));
	buf_varint(&w->batch, s->cpu << 2 | (s->event != 1 ? 2 : 0) | weighted);
	buf_varint(&w->batch, s->thread);
	buf_varint(&w->batch, s->user);
	buf_varint(&w->batch, s->kernel);
	if (s->event != 1)
		buf_varint(&w->batch, s->event);
	if (weighted)
		buf_varint(&w->batch, s->weight);
	w->time = s->time;
}

/* Stores the length of the body after byte at. A length of several bytes moves the body up. */
static void store_length(struct buf *block, size_t at)
{
	uint8_t length[VARINT_MAX];
	size_t n = block->n - at - 1, size = (size_t)(varint_store(length, n) - length);

	if (size == 1) {
		block->p[at] = length[0];
		return;
	}
	if (!buf_reserve(block, size - 1))
		return;
	memmove(block->p + at + size, block->p + at + 1, n);
	memcpy(block->p + at, length, size);
	block->n += size - 1;
}

static void encode_single(struct writer *w, const struct record *r)
{
	size_t at;

	buf_varint(&w->block, r->type);
	at = w->block.n;
	buf_byte(&w->block, 0);
	record_encode(&w->block, r, &w->time);
	if (!w->block.failed)
		store_length(&w->block, at);
}

static bool put_single(struct writer *w, const struct record *r)
{
	uint64_t time;
	size_t before;

	if (w->type == BLOCK_HEADER && r->type != RECORD_META && r->type != RECORD_EVENT && !end_block(w))
		return false;
	close_batch(w);
	if (r->type == RECORD_EVENT && !weights_set(&w->weights, r->event.id, r->event.period))
		return refuse_record(w, "an event with two periods");
	before = w->block.n;
	time = w->time;
	encode_single(w, r);
	if (w->block.n > BLOCK_HEAD + BLOCK_MAX && before > BLOCK_HEAD && w->type == BLOCK_RECORDS) {
		/* A large record gets a block of its own; its times are encoded again there. */
		w->block.n = before;
		if (!end_block(w))
			return false;
		before = w->block.n;
		time = w->time;
		encode_single(w, r);
	}
	if (w->block.n > BLOCK_HEAD + BLOCK_MAX) {
		w->block.n = before;
		w->time = time;
		return refuse_record(w, "one record does not fit into a block");
	}
	return true;
}

static bool put_batched(struct writer *w, const struct record *r)
{
	if (r->type == RECORD_FRAME && r->frame.kind >= FRAME_KINDS)
		return refuse_record(w, "a frame of unknown kind");
	if (r->type == RECORD_NODE && r->node.id < NODE_FIRST)
		return refuse_record(w, "a node with the number of a root");
	if (r->type == RECORD_NODE && r->node.parent >= r->node.id)
		return refuse_record(w, "a node whose parent comes after it");
	if (r->type == RECORD_SAMPLE && r->sample.cpu >> 32)
		return refuse_record(w, "a CPU number beyond 32 bits");
	if (w->type == BLOCK_HEADER && !end_block(w))
		return false;
	if (r->type == RECORD_FRAME)
		put_frame(w, &r->frame);
	else if (r->type == RECORD_NODE)
		put_node(w, &r->node);
	else
		put_sample(w, &r->sample);
	return true;
}

static __attribute__((noinline)) bool put_other(struct writer *w, const struct record *r)
{
	if (r->type == RECORD_SEGMENT)
		return put_segment(w, &r->segment);
	if (!w->in_segment)
		return refuse_record(w, "the first record must be a segment");
	return r->type == RECORD_FLUSH ? end_block(w) : put_single(w, r);
}

/* Writes the block once it has grown to WRITER_BLOCK bytes. */
static inline bool end_full_block(struct writer *w)
{
	if (w->block.failed || w->batch.failed)
		return fail_write(w, "cannot write", strerror(ENOMEM));
	return w->block.n + w->batch.n < WRITER_BLOCK || end_block(w);
}

/* Prepares for an entry of its own in a block of records, outside any batch. */
static inline bool begin_entry(struct writer *w)
{
	if (w->failed)
		return false;
	if (!w->in_segment)
		return refuse_record(w, "the first record must be a segment");
	if (w->type == BLOCK_HEADER && !end_block(w))
		return false;
	close_batch(w);
	return true;
}

/* The length of the body always fits into one byte. */
bool writer_put_symbol(struct writer *w, const struct record_symbol *s)
{
	uint8_t *head, *end;

	if (w->through && !w->inside)
		return put_through(w, &(struct record){ .type = RECORD_SYMBOL, .symbol = *s });
	_Static_assert(RECORD_SYMBOL < 0x80 && RECORD_SYMBOL_MAX < 0x80, "one byte each");
	_Static_assert(WRITER_BLOCK + 2 + RECORD_SYMBOL_MAX <= BLOCK_MAX, "a block that is not full has room for it");
	if (!begin_entry(w))
		return false;
	if (!buf_has_room(&w->block, 2 + RECORD_SYMBOL_MAX) && !buf_reserve(&w->block, 2 + RECORD_SYMBOL_MAX))
		return fail_write(w, "cannot write", strerror(ENOMEM));
	head = w->block.p + w->block.n;
	end = record_store_symbol(head + 2, s, &w->time);
	head[0] = RECORD_SYMBOL;
	head[1] = (uint8_t)(end - head - 2);
	w->block.n = (size_t)(end - w->block.p);
	return end_full_block(w);
}

bool writer_put(struct writer *w, const struct record *r)
{
	bool batched = batch_is_of(r->type);

	if (w->failed)
		return false;
	if (w->through && !w->inside)
		return put_through(w, r);
	if (r->type == RECORD_SYMBOL && !r->tail.n)
		return writer_put_symbol(w, &r->symbol);
	if (!(batched && w->in_segment ? put_batched(w, r) : put_other(w, r)))
		return false;
	return end_full_block(w);
}

/* Writes the records one by one, if the run does not fit into the block or its times need another base. */
static bool put_each(struct writer *w, const struct stream_batch *b)
{
	struct record r = { 0 };
	struct batch left;

	for (bool good = batch_begin(&left, b->type, b->body, b->time); good && !batch_ended(&left);) {
		good = batch_next(&left, &w->weights, &r);
		if (good && !writer_put(w, &r))
			return false;
	}
	return true;
}

bool writer_put_batch(struct writer *w, const struct stream_batch *b)
{
	enum { HEAD_MAX = 2 * VARINT_MAX }; /* type and length */

	if (w->through)
		return put_each(w, b);
	if (!begin_entry(w))
		return false;
	if (w->block.n + HEAD_MAX + b->body.n > BLOCK_HEAD + BLOCK_MAX || (b->type == RECORD_SAMPLE && w->time != b->time))
		return put_each(w, b);
	buf_varint(&w->block, b->type);
	buf_slice(&w->block, b->body);
	if (b->type == RECORD_SAMPLE)
		w->time = b->time_after;
	return end_full_block(w);
}

bool writer_flush(struct writer *w)
{
	return !w->failed && (!w->in_segment || end_block(w));
}

bool writer_refused(const struct writer *w)
{
	return w->error[0] && !w->failed;
}

bool writer_full(const struct writer *w)
{
	return w->full;
}

bool writer_finish(struct writer *w)
{
	return writer_flush(w) && !w->error[0];
}
