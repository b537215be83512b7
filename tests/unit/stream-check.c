/*
 * Checks common/base and common/stream: numbers, tables against simple models, random records through writer
 * and reader, odd streams made of good blocks, a pipe whose writer pauses, disks that fill up.
 */
#include "common/base/hash.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/base/le.h"
#include "common/stream/batch.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/lib/check.h"

static void numbers(void)
{
	static const uint8_t too_long[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 };
	static const uint8_t too_big[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 };
	uint64_t edges[3 * 64 + 2], v = 7;
	struct buf b = { 0 };
	bool varints = true, zigzags = true, cut = true;
	struct cursor c;
	struct slice s;
	size_t n = 0;

	for (unsigned int bit = 0; bit < 64; bit++) {
		edges[n++] = (UINT64_C(1) << bit) - 1;
		edges[n++] = UINT64_C(1) << bit;
		edges[n++] = (UINT64_C(1) << bit) + 1;
	}
	edges[n++] = UINT64_MAX;
	edges[n++] = UINT64_MAX - 1;
	for (size_t i = 0; i < n; i++) {
		buf_clear(&b);
		buf_varint(&b, edges[i]);
		for (size_t k = 0; k < b.n; k++) {
			c = cursor_over(b.p, k);
			cut &= !cursor_varint(&c, &v) && c.p == b.p;
		}
		c = cursor_over(b.p, b.n);
		varints &= cursor_varint(&c, &v) && v == edges[i] && cursor_left(&c) == 0 && b.n <= VARINT_MAX;
		zigzags &= unzigzag(zigzag((int64_t)edges[i])) == (int64_t)edges[i];
	}
	check(varints, "varints at every power of two");
	check(cut, "a varint that is cut short is none, and the cursor stays");
	check(zigzags && zigzag(-1) == 1 && zigzag(1) == 2 && zigzag(INT64_MIN) == UINT64_MAX, "zigzag");
	c = cursor_over(too_long, sizeof(too_long));
	check(!cursor_varint(&c, &v) && c.p == too_long, "eleven bytes are no varint");
	c = cursor_over(too_big, sizeof(too_big));
	check(!cursor_varint(&c, &v), "65 bits are no varint");
	buf_clear(&b);
	buf_varint(&b, UINT64_MAX);
	c = cursor_over(b.p, b.n);
	check(!cursor_slice(&c, &s) && c.p == b.p, "a slice of 2^64 - 1 bytes is not there");
	buf_release(&b);
}

/* Uses strings of few letters and of all lengths, so that many are the same and many differ late. */
static void interning(void)
{
	enum { STRINGS = 20000, MOST = 40 };
	static uint8_t text[STRINGS][MOST];
	static size_t length[STRINGS];
	struct intern t;
	uint32_t id, again, n = 0;
	bool good = true;

	intern_init(&t);
	good &= !intern_find(&t, slice_of(""), &id);
	for (size_t i = 0; i < STRINGS && good; i++) {
		bool known;
		struct slice s = { text[n], random_below(MOST) };

		for (size_t k = 0; k < s.n; k++)
			text[n][k] = random_below(40) ? 'a' : (uint8_t)random_below(3);
		length[n] = s.n;
		known = intern_find(&t, s, &again);
		good &= intern_add(&t, s, &id) && (known ? id == again : id == n);
		good &= slice_equal(intern_get(&t, id), s) && intern_get(&t, id).p[s.n] == '\0';
		n += !known;
	}
	for (uint32_t i = 0; i < n; i++)
		good &= slice_equal(intern_get(&t, i), (struct slice){ text[i], length[i] }) &&
			intern_find(&t, (struct slice){ text[i], length[i] }, &id) && id == i;
	check(good && t.n == n && n > 1000, "interned strings have one dense id each, and keep their bytes");
	intern_release(&t);
}

static void mapping_ids(void)
{
	enum { KEYS = 300, STEPS = 200000 };
	static uint64_t keys[KEYS];
	static int64_t model[KEYS];
	struct idmap m;
	size_t live = 0;
	uint32_t v;
	bool good = true;

	idmap_init(&m);
	idmap_remove(&m, 1);
	for (size_t i = 0; i < KEYS; i++) {
		keys[i] = i < 100 ? i : random_u64();
		model[i] = -1;
	}
	for (size_t i = 0; i < STEPS && good; i++) {
		size_t k = random_below(KEYS);

		/* Alternates phases of growing and of shrinking, so that probes run over holes. */
		if (random_below(100) < (i / 5000 % 2 ? 65 : 35)) {
			live += model[k] < 0;
			model[k] = (int64_t)random_below(UINT32_MAX);
			good &= idmap_set(&m, keys[k], (uint32_t)model[k]);
		} else {
			live -= model[k] >= 0;
			model[k] = -1;
			idmap_remove(&m, keys[k]);
		}
		if (random_below(30000) == 0) {
			idmap_clear(&m);
			memset(model, -1, sizeof(model));
			live = 0;
		}
		k = random_below(KEYS);
		good &= idmap_find(&m, keys[k], &v) == (model[k] >= 0) && (model[k] < 0 || v == (uint32_t)model[k]);
		good &= m.n == live;
	}
	for (size_t k = 0; k < KEYS; k++)
		good &= idmap_find(&m, keys[k], &v) == (model[k] >= 0) && (model[k] < 0 || v == (uint32_t)model[k]);
	check(good, "a map of ids, with removal, against an array");
	idmap_release(&m);
}

/* A file in memory. */
static int new_file(void)
{
	int fd = memfd_create("cprof-test", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

static struct buf file_bytes(int fd)
{
	struct buf b = { 0 };
	off_t n = lseek(fd, 0, SEEK_END);

	if (n < 0 || !buf_reserve(&b, (size_t)n + 1) || pread(fd, b.p, (size_t)n, 0) != n)
		abort();
	b.n = (size_t)n;
	return b;
}

static int file_of(const void *p, size_t n)
{
	int fd = new_file();

	if (write(fd, p, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

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

/* The writer of a pipe pauses after each block, and in the middle of each head and payload. */
static void live_pipe(void)
{
	int fd = new_file(), ends[2];
	struct writer *w = writer_new(fd);
	struct buf b;
	struct reader *r;
	struct record rec;
	size_t at = 0, delivered = 0;
	bool good = true, early = false;

	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
	for (uint64_t i = 0; i < 4; i++) {
		writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { i, i } });
		writer_flush(w);
	}
	writer_finish(w);
	b = file_bytes(fd);
	if (pipe(ends) != 0)
		abort();
	r = reader_new(ends[0], "pipe");
	alarm(20); /* a reader that waits for bytes it does not need would wait forever */
	while (at < b.n) {
		size_t size = BLOCK_HEAD + le32_load(b.p + at + 8), begin = delivered;

		/*
		 * Without its last byte it is no block yet, and the reader knows that it would have to wait.
		 */
		good &= write(ends[1], b.p + at, size - 1) == (ssize_t)size - 1;
		early |= reader_ready(r);
		good &= write(ends[1], b.p + at + size - 1, 1) == 1;
		do {
			good &= reader_next(r, &rec) == 1;
			delivered++;
		} while (good && rec.type != RECORD_FLUSH);
		good &= delivered > begin;
		at += size;
	}
	check(good && delivered == 1 + 1 + 4 + 4 && !early, "each block of a live pipe is delivered as soon as it is whole");
	/* Two blocks at once: after the first, the second is there. */
	good = write(ends[1], b.p, b.n) == (ssize_t)b.n;
	do
		good &= reader_next(r, &rec) == 1;
	while (good && rec.type != RECORD_FLUSH);
	check(good && reader_ready(r), "and what is there already is known to be");
	close(ends[1]);
	while (reader_next(r, &rec) > 0)
		;
	check(reader_ready(r) && strstr(reader_damage(r), "the segment before this one was cut short"), "up to the end");
	alarm(0);
	reader_free(r);
	writer_free(w);
	buf_release(&b);
	close(ends[0]);
	close(fd);
}

static void non_blocking(void)
{
	int ends[2];
	struct writer *w;
	struct reader *r;
	struct record rec;
	bool good = true;
	pid_t child;
	uint64_t n = 0;

	if (pipe2(ends, O_NONBLOCK) != 0)
		abort();
	fflush(stdout);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		w = writer_new(ends[1]);
		writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
		for (uint64_t i = 0; i < 300000; i++)
			writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { i * 1000, i } });
		_exit(!writer_finish(w));
	}
	close(ends[1]);
	r = reader_new(ends[0], "pipe");
	while (reader_next(r, &rec) > 0)
		n += rec.type == RECORD_EXIT;
	good &= !reader_error(r) && n == 300000;
	check(good, "a pipe that someone made non-blocking works like any other");
	reader_free(r);
	close(ends[0]);
}

/* Fills the disk after n bytes: the writer reports it for every n. */
static void full_disk(void)
{
	struct rlimit before, limit;
	bool good = true;
	size_t whole = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (size_t most = 0; most == 0 || most <= whole; most++) {
		char name[] = "/tmp/cprof-test.XXXXXX";
		int fd = mkstemp(name);
		struct writer *w = writer_new(fd);
		bool done;

		unlink(name);
		limit = (struct rlimit){ most ? most - 1 : RLIM_INFINITY, before.rlim_max };
		setrlimit(RLIMIT_FSIZE, &limit);
		writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
		writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { 1, 1 } });
		writer_flush(w);
		writer_put(w, &(struct record){ .type = RECORD_END });
		done = writer_finish(w);
		if (most == 0) {
			whole = writer_bytes(w);
			good &= done && whole > 0;
		} else {
			good &= !done && writer_error(w) && strcmp(writer_error(w), "cannot write: File too large") == 0 &&
				!writer_refused(w) && writer_bytes(w) == most - 1 &&
				!writer_put(w, &(struct record){ .type = RECORD_END });
		}
		writer_free(w);
		close(fd);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	check(good, "a disk that is full after any number of bytes is told as such");
}

static void bad_descriptors(void)
{
	struct record rec;
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	struct reader *r = reader_new(fd, "folder");

	check(reader_next(r, &rec) == -1 && reader_next(r, &rec) == -1 && !reader_refused(r) && !reader_damage(r) &&
	      strcmp(reader_error(r), "folder: cannot read at byte 0: Is a directory") == 0,
	      "a folder is no stream, and that is the system's word");
	reader_free(r);
	close(fd);
}

int main(void)
{
	numbers();
	interning();
	mapping_ids();
	random_round_trip();
	random_text();
	bad_text();
	refused_records();
	large_records();
	malformed_records();
	batches();
	odd_blocks();
	stream_in_a_stream();
	live_pipe();
	non_blocking();
	full_disk();
	bad_descriptors();
	return checks_done();
}
