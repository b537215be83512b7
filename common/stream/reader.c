#include "common/stream/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/stream/batch.h"
#include "common/stream/block.h"
#include "common/stream/file_type.h"
#include "common/stream/record_coding.h"
#include "common/stream/segment_extent.h"

enum { INPUT_CAP = 2 * (BLOCK_HEAD + BLOCK_MAX), READ_SIZE = 256 << 10 };
enum { SENTENCE_MAX = 512 }; /* bytes of a message, without the input's name */
/*
 * Limit of bytes hashed: HASH_FREE, and HASH_EACH for each byte of the input. A stream needs one hash of each
 * byte. A crafted one can begin a block of BLOCK_MAX bytes at every 33rd byte.
 */
enum { HASH_EACH = 3, HASH_FREE = 16 * BLOCK_MAX };

enum state {
	AT_BLOCK,   /* between blocks */
	AT_FOUND,   /* a good block is at in[at] */
	IN_VERSION, /* a header block has been accepted; SEGMENT is due */
	IN_RECORDS,
	IN_BATCH,
	AT_END,
};

struct reader {
	int fd;
	char *name;
	/* Input: bytes [at, n) of in are unread; in[0] is byte base of the input. */
	uint8_t *in;
	size_t at, n;
	uint64_t base;
	uint64_t hashed; /* bytes of payloads hashed so far */
	bool eof;
	/* The block that is being read. */
	enum state state;
	bool header;                 /* it is a header block */
	struct cursor records;
	struct batch batch;
	struct stream_batch whole;   /* its part that was delivered as records, but not yet by reader_batch */
	uint64_t blocks, block_at;   /* blocks found so far; input byte where this one began */
	uint64_t time;
	struct weights weights;
	/* The segment. */
	bool any, in_segment, ended;
	uint32_t segment, sequence;
	/* A DAMAGE or SEGMENT record that has to be delivered before any other. */
	bool damage_due, segment_due;
	struct record_damage due;
	/* For leaving out segments: the choice, and the offset in the file of byte 0 of the input. */
	const struct reader_choice *choice;
	uint64_t origin;
	struct buf damage, error; /* sentences; their memory is reserved at the start */
	bool refused;
};

struct reader *reader_new(int fd, const char *name)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->fd = fd;
	r->in = malloc(INPUT_CAP);
	r->name = strdup(name);
	if (!r->in || !r->name || !buf_reserve(&r->damage, strlen(name) + SENTENCE_MAX) ||
	    !buf_reserve(&r->error, strlen(name) + SENTENCE_MAX)) {
		reader_free(r);
		return NULL;
	}
	return r;
}

void reader_unread(struct reader *r, struct slice taken)
{
	r->n = taken.n < INPUT_CAP ? taken.n : INPUT_CAP;
	if (r->n)
		memcpy(r->in, taken.p, r->n);
}

void reader_choose(struct reader *r, const struct reader_choice *choice)
{
	off_t at = lseek(r->fd, 0, SEEK_CUR);
	struct stat st;

	if (at < 0 || (uint64_t)at < r->n || fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	r->origin = (uint64_t)at - r->n;
	r->choice = choice;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	buf_release(&r->damage);
	buf_release(&r->error);
	free(r->in);
	free(r->name);
	free(r);
}

const char *reader_error(const struct reader *r)
{
	return r->error.n ? (const char *)r->error.p : NULL;
}

bool reader_refused(const struct reader *r)
{
	return r->refused;
}

uint64_t reader_hashed(const struct reader *r)
{
	return r->hashed;
}

const char *reader_damage(const struct reader *r)
{
	return r->damage.n ? (const char *)r->damage.p : NULL;
}

static int refuse_input(struct reader *r, const char *what)
{
	buf_printf(&r->error, "%s: %s", r->name, what);
	buf_cstr(&r->error);
	r->refused = true;
	return -1;
}

/* Keeps the first damage as a sentence. */
static void keep_damage(struct reader *r, uint64_t block, uint64_t at, const char *what)
{
	if (r->damage.n)
		return;
	buf_printf(&r->damage, "%s: block %" PRIu64 " at byte %" PRIu64 ": %s", r->name, block, at, what);
	buf_cstr(&r->damage);
}

/* Makes a DAMAGE record due, or adds to the one that is due. The text is a constant. */
static void note_damage(struct reader *r, uint64_t block, uint64_t at, const char *what, uint64_t bytes,
		    uint64_t blocks)
{
	keep_damage(r, block, at, what);
	if (r->damage_due) {
		r->due.bytes += bytes;
		r->due.blocks += blocks;
		return;
	}
	r->due = (struct record_damage){ at, bytes, blocks, slice_of(what) };
	r->damage_due = true;
}

void reader_complain(struct reader *r, const char *what)
{
	keep_damage(r, r->blocks ? r->blocks - 1 : 0, r->block_at, what);
}

/*
 * Makes want bytes available, or all that are left of the input, and waits for no more than these. Returns
 * false if the system failed.
 */
static bool fill_input(struct reader *r, size_t want)
{
	if (r->at + want > INPUT_CAP) {
		memmove(r->in, r->in + r->at, r->n - r->at);
		r->base += r->at;
		r->n -= r->at;
		r->at = 0;
	}
	while (r->n - r->at < want && !r->eof) {
		size_t room = INPUT_CAP - r->n;
		ssize_t got = read(r->fd, r->in + r->n, room < READ_SIZE ? room : READ_SIZE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) { /* another process that shares it made it non-blocking */
			poll(&(struct pollfd){ .fd = r->fd, .events = POLLIN }, 1, -1);
			continue;
		}
		if (got < 0) {
			buf_printf(&r->error, "%s: cannot read at byte %" PRIu64 ": %s", r->name,
				   r->base + r->n, strerror(errno));
			buf_cstr(&r->error);
			return false;
		}
		if (got == 0)
			r->eof = true;
		r->n += (size_t)got;
	}
	return true;
}

bool reader_ready(const struct reader *r)
{
	size_t left = r->n - r->at;

	if (r->damage_due || r->segment_due || r->state != AT_BLOCK || r->eof)
		return true;
	return left >= BLOCK_HEAD && block_head_is_good(r->in + r->at) &&
	       left - BLOCK_HEAD >= le32_load(r->in + r->at + 8);
}

/* Checks the first bytes. Returns 1 for a stream, even a damaged one, and -1 after an error or a refusal. */
static int check_start(struct reader *r)
{
	enum { MAGIC = 8, LOOK = 64 << 10 };
	const char *known;

	if (!fill_input(r, BLOCK_SYNC_BYTES))
		return -1;
	if (r->n == 0)
		return refuse_input(r, "empty input, not a cprof stream");
	if (memcmp(r->in, BLOCK_SYNC, r->n < BLOCK_SYNC_BYTES ? r->n : BLOCK_SYNC_BYTES) == 0)
		return 1;
	if (!fill_input(r, MAGIC))
		return -1;
	known = file_type_known((struct slice){ r->in, r->n });
	if (known)
		return refuse_input(r, known);
	if (!fill_input(r, LOOK))
		return -1;
	for (size_t i = 0; i + BLOCK_HEAD <= r->n && i + BLOCK_HEAD <= LOOK; i++) {
		if (block_head_is_good(r->in + i))
			return 1; /* only the front is damaged */
	}
	return refuse_input(r, file_type_is_text((struct slice){ r->in, r->n }) ? "text, not a cprof stream"
										: "not a cprof stream");
}

static bool may_hash(struct reader *r, size_t length)
{
	if (r->hashed + length > HASH_FREE + HASH_EACH * (r->base + r->at + length))
		return false;
	r->hashed += length;
	return true;
}

/* Checks the block at in[at]. *wrong says why it is bad, or is NULL. Returns false if the system failed. */
static bool check_block(struct reader *r, const char **wrong)
{
	const uint8_t *head;
	size_t length;

	if (!fill_input(r, BLOCK_HEAD))
		return false;
	*wrong = "cut short in a block's head";
	if (r->n - r->at < BLOCK_HEAD)
		return true;
	*wrong = "no valid block here";
	if (!block_head_is_good(r->in + r->at))
		return true;
	length = le32_load(r->in + r->at + 8);
	if (!fill_input(r, BLOCK_HEAD + length))
		return false;
	head = r->in + r->at;
	*wrong = "cut short in the block";
	if (r->n - r->at < BLOCK_HEAD + length)
		return true;
	*wrong = "too many blocks that overlap";
	if (!may_hash(r, length))
		return true;
	*wrong = le64_load(head + 24) == hash_bytes(head + BLOCK_HEAD, length) ? NULL : "checksum mismatch";
	return true;
}

/*
 * Steps over a bad block: to its end if the input ends or another block begins there, because a payload may
 * contain bytes that look like blocks; otherwise to the next possible sync pattern.
 */
static bool step_over(struct reader *r)
{
	const uint8_t *sync;

	if (r->n - r->at >= BLOCK_HEAD && block_head_is_good(r->in + r->at)) {
		size_t size = BLOCK_HEAD + le32_load(r->in + r->at + 8);

		if (!fill_input(r, size + BLOCK_HEAD))
			return false;
		if (r->n - r->at == size ||
		    (r->n - r->at >= size + BLOCK_HEAD && block_head_is_good(r->in + r->at + size))) {
			r->at += size;
			return true;
		}
	}
	sync = memchr(r->in + r->at + 1, BLOCK_SYNC[0] & 0xff, r->n - r->at - 1);
	r->at = sync ? (size_t)(sync - r->in) : r->n;
	return true;
}

/* Moves to the next good block. The bytes left out before it are one damage. */
static int find_block(struct reader *r)
{
	const char *wrong, *first = NULL;
	uint64_t start;

	if (!r->any) {
		int kind = check_start(r);

		if (kind <= 0)
			return kind;
		r->any = true;
	}
	start = r->base + r->at;
	for (;;) {
		if (!check_block(r, &wrong))
			return -1;
		if (!wrong || r->n == r->at)
			break;
		first = first ? first : wrong;
		if (!step_over(r))
			return -1;
	}
	if (first)
		note_damage(r, r->blocks, start, first, r->base + r->at - start, 0);
	r->state = wrong ? AT_END : AT_FOUND;
	r->blocks += first && !wrong;
	if (!r->in_segment || r->ended)
		return 1;
	if (wrong)
		note_damage(r, r->blocks, r->base + r->n, "cut short here, everything before it was read", 0, 0);
	else if (r->in[r->at + 4] == BLOCK_HEADER)
		note_damage(r, r->blocks, r->base + r->at, "the segment before this one was cut short", 0, 0);
	return 1;
}

static int begin_header(struct reader *r, const uint8_t *payload, size_t length, uint64_t check)
{
	char what[80];

	if (length < BLOCK_VERSION_BYTES) {
		note_damage(r, r->blocks - 1, r->block_at, "header without a version", BLOCK_HEAD + length, 0);
		return 1;
	}
	if (le16_load(payload + 4) > STREAM_MAJOR) {
		snprintf(what, sizeof(what), "requires a reader of version %u, this one has version %u",
			 le16_load(payload + 4), STREAM_MAJOR);
		return refuse_input(r, what);
	}
	r->in_segment = true;
	r->ended = false;
	r->segment = (uint32_t)check;
	r->sequence = 0;
	weights_clear(&r->weights);
	r->records = cursor_over(payload, length);
	r->header = true;
	r->state = IN_VERSION;
	return 1;
}

static void begin_records(struct reader *r, const uint8_t *payload, size_t length, uint32_t segment,
			  uint32_t sequence)
{
	if (!r->in_segment || segment != r->segment) {
		note_damage(r, r->blocks - 1, r->block_at, "the header of this segment is missing", 0,
			sequence ? sequence : 1);
		r->in_segment = true;
		r->ended = false;
		r->segment = segment;
		r->segment_due = true;
		weights_clear(&r->weights);
	} else if (sequence <= r->sequence) {
		note_damage(r, r->blocks - 1, r->block_at, "a block out of order", BLOCK_HEAD + length, 0);
		return;
	} else if (sequence != r->sequence + 1) {
		note_damage(r, r->blocks - 1, r->block_at, "blocks are missing before this one", 0,
			sequence - r->sequence - 1);
	}
	r->sequence = sequence;
	r->records = cursor_over(payload, length);
	r->state = IN_RECORDS;
}

/* Continues after the segment whose header was found, if that segment is not wanted. */
static bool skip_unwanted(struct reader *r)
{
	struct segment_extent x;

	if (!r->choice || r->in[r->at + 4] != BLOCK_HEADER ||
	    !segment_extent_read(r->fd, r->origin + r->base + r->at, &x) ||
	    r->choice->wanted(r->choice->context, &x) || lseek(r->fd, (off_t)x.end, SEEK_SET) < 0)
		return false;
	r->base = x.end - r->origin;
	r->at = r->n = 0;
	r->eof = false;
	r->blocks += x.blocks;
	r->ended = true;
	r->state = AT_BLOCK;
	return true;
}

/* Begins to read the block that was found. */
static int begin_block(struct reader *r)
{
	const uint8_t *head = r->in + r->at;
	size_t length = le32_load(head + 8);

	r->block_at = r->base + r->at;
	r->at += BLOCK_HEAD + length;
	r->blocks++;
	r->time = 0;
	r->header = false;
	r->state = AT_BLOCK;
	if (head[4] == BLOCK_HEADER && head[5] == 0)
		return begin_header(r, head + BLOCK_HEAD, length, le64_load(head + 24));
	if (head[4] == BLOCK_RECORDS && head[5] == 0)
		begin_records(r, head + BLOCK_HEAD, length, le32_load(head + 12), le32_load(head + 16));
	else
		note_damage(r, r->blocks - 1, r->block_at, "a block of a kind unknown to this version",
			BLOCK_HEAD + length, 0);
	return 1;
}

/* Records that bytes [from, to) of this block are left out. */
static void leave_out_bytes(struct reader *r, const char *what, const uint8_t *from, const uint8_t *to)
{
	note_damage(r, r->blocks - 1, r->block_at, what, (uint64_t)(to - from), 0);
}

static bool begin_batch(struct reader *r, uint32_t type, struct slice body)
{
	r->whole = (struct stream_batch){ .type = type, .time = r->time, .body = { body.p, 0 } };
	if (!batch_begin(&r->batch, type, body, r->time))
		return false;
	r->state = IN_BATCH;
	return true;
}

/* Delivers the next record of the run. Returns 0 if the run has ended. */
static inline int next_in_batch(struct reader *r, struct record *rec)
{
	const uint8_t *from = r->batch.left.p;

	if (batch_ended(&r->batch)) {
		r->state = IN_RECORDS;
		return 0;
	}
	if (!batch_next(&r->batch, &r->weights, rec)) {
		r->state = IN_RECORDS;
		r->time = r->batch.time;
		leave_out_bytes(r, "a malformed record", from, r->batch.left.end);
		return 0;
	}
	r->whole.body.n = (size_t)(r->batch.left.p - r->whole.body.p);
	r->time = r->whole.time_after = r->batch.time;
	rec->last = batch_ended(&r->batch);
	return 1;
}

bool reader_batch(struct reader *r, struct stream_batch *batch)
{
	if (r->whole.body.n == 0)
		return false;
	*batch = r->whole;
	r->whole.body.n = 0;
	return true;
}

static void keep_earlier_damage(struct reader *r, const struct record_damage *d)
{
	enum { WHAT_MAX = 200 };

	buf_printf(&r->damage, "%s: damage found by an earlier reader, at byte %" PRIu64 ": ", r->name, d->offset);
	for (size_t i = 0; i < d->what.n && i < WHAT_MAX; i++) {
		uint8_t b = d->what.p[i];

		buf_byte(&r->damage, b < 0x20 || b >= 0x7f ? '?' : b);
	}
	buf_cstr(&r->damage);
}

/* Delivers the next record of the block. Returns 0 if there was none: check the state again. */
static int next_record(struct reader *r, struct record *rec)
{
	const uint8_t *from = r->records.p;
	struct slice body;
	uint64_t type;

	if (cursor_left(&r->records) == 0) {
		r->state = AT_BLOCK;
		*rec = (struct record){ .type = RECORD_FLUSH };
		return 1;
	}
	if (!cursor_varint(&r->records, &type) || type >> 32 || !cursor_slice(&r->records, &body)) {
		r->records.p = r->records.end;
		leave_out_bytes(r, "a malformed record", from, r->records.p);
		return 0;
	}
	if (batch_is_of((uint32_t)type)) {
		if (!begin_batch(r, (uint32_t)type, body)) {
			r->state = IN_RECORDS;
			leave_out_bytes(r, "a malformed record", from, r->records.p);
		}
		return 0;
	}
	if (type <= RECORD_SEGMENT || !record_decode(rec, (uint32_t)type, body, &r->time)) {
		leave_out_bytes(r, "a malformed record", from, r->records.p);
		return 0;
	}
	if (type == RECORD_EVENT && !weights_set(&r->weights, rec->event.id, rec->event.period)) {
		leave_out_bytes(r, "an event with two periods", from, r->records.p);
		return 0;
	}
	if (type == RECORD_END)
		r->ended = true;
	if (type == RECORD_DAMAGE && !r->damage.n)
		keep_earlier_damage(r, &rec->damage);
	return 1;
}

static void deliver_version(struct reader *r, struct record *rec)
{
	const uint8_t *p = r->records.p;

	*rec = (struct record){ .type = RECORD_SEGMENT,
				.segment = { le16_load(p), le16_load(p + 2), le16_load(p + 4) } };
	r->records.p += BLOCK_VERSION_BYTES;
	r->state = IN_RECORDS;
}

/*
 * Damage is reported in the segment that it hit, so never before the first segment. Nor is it reported
 * between the records of a header, because a filter that passes them on has to keep them together.
 */
static bool can_deliver_damage(const struct reader *r)
{
	bool inside = r->state == IN_BATCH || (r->state == IN_RECORDS && cursor_left(&r->records) > 0);

	return r->damage_due && r->in_segment && r->state != IN_VERSION && !(r->header && inside);
}

int reader_next(struct reader *r, struct record *rec)
{
	/* The fast path: most records are in a run. */
	if (r->state == IN_BATCH && !r->damage_due && !r->segment_due && !r->error.n && next_in_batch(r, rec))
		return 1;
	for (;;) {
		int got;

		if (r->error.n)
			return -1;
		if (r->segment_due) {
			r->segment_due = false;
			*rec = (struct record){ .type = RECORD_SEGMENT,
						.segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } };
			return 1;
		}
		if (can_deliver_damage(r)) {
			r->damage_due = false;
			*rec = (struct record){ .type = RECORD_DAMAGE, .damage = r->due };
			return 1;
		}
		switch (r->state) {
		case AT_BLOCK:
		case AT_FOUND:
			got = r->state == AT_BLOCK ? find_block(r) : skip_unwanted(r) ? 1 : begin_block(r);
			if (got < 0)
				return got;
			break;
		case IN_VERSION:
			deliver_version(r, rec);
			return 1;
		case IN_RECORDS:
			if (next_record(r, rec))
				return 1;
			break;
		case IN_BATCH:
			if (next_in_batch(r, rec))
				return 1;
			break;
		case AT_END:
			return 0;
		}
	}
}
