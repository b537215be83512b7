/*
 * Checks the formats of common/stream: random records through writer, reader and text, refused and malformed
 * records, runs that are passed on, odd streams made of good blocks.
 */
#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/stream/batch.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/memory-file.h"

static uint64_t random_number(void)
{
	return random_u64() >> random_below(64);
}

/* Makes a record with any values that the wire can hold. */
static void random_record(struct record *r, uint64_t *node)
{
	static uint8_t bytes[3000];
	static uint32_t last = RECORD_SAMPLE;
	uint32_t type = random_below(2) ? last : RECORD_META + (uint32_t)random_below(RECORD_SOURCE + 10);
	const struct record_desc *d = record_desc(type);

	last = type;
	*r = (struct record){ .type = type };
	for (size_t i = 0; i < sizeof(bytes); i += 8)
		le64_store(bytes + i, random_u64());
	for (size_t i = 0; d && i < d->n; i++) {
		char *at = (char *)r + d->fields[i].at;

		if (d->fields[i].kind == FIELD_TEXT || d->fields[i].kind == FIELD_HEX)
			*(struct slice *)at = (struct slice){ bytes, random_below(random_below(50) ? 20 : sizeof(bytes)) };
		else
			*(uint64_t *)at = random_number();
	}
	if (type == RECORD_FRAME)
		r->frame.kind &= 1;
	else if (type == RECORD_SAMPLE)
		r->sample.cpu &= UINT32_MAX;
	else if (type != RECORD_NODE && random_below(4) == 0)
		r->tail = (struct slice){ bytes, random_below(9) };
	if (type == RECORD_NODE) {
		r->node.id = random_below(4) ? ++*node : (*node = NODE_FIRST + (random_u64() >> random_below(63)) / 2);
		r->node.parent = random_below(r->node.id);
	}
	if (type == RECORD_EVENT)
		r->event.period = r->event.id * 7; /* fixed for each event */
	if (type == RECORD_SAMPLE && random_below(2))
		r->sample = (struct record_sample){ .event = 1 + random_below(2), .time = random_number(),
						    .weight = 7 * (1 + random_below(2)) };
}

static bool print(struct buf *out, const struct record *r)
{
	record_print(out, r);
	buf_byte(out, '\n');
	return !out->failed;
}

static struct buf print_all(int fd, struct reader **left)
{
	struct reader *r = reader_new(fd, "file");
	struct buf text = { 0 };
	struct record rec;

	while (reader_next(r, &rec) > 0)
		print(&text, &rec);
	*left = r;
	return text;
}

static void random_round_trip(void)
{
	enum { RECORDS = 60000 };
	int fd = new_file(), fd2 = new_file();
	struct writer *w = writer_new(fd), *w2 = writer_new(fd2);
	struct buf want = { 0 }, got = { 0 }, bytes, bytes2;
	struct reader *r;
	struct record rec = { .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } };
	uint64_t node = NODE_FIRST;
	bool good = writer_put(w, &rec);

	print(&want, &rec);
	for (int i = 0; i < RECORDS; i++) {
		random_record(&rec, &node);
		print(&want, &rec);
		good &= writer_put(w, &rec);
	}
	good &= writer_finish(w);
	check(good && !writer_error(w), "random records are written");
	check(lseek(fd, 0, SEEK_END) == (off_t)writer_bytes(w) && writer_bytes(w) == writer_segment_bytes(w),
	      "the writer knows how many bytes it wrote");
	lseek(fd, 0, SEEK_SET);
	r = reader_new(fd, "file");
	while (reader_next(r, &rec) > 0) {
		if (rec.type != RECORD_FLUSH)
			print(&got, &rec);
		good &= writer_put(w2, &rec);
	}
	good &= writer_finish(w2);
	check(want.n == got.n && memcmp(want.p, got.p, want.n) == 0, "and read as they were");
	bytes = file_bytes(fd);
	bytes2 = file_bytes(fd2);
	check(good && bytes.n == bytes2.n && memcmp(bytes.p, bytes2.p, bytes.n) == 0,
	      "what is read and written again is the same, byte for byte");
	reader_free(r);
	writer_free(w);
	writer_free(w2);
	buf_release(&want);
	buf_release(&got);
	buf_release(&bytes);
	buf_release(&bytes2);
	close(fd);
	close(fd2);
}

static void random_text(void)
{
	struct buf line = { 0 }, again = { 0 }, scratch = { 0 }, error = { 0 };
	uint64_t node = NODE_FIRST;
	bool good = true;

	for (int i = 0; i < 20000 && good; i++) {
		struct record rec, parsed;

		random_record(&rec, &node);
		buf_clear(&line);
		buf_clear(&again);
		record_print(&line, &rec);
		good &= record_parse(&parsed, buf_cstr(&line), &scratch, &error);
		record_print(&again, &parsed);
		good &= slice_equal(buf_view(&line), buf_view(&again));
	}
	check(good, "random records as text and back");
	buf_release(&line);
	buf_release(&again);
	buf_release(&scratch);
	buf_release(&error);
}

static void bad_text(void)
{
	static const char *const lines[] = {
		"", " ", "segment", "segment major=1 minor=0 least=", "segment major=1 minor=0 least=1 ",
		"segment major=1 minor=0 least=1 tail=00", "segment major=0x minor=0 least=1",
		"segment major=-1 minor=0 least=1", "segment major=18446744073709551616 minor=0 least=1",
		"segment major=0x10000000000000000 minor=0 least=1", "meta key=\"a value=\"b\"",
		"meta key=\"\\q\" value=\"\"", "meta key=\"\\x1\" value=\"\"", "meta key=\"\\", "exit time=1 thread=1 tail=0",
		"exit time=1 thread=1 tail=0g", "record-2 tail=00", "record-0", "record-60x", "record- 60", "record-+60",
		"record-4294967296", "record-99999999999999999999", "record-", "end time=1 reason=nonsense samples=0",
		"flush tail=00", "sample time=1 event=1 cpu=0 thread=1 user=0 kernel=0 weight=1 tail=00",
		"file id=1 major=0 minor=0 inode=0 generation=0 build-id=123 path=\"\"",
	};
	struct buf scratch = { 0 }, error = { 0 };
	struct record r;
	bool good = true;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		bool refused = !record_parse(&r, lines[i], &scratch, &error) && error.n > 0;

		if (!refused)
			printf("# taken: %s\n", lines[i]);
		good &= refused;
	}
	check(good, "text that is no record is refused in a sentence");
	check(record_parse(&r, "segment major=010 minor=0x1F least=1", &scratch, &error) && r.segment.major == 10 &&
	      r.segment.minor == 31, "numbers are decimal, or hexadecimal behind 0x");
	buf_release(&scratch);
	buf_release(&error);
}

static void refused_records(void)
{
	static const struct { struct record r; const char *why; } table[] = {
		{ { .type = RECORD_SEGMENT, .segment = { 65536, 0, 1 } }, "a version beyond 16 bits" },
		{ { .type = RECORD_FRAME, .frame = { 1, 1, 2, 0 } }, "a frame of unknown kind" },
		{ { .type = RECORD_NODE, .node = { 17, 17, 0 } }, "a node whose parent comes after it" },
		{ { .type = RECORD_NODE, .node = { 15, 0, 0 } }, "a node with the number of a root" },
		{ { .type = RECORD_SAMPLE, .sample = { .cpu = UINT64_C(1) << 32 } }, "a CPU number beyond 32 bits" },
		{ { .type = RECORD_EVENT, .event = { .id = 1, .period = 2 } }, "an event with two periods" },
	};
	int fd = new_file();
	bool good = true;
	struct writer *w;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		w = writer_new(fd);
		good &= writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
		good &= writer_put(w, &(struct record){ .type = RECORD_EVENT, .event = { .id = 1, .period = 1 } });
		good &= !writer_put(w, &table[i].r) && writer_refused(w) && strcmp(writer_error(w), table[i].why) == 0;
		good &= !writer_finish(w);
		writer_free(w);
	}
	check(good, "a record that the wire cannot hold is refused in a sentence");
	w = writer_new(fd);
	check(!writer_put(w, &(struct record){ .type = RECORD_META }) && writer_refused(w), "and one before any segment");
	writer_free(w);
	close(fd);
}

static void large_records(void)
{
	enum { MOST = BLOCK_MAX - 12 };
	uint8_t *data = calloc(1, BLOCK_MAX + 1);
	struct record image = { .type = RECORD_IMAGE, .image = { slice_of("x"), { data, 0 }, { data, MOST } } };
	struct record exited = { .type = RECORD_EXIT, .exit = { 1, 1 } };
	struct record jitmap = { .type = RECORD_JITMAP, .jitmap = { 1, 1, 0, { data, MOST } } };
	int fd = new_file();
	struct writer *w = writer_new(fd);
	struct reader *r;
	struct buf text;
	bool good = writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });

	good &= writer_put(w, &exited) && writer_put(w, &image) && writer_put(w, &jitmap) && writer_put(w, &exited);
	check(good && writer_finish(w), "a record of almost a block's most gets a block of its own");
	image.image.data.n = BLOCK_MAX;
	check(!writer_put(w, &image) && writer_refused(w), "a larger one is refused");
	exited.exit.time = 7;
	good = writer_put(w, &exited) && writer_flush(w);
	check(good && !writer_finish(w) && writer_refused(w), "the stream goes on without it, and is not forgotten");
	writer_free(w);
	lseek(fd, 0, SEEK_SET);
	text = print_all(fd, &r);
	check(strstr(buf_cstr(&text), "exit time=1 thread=1\nflush\nimage name=") &&
	      strstr(buf_cstr(&text), "flush\nexit time=7 thread=1\nflush\n") &&
	      strstr(reader_damage(r), ": cut short here"), "and the large ones are read");
	reader_free(r);
	buf_release(&text);
	free(data);
	close(fd);
}

/* Appends a block with any payload and the right checksums. */
static void put_block(struct buf *out, uint8_t type, uint8_t flags, uint32_t segment, uint32_t sequence,
		      struct slice payload)
{
	uint8_t head[BLOCK_HEAD] = { 0 };

	memcpy(head, BLOCK_SYNC, BLOCK_SYNC_BYTES);
	head[4] = type;
	head[5] = flags;
	le32_store(head + 8, (uint32_t)payload.n);
	le32_store(head + 12, segment);
	le32_store(head + 16, sequence);
	le32_store(head + 20, (uint32_t)hash_bytes(head, 20));
	le64_store(head + 24, hash_bytes(payload.p, payload.n));
	buf_bytes(out, head, sizeof(head));
	buf_bytes(out, payload.p, payload.n);
}

#define SEGMENT_LINE "segment major=1 minor=0 least=1\n"

/* Checks the text and the damage message of one block with these bytes in a segment of its own. */
static void payload_is(const char *what, struct slice payload, const char *want, const char *damage)
{
	static const uint8_t version[] = { 1, 0, 0, 0, 1, 0 };
	struct slice header = { version, sizeof(version) };
	uint32_t segment = (uint32_t)hash_bytes(version, sizeof(version));
	struct buf b = { 0 }, text;
	struct reader *r;
	const char *said;
	bool good;
	int fd;

	put_block(&b, BLOCK_HEADER, 0, segment, 0, header);
	put_block(&b, BLOCK_RECORDS, 0, segment, 1, payload);
	fd = file_of(b.p, b.n);
	text = print_all(fd, &r);
	said = reader_damage(r);
	good = strncmp(buf_cstr(&text), SEGMENT_LINE "flush\n", strlen(SEGMENT_LINE "flush\n")) == 0 &&
	       strncmp(buf_cstr(&text) + strlen(SEGMENT_LINE "flush\n"), want, strlen(want)) == 0 &&
	       said && strstr(said, damage);
	check(good, what);
	if (!good)
		printf("# %s\n# said: %s\n", buf_cstr(&text), said ? said : "nothing");
	reader_free(r);
	buf_release(&text);
	buf_release(&b);
	close(fd);
}

#define PAYLOAD(...) ((struct slice){ (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) })

static void malformed_records(void)
{
	static const char bad[] = "block 1 at byte 38: a malformed record";

	payload_is("half a record", PAYLOAD(RECORD_EXIT), "damage", bad);
	payload_is("a record longer than its block", PAYLOAD(RECORD_EXIT, 9, 0, 0), "damage", bad);
	payload_is("a record shorter than its fields; the next is read", PAYLOAD(RECORD_EXIT, 1, 2, RECORD_EXIT, 2, 2, 7),
		   "damage offset=38 bytes=3 blocks=0 what=\"a malformed record\"\nexit time=2 thread=7\nflush\n", bad);
	payload_is("a type that only readers use", PAYLOAD(RECORD_SEGMENT, 3, 1, 1, 1), "damage", bad);
	payload_is("a type beyond 32 bits", PAYLOAD(0x80, 0x80, 0x80, 0x80, 0x10, 0), "damage", bad);
	payload_is("a node before its parent's number", PAYLOAD(RECORD_NODE, 3, 16, 40, 0), "damage", bad);
	payload_is("a node with the number of a root", PAYLOAD(RECORD_NODE, 3, 15, 0, 2), "damage", bad);
	payload_is("a node whose parent's number is a root's", PAYLOAD(RECORD_NODE, 3, 17, 17, 2), "damage", bad);
	payload_is("the bytes of an entry, and the time that it began with",
		   PAYLOAD(RECORD_SAMPLE, 8, 2, 0, 1, 0, 0, 4, 0, 1, RECORD_EXIT, 2, 2, 7),
		   "sample time=1 event=1 cpu=0 thread=1 user=0 kernel=0 weight=0\n"
		   "damage offset=38 bytes=3 blocks=0 what=\"a malformed record\"\nexit time=4 thread=7\nflush\n", bad);
	payload_is("a sample of CPU 2^32; those before it are good",
		   PAYLOAD(RECORD_SAMPLE, 14, 2, 0, 1, 0, 0, 2, 0x80, 0x80, 0x80, 0x80, 0x40, 1, 0, 0),
		   "sample time=1 event=1 cpu=0 thread=1 user=0 kernel=0 weight=0\ndamage", bad);
	payload_is("an event with two periods", PAYLOAD(RECORD_EVENT, 5, 1, 0, 0, 5, 0, RECORD_EVENT, 5, 1, 0, 0, 6, 0),
		   "event id=1 name=\"\" unit=\"\" period=5 millihertz=0\ndamage",
		   "an event with two periods");
	payload_is("an empty payload", (struct slice){ (const uint8_t *)"", 0 }, "flush\ndamage", "block 2 at byte 70: cut short here");
	payload_is("empty batches", PAYLOAD(RECORD_SAMPLE, 0, RECORD_NODE, 1, 16, RECORD_FRAME, 3, 1, 1, 1), "flush\n",
		   "block 2 at byte 80: cut short here");
	payload_is("an unknown record is delivered", PAYLOAD(60, 2, 1, 2), "record-60 tail=0102\nflush\n", "cut short here");
	payload_is("an earlier damage, with letters for a terminal's control characters",
		   PAYLOAD(RECORD_DAMAGE, 7, 5, 1, 0, 3, 27, '[', 'x'), "damage offset=5 bytes=1 blocks=0 what=\"\\x1b[x\"\n",
		   "file: damage found by an earlier reader, at byte 5: ?[x");
}

/* Copies a stream to another, by batches if whole; writes an EXIT with time, if not 0, before each batch. */
static struct buf passed(int in, bool whole, uint64_t time)
{
	int fd = new_file();
	struct writer *w = writer_new(fd);
	struct reader *r = reader_new(in, "file");
	struct stream_batch batch;
	struct record rec;
	struct buf bytes;
	bool good = true;

	lseek(in, 0, SEEK_SET);
	while (reader_next(r, &rec) > 0) {
		bool each = !whole || !batch_is_of(rec.type);

		if (whole && (each || rec.last) && reader_batch(r, &batch)) {
			good &= !time || writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { time, 77 } });
			good &= writer_put_batch(w, &batch) && !reader_batch(r, &batch);
		}
		good &= !each || writer_put(w, &rec);
	}
	if (!good || !writer_finish(w))
		abort();
	bytes = file_bytes(fd);
	writer_free(w);
	reader_free(r);
	close(fd);
	return bytes;
}

/* Returns the records as text, without the ends of blocks and the records that passed() inserted. */
static struct buf text_of(const struct buf *bytes)
{
	int fd = file_of(bytes->p, bytes->n);
	struct reader *r = reader_new(fd, "file");
	struct buf text = { 0 };
	struct record rec;

	while (reader_next(r, &rec) > 0) {
		if (rec.type != RECORD_FLUSH && (rec.type != RECORD_EXIT || rec.exit.thread != 77))
			print(&text, &rec);
	}
	reader_free(r);
	close(fd);
	return text;
}

static void passed_the_same(const char *what, int fd, uint64_t time)
{
	struct buf each = passed(fd, false, 0), whole = passed(fd, true, time), want = text_of(&each), got = text_of(&whole);

	check(want.n == got.n && memcmp(want.p, got.p, want.n) == 0, what);
	check(time || (each.n == whole.n && memcmp(each.p, whole.p, each.n) == 0), "and the bytes are, where no time is changed");
	buf_release(&each);
	buf_release(&whole);
	buf_release(&want);
	buf_release(&got);
}

static void batches(void)
{
	enum { LARGE = BLOCK_MAX - 8, SAMPLE_BYTES = 5 };
	static const uint8_t version[] = { 1, 0, 0, 0, 1, 0 };
	uint32_t segment = (uint32_t)hash_bytes(version, sizeof(version));
	struct slice cut = PAYLOAD(RECORD_SAMPLE, 12, 6, 0, 1, 0, 0, 2, 0, 1, 0, 0, 4, 0, RECORD_EXIT, 2, 2, 7);
	struct buf b = { 0 }, payload = { 0 }, body = { 0 };
	struct record rec = { .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } };
	int fd = new_file();
	struct writer *w = writer_new(fd);
	uint64_t node = NODE_FIRST;

	for (int i = 0; i < 20000; i++, random_record(&rec, &node))
		writer_put(w, &rec);
	writer_finish(w);
	writer_free(w);
	passed_the_same("random records passed on by batches are the same", fd, 0);
	passed_the_same("also where their times begin elsewhere", fd, 12345);
	close(fd);

	put_block(&b, BLOCK_HEADER, 0, segment, 0, (struct slice){ version, sizeof(version) });
	put_block(&b, BLOCK_RECORDS, 0, segment, 1, cut);
	fd = file_of(b.p, b.n);
	passed_the_same("of a batch that is malformed, what comes before", fd, 0);
	close(fd);

	buf_clear(&b);
	while (body.n + SAMPLE_BYTES < LARGE)
		buf_bytes(&body, (const uint8_t[]){ 2, 0, 1, 0, 0 }, SAMPLE_BYTES);
	buf_varint(&payload, RECORD_SAMPLE);
	buf_slice(&payload, buf_view(&body));
	put_block(&b, BLOCK_HEADER, 0, segment, 0, (struct slice){ version, sizeof(version) });
	put_block(&b, BLOCK_RECORDS, 0, segment, 1, buf_view(&payload));
	put_block(&b, BLOCK_RECORDS, 0, segment, 2, PAYLOAD(RECORD_END, 3, 2, 0, 0));
	fd = file_of(b.p, b.n);
	passed_the_same("a batch that fills its block behind another record", fd, UINT64_MAX / 3);
	close(fd);
	buf_release(&b);
	buf_release(&body);
	buf_release(&payload);
}

static void odd_blocks(void)
{
	static const uint8_t version[] = { 1, 0, 0, 0, 1, 0 }, newer[] = { 2, 0, 0, 0, 2, 0 };
	static const uint8_t records[] = { RECORD_END, 3, 0, 0, 0 };
	uint32_t segment = (uint32_t)hash_bytes(version, sizeof(version));
	static const struct { uint8_t type, flags; const uint8_t *p; size_t n; const char *damage, *error; } table[] = {
		{ 3, 0, records, sizeof(records), "a block of a kind unknown to this version", NULL },
		{ BLOCK_RECORDS, 1, records, sizeof(records), "a block of a kind unknown to this version", NULL },
		{ BLOCK_HEADER, 0, version, 5, "header without a version", NULL },
		{ BLOCK_HEADER, 0, newer, sizeof(newer), NULL, "file: requires a reader of version 2, this one has version 1" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct buf b = { 0 }, text;
		const char *said, *want = table[i].damage ? table[i].damage : table[i].error;
		struct reader *r;
		int fd;

		put_block(&b, table[i].type, table[i].flags, segment, 0, (struct slice){ table[i].p, table[i].n });
		put_block(&b, BLOCK_HEADER, 0, segment, 0, (struct slice){ version, sizeof(version) });
		put_block(&b, BLOCK_RECORDS, 0, segment, 1, (struct slice){ records, sizeof(records) });
		fd = file_of(b.p, b.n);
		text = print_all(fd, &r);
		said = table[i].damage ? reader_damage(r) : reader_error(r);
		check(said && strstr(said, want) && reader_refused(r) == !table[i].damage &&
		      (!table[i].damage || strstr(buf_cstr(&text), "end time=0")), want);
		reader_free(r);
		buf_release(&text);
		buf_release(&b);
		close(fd);
	}
}

/*
 * Checks that a stream inside a payload is never read as part of the outer one, even if the block is damaged.
 */
static void stream_in_a_stream(void)
{
	int inner = new_file(), outer = new_file();
	struct writer *w = writer_new(inner);
	struct buf b, text;
	struct reader *r;

	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
	writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { 9, 9 } });
	writer_finish(w);
	writer_free(w);
	b = file_bytes(inner);
	w = writer_new(outer);
	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
	writer_put(w, &(struct record){ .type = RECORD_IMAGE, .image = { slice_of("x"), slice_of(""), buf_view(&b) } });
	writer_flush(w);
	writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { 5, 5 } });
	writer_finish(w);
	writer_free(w);
	buf_release(&b);
	b = file_bytes(outer);
	b.p[BLOCK_HEAD + BLOCK_VERSION_BYTES + BLOCK_HEAD] ^= 1;
	close(outer);
	outer = file_of(b.p, b.n);
	text = print_all(outer, &r);
	check(strstr(buf_cstr(&text), "exit time=5 thread=5") && !strstr(buf_cstr(&text), "exit time=9") &&
	      strstr(buf_cstr(&text), "blocks=0 what=\"checksum mismatch\"\n"), "a stream inside of a damaged block stays there");
	reader_free(r);
	buf_release(&b);
	buf_release(&text);
	close(inner);
	close(outer);
}

/* Checks that overlapping blocks cost a fixed number of hashes a byte. */
static void overlapping_blocks(void)
{
	enum { HEADS = 60000, CLAIM = (1 << 20) - 1 }; /* no head is at the end of a claim */
	struct buf b = { 0 }, text;
	uint8_t head[BLOCK_HEAD + 1] = { 0 };
	struct reader *r;
	int fd;

	memcpy(head, BLOCK_SYNC, BLOCK_SYNC_BYTES);
	head[4] = BLOCK_RECORDS;
	le32_store(head + 8, CLAIM);
	le32_store(head + 20, (uint32_t)hash_bytes(head, 20));
	put_block(&b, BLOCK_HEADER, 0, 0, 0, (struct slice){ (const uint8_t *)"\1\0\0\0\1\0", 6 });
	for (unsigned int i = 0; i < HEADS; i++)
		buf_bytes(&b, head, sizeof(head));
	put_block(&b, BLOCK_HEADER, 0, 0, 0, (struct slice){ (const uint8_t *)"\1\0\0\0\1\0", 6 });
	fd = file_of(b.p, b.n);
	text = print_all(fd, &r);
	check(reader_hashed(r) <= 3 * b.n + 16 * BLOCK_MAX, "overlapping blocks are hashed a few times only");
	check(strstr(buf_cstr(&text), SEGMENT_LINE "flush\n" "damage offset=38 bytes=1980000 ") &&
	      strstr(strchr(buf_cstr(&text), '\n'), "\n" SEGMENT_LINE),
	      "they are one damage, and the next block is found");
	reader_free(r);
	buf_release(&b);
	buf_release(&text);
	close(fd);
}

int main(void)
{
	random_round_trip();
	random_text();
	bad_text();
	refused_records();
	large_records();
	malformed_records();
	batches();
	odd_blocks();
	stream_in_a_stream();
	overlapping_blocks();
	return checks_done();
}
