/*
 * Fuzzes text as that of perf script: each record of the resulting stream is valid, and it has every counted
 * sample; converted back to text it has as many, and no line is bad. A stream, or its text as cprof-dump
 * prints it, becomes perf script's text and a perf pipe.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-perfscript [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/export/perfpipe.h"
#include "common/perfscript/script_read.h"
#include "common/perfscript/script_write.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"

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

static int memory(void)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0);
	return fd;
}

static void rewind_memory(int fd)
{
	must(lseek(fd, 0, SEEK_SET) == 0);
}

static void write_text(int fd, struct script_writer *w)
{
	struct slice text;

	while (script_writer_next(w, &text))
		must(write(fd, text.p, text.n) == (ssize_t)text.n);
	must(!w->failed);
}

/*
 * Converts a stream to text, and to a perf pipe whose records end where their size says. Returns the number
 * of samples; *waits is the number of wait samples, which the view leaves out. strict: nothing may be wrong.
 */
static uint64_t convert(int stream, int text, bool strict, uint64_t *waits)
{
	static const struct view view = { .apart = true }; /* events stay apart in both */
	struct reader *r = reader_new(stream, "fuzz");
	struct perf_pipe pipe;
	struct script_writer w;
	struct record rec;
	uint64_t samples;
	int got;

	*waits = 0;
	must(r && perf_pipe_init(&pipe, &view) && script_writer_init(&w, &view));
	while ((got = reader_next(r, &rec)) > 0) {
		const char *wrong;

		if (rec.type == RECORD_SEGMENT)
			write_text(text, &w);
		wrong = script_writer_apply(&w, &rec);
		must(!strict || !wrong);
		*waits += !wrong && rec.type == RECORD_SAMPLE && capture_wait(&w.capture, rec.sample.event) != CAPTURE_RUNS;
		perf_pipe_apply(&pipe, &rec);
		must(!pipe.out.failed && pipe.out.n % 8 == 0);
		if (pipe.out.n > 1 << 20)
			buf_clear(&pipe.out);
	}
	must(!strict || (got == 0 && !reader_damage(r)));
	write_text(text, &w);
	perf_pipe_finish(&pipe);
	samples = pipe.samples;
	must(samples + *waits == capture_totals(&w.capture).samples);
	perf_pipe_release(&pipe);
	script_writer_release(&w);
	reader_free(r);
	return samples;
}

/* Returns the number of samples. strict: no line may be bad. */
static uint64_t read_text(int text, int stream, bool strict)
{
	struct writer *w = writer_new(stream);
	struct script_reader r;
	uint64_t samples;

	must(w && script_reader_init(&r, text, w, DEMANGLE_SIMPLIFIED) && script_read(&r) == 0 && writer_finish(w));
	must(!strict || !r.bad);
	must(r.bad <= r.lines && (r.bad == 0) == (r.why == NULL));
	samples = r.samples;
	script_reader_release(&r);
	writer_free(w);
	return samples;
}

static bool begins(const uint8_t *p, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(p, with, strlen(with)) == 0;
}

/* Writes lines of records as a stream; leaves out those that cannot be parsed. */
static void parse_records(const uint8_t *p, size_t n, int stream)
{
	struct writer *w = writer_new(stream);
	char *text = malloc(n + 1), *line, *save;

	must(w && text);
	memcpy(text, p, n);
	text[n] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct buf scratch = { 0 }, error = { 0 };
		struct record r;

		if (record_parse(&r, line, &scratch, &error))
			writer_put(w, &r);
		buf_release(&scratch);
		buf_release(&error);
	}
	writer_flush(w);
	writer_free(w);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int in = memory(), stream = memory(), text = memory(), again = memory();
	uint64_t samples, waits;

	must(write(in, p, n) == (ssize_t)n);
	rewind_memory(in);
	if (begins(p, n, "\x89" "cpf")) {
		samples = convert(in, text, false, &waits);
	} else if (begins(p, n, "segment ")) {
		parse_records(p, n, stream);
		rewind_memory(stream);
		samples = convert(stream, text, false, &waits);
	} else {
		uint64_t read = read_text(in, stream, false);

		rewind_memory(stream);
		samples = convert(stream, text, true, &waits);
		must(samples + waits == read);
	}
	rewind_memory(text);
	must(read_text(text, again, true) == samples);
	close(in);
	close(stream);
	close(text);
	close(again);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
