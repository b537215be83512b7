/*
 * Checks running out of memory: the first allocation fails, then the second, and so on until everything
 * succeeds. Text is parsed, written as a stream, read, and applied; each time a failure must be reported, and
 * nothing may crash.
 *
 *	stream-alloc FILE	a capture as text
 */
#include "common/capture/capture.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/check.h"

/* glibc's own names, so that ours can replace malloc and the like. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static uint64_t calls, fail_from, fail_to; /* calls in [fail_from, fail_to) fail */

#ifndef __SANITIZE_ADDRESS__ /* which needs its own */
static bool runs_out(void)
{
	calls++;
	if (calls < fail_from || calls >= fail_to)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return runs_out() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return runs_out() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return runs_out() ? NULL : __libc_realloc(p, n);
}
#endif

static bool write_text(const char *text, int fd)
{
	struct buf scratch = { 0 }, error = { 0 };
	struct writer *w = writer_new(fd);
	bool good = w;

	while (good && *text) {
		char line[256];
		size_t n = strcspn(text, "\n");
		struct record r;

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		text += n + 1;
		good = record_parse(&r, line, &scratch, &error) && writer_put(w, &r);
	}
	/* If the writer failed, it has an error message. */
	if (w && !writer_finish(w) && good) {
		good = false;
		if (!writer_error(w) || !strstr(writer_error(w), "memory"))
			abort();
	}
	writer_free(w);
	buf_release(&scratch);
	buf_release(&error);
	return good;
}

static bool read_all(int fd, uint64_t *samples)
{
	struct reader *r = reader_new(fd, "in");
	struct buf line = { 0 };
	struct capture c;
	struct record rec;
	bool good = capture_init(&c) && r;

	*samples = 0;
	while (r && reader_next(r, &rec) > 0) {
		const char *wrong = capture_apply(&c, &rec);

		if (wrong)
			reader_complain(r, wrong);
		if (rec.type == RECORD_SAMPLE && !wrong) {
			capture_place(&c, c.nodes ? c.nodes[rec.sample.user].frame : 0, 0);
			capture_symbol(&c, 1, 0);
			++*samples;
		}
		record_print(&line, &rec);
	}
	if (r && (reader_error(r) || (!c.no_memory && reader_damage(r)))) /* there was nothing wrong with the input */
		abort();
	good = good && !c.no_memory && !line.failed;
	buf_release(&line);
	capture_release(&c);
	reader_free(r);
	return good;
}

/* Returns the number of allocations that everything takes; 0 if it never succeeded. */
static uint64_t until_success(const char *text, bool for_good, uint64_t want)
{
	enum { MOST = 100000 };
	uint64_t samples;

	for (uint64_t i = 1; i < MOST; i++) {
		int fd = memfd_create("cprof-test", MFD_CLOEXEC);
		bool good;

		calls = 0;
		fail_from = i;
		fail_to = for_good ? UINT64_MAX : i + 1;
		good = write_text(text, fd) && lseek(fd, 0, SEEK_SET) == 0 && read_all(fd, &samples);
		fail_to = 0;
		close(fd);
		if (good && samples != want) /* it reported success, and lost something */
			return 0;
		if (calls < i)
			return good ? i : 0;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char text[1 << 16];
	FILE *in = argc > 1 ? fopen(argv[1], "re") : NULL;
	uint64_t want = 0, n;

#ifdef __SANITIZE_ADDRESS__
	printf("1..0 # SKIP allocations are the sanitizer's\n");
	return 0;
#endif
	if (!in || fread(text, 1, sizeof(text) - 1, in) == 0) {
		printf("Bail out! no text\n");
		return 1;
	}
	fclose(in);
	for (const char *at = text; (at = strstr(at, "\nsample ")); at++)
		want++;
	n = until_success(text, false, want);
	printf("# %llu allocations\n", (unsigned long long)n);
	check(n > 50, "each allocation failed once: something said so, or nothing was lost");
	check_is(until_success(text, true, want), n, "and so where none came true after it");
	return checks_done();
}
