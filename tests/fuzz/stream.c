/*
 * Fuzzes bytes as a stream: reader, capture, writer.
 *
 * The first byte chooses the form of the rest. Even: as it is. Odd: as payloads, each after two bytes
 * (length, high bit: a header), which are put into blocks with the right checksums, because no mutation would
 * ever find those.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-stream [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/base/le.h"
#include "common/capture/capture.h"
#include "common/stream/batch.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/fuzz.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void put_block(struct buf *out, uint8_t type, uint32_t *segment, uint32_t *sequence, struct slice payload)
{
	uint8_t head[BLOCK_HEAD] = { 0 };
	uint64_t check = hash_bytes(payload.p, payload.n);

	if (type == BLOCK_HEADER) {
		*segment = (uint32_t)check;
		*sequence = 0;
	}
	memcpy(head, BLOCK_SYNC, BLOCK_SYNC_BYTES);
	head[4] = type;
	le32_store(head + 8, (uint32_t)payload.n);
	le32_store(head + 12, *segment);
	le32_store(head + 16, (*sequence)++);
	le32_store(head + 20, (uint32_t)hash_bytes(head, 20));
	le64_store(head + 24, check);
	buf_bytes(out, head, sizeof(head));
	buf_bytes(out, payload.p, payload.n);
}

static void wrap(struct buf *out, struct cursor c)
{
	static const uint8_t version[] = { 1, 0, 0, 0, 1, 0 };
	uint32_t segment = 0, sequence = 0;
	struct slice s = { version, sizeof(version) };

	put_block(out, BLOCK_HEADER, &segment, &sequence, s);
	while (cursor_bytes(&c, 2, &s)) {
		uint16_t word = le16_load(s.p);
		size_t n = word & 0x7fff;

		if (!cursor_bytes(&c, n, &s))
			cursor_bytes(&c, cursor_left(&c), &s);
		put_block(out, word >> 15 ? BLOCK_HEADER : BLOCK_RECORDS, &segment, &sequence, s);
	}
}

/* Looks things up as a command does after the last sample of a segment. */
static void look_up(struct capture *c)
{
	uint64_t depth = 0;

	for (uint32_t f = 0; f < c->n_frames && f < 1000; f++) {
		const struct capture_symbol *s;
		const struct capture_place *place;

		if (!c->frames[f].defined)
			continue;
		if (capture_is_lang(&c->frames[f])) {
			const struct capture_function *function = capture_function(c, &c->frames[f]);

			must(!function || capture_function_name(c, function).p);
			must(!function || capture_function_path(c, function).p);
			must(!capture_place(c, f, 0) && !capture_symbol(c, f, 0));
		}
		place = capture_place(c, f, c->frames[f].address % 1000);
		must(!place || place->frame == f);
		must(!place || !place->file || c->files[place->file].defined);
		s = capture_symbol(c, f, 500);
		for (; s; s = s->inner ? &c->symbols[s->inner] : NULL)
			must(s->frame == f && capture_text(c, s->name).p);
		capture_ksym(c, f);
	}
	for (uint32_t n = NODE_FIRST; n < c->n_nodes && n < 1000; n++) {
		for (uint32_t at = n; at >= NODE_FIRST && c->nodes[at].frame; at = c->nodes[at].parent)
			must(++depth && c->nodes[at].parent < at);
	}
	capture_meta(c, "host");
	for (size_t f = 1; f < c->n_files && f < 1000; f++)
		capture_image(c, &c->files[f]);
	capture_totals(c);
}

static void take_in(struct capture *c, struct reader *r, const struct record *rec)
{
	const char *wrong;

	if (rec->type == RECORD_SEGMENT)
		look_up(c);
	wrong = capture_apply(c, rec);
	must(!c->no_memory);
	if (wrong)
		reader_complain(r, wrong);
	else if (rec->type == RECORD_SAMPLE)
		capture_epoch(c, (uint32_t)rec->sample.thread);
}

/* Checks that each record that can be read can be written, in batches too. */
static void pass(struct reader *r, struct writer *w, struct writer *whole, const struct record *rec)
{
	struct stream_batch batch;
	bool batched = batch_is_of(rec->type);

	must(writer_put(w, rec));
	if (!batched || rec->last)
		must(!reader_batch(r, &batch) || writer_put_batch(whole, &batch));
	if (!batched)
		must(writer_put(whole, rec));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static int in = -1, out = -1;
	struct buf bytes = { 0 }, line = { 0 };
	struct capture c;
	struct record rec;
	struct reader *r;
	struct writer *w, *whole;

	if (n == 0)
		return 0;
	if (in < 0) {
		in = memfd_create("in", MFD_CLOEXEC);
		out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	if (p[0] & 1)
		wrap(&bytes, cursor_over(p + 1, n - 1));
	else
		buf_bytes(&bytes, p + 1, n - 1);
	must(ftruncate(in, 0) == 0 && pwrite(in, bytes.p, bytes.n, 0) == (ssize_t)bytes.n && lseek(in, 0, SEEK_SET) == 0);
	r = reader_new(in, "fuzz");
	w = writer_new(out);
	whole = writer_new(out);
	must(r && w && whole && capture_init(&c));
	while (reader_next(r, &rec) > 0) {
		take_in(&c, r, &rec);
		pass(r, w, whole, &rec);
		buf_clear(&line);
		record_print(&line, &rec);
	}
	must(writer_finish(w) && writer_finish(whole) && (reader_refused(r) || !reader_error(r)));
	look_up(&c);
	capture_release(&c);
	writer_free(w);
	writer_free(whole);
	reader_free(r);
	buf_release(&bytes);
	buf_release(&line);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
