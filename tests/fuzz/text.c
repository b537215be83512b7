/*
 * Fuzzes text as lines of records: an accepted line prints as text that is accepted and prints the same.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-text [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fuzz.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void take(const char *line, struct writer *w)
{
	struct buf scratch = { 0 }, scratch2 = { 0 }, error = { 0 }, print = { 0 }, again = { 0 };
	struct record r;

	if (record_parse(&r, line, &scratch, &error)) {
		writer_put(w, &r);
		record_print(&print, &r);
		must(record_parse(&r, buf_cstr(&print), &scratch2, &error));
		record_print(&again, &r);
		must(slice_equal(buf_view(&print), buf_view(&again)));
	} else {
		must(error.n > 0);
	}
	buf_release(&scratch);
	buf_release(&scratch2);
	buf_release(&error);
	buf_release(&print);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static int out = -1;
	struct writer *w;
	char *text = malloc(n + 1), *line, *save;

	if (out < 0)
		out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	w = writer_new(out);
	must(text && w);
	if (n)
		memcpy(text, p, n);
	text[n] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take(line, w);
	writer_finish(w);
	must(!writer_error(w) || writer_refused(w));
	writer_free(w);
	free(text);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
