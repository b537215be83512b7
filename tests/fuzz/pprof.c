/*
 * Fuzzes a profile of pprof, compressed or not: the stream made of it has only valid records, and every
 * counted sample.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-pprof [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/capture/capture.h"
#include "common/compress/unpack.h"
#include "common/import/pprof_read.h"
#include "common/stream/reader.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/fuzz.h"

enum { UNPACKED_MAX = 4 << 20, SAMPLES_MAX = 10000 };

static void must(bool good)
{
	if (!good)
		abort();
}

/* Returns the number of samples in the stream. */
static uint64_t count_samples(int stream)
{
	struct reader *r = reader_new(stream, "fuzz");
	struct capture c;
	struct record rec;
	uint64_t samples;
	int got;

	must(r && capture_init(&c));
	while ((got = reader_next(r, &rec)) > 0)
		must(!capture_apply(&c, &rec));
	must(got == 0 && !reader_damage(r) && !c.no_memory && c.end_seen);
	samples = capture_totals(&c).samples;
	capture_release(&c);
	reader_free(r);
	return samples;
}

static void read_profile(struct slice bytes)
{
	int stream = memfd_create("fuzz", MFD_CLOEXEC);
	struct writer *w = writer_new(stream);
	struct pprof_reader r;

	must(stream >= 0 && w && pprof_reader_init(&r, bytes, w));
	r.most = SAMPLES_MAX;
	must(pprof_reader_choose(&r, NULL) && pprof_read(&r) && writer_finish(w));
	must(lseek(stream, 0, SEEK_SET) == 0);
	must(count_samples(stream) == r.samples);
	pprof_reader_release(&r);
	writer_free(w);
	close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct slice bytes = { p, n };
	struct buf plain = { 0 };

	pprof_looks_like(bytes);
	if (packing_of(bytes) == PACKED_GZIP) {
		unpack_whole(PACKED_GZIP, bytes, UNPACKED_MAX, &plain);
		bytes = buf_view(&plain);
	}
	read_profile(bytes);
	buf_release(&plain);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
