/*
 * Fuzzes bytes as folded text: the tree, lines in memory, and lines and trees with a tiny budget all give the
 * same text. Its lines are as folded.h says, in order, and reading them again changes nothing.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-folded [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/folded/folded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/fuzz.h"

enum { STACK = 200, TINY = 100 };

static void must(bool good)
{
	if (!good)
		abort();
}

static int file_of(struct slice bytes)
{
	int fd = memfd_create("folded", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static bool pour(struct profile *p, void *context)
{
	return folded_pour(context, p);
}

static void print_tree(struct buf *out, const struct profile *p)
{
	struct folded_writer w;
	struct slice line;

	must(folded_writer_init(&w, p, 1));
	while (folded_writer_next(&w, &line))
		buf_bytes(out, line.p, line.n);
	must(!w.line.failed);
	folded_writer_release(&w);
}

static void print_lines(struct buf *out, struct stack_sums *l)
{
	struct slice stack;
	uint64_t count;
	int got;

	must(stack_sums_sort(l));
	while ((got = stack_sums_next(l, &stack, &count)) > 0) {
		buf_bytes(out, stack.p, stack.n);
		folded_append_count(out, count);
		buf_byte(out, '\n');
	}
	must(got == 0);
}

/* lines: receives the tree when it is full, or the text directly if direct; NULL: all stays in the tree. */
static uint64_t fold(struct buf *out, struct slice bytes, struct stack_sums *l, bool direct)
{
	struct folded_reader r;
	struct profile p;
	uint64_t bad;
	int fd = file_of(bytes);

	must(profile_init(&p));
	p.stack_max = STACK;
	must(folded_reader_init(&r, fd, (struct slice){ NULL, 0 }, &p, 0));
	r.lines = direct ? l : NULL;
	r.full = l ? pour : NULL;
	r.budget = TINY;
	r.context = l;
	must(folded_read(&r) == 0);
	bad = r.scan.bad;
	if (l) {
		must(folded_pour(l, &p));
		print_lines(out, l);
	} else {
		print_tree(out, &p);
	}
	folded_reader_release(&r);
	profile_release(&p);
	close(fd);
	return bad;
}

static void check_lines(struct slice text)
{
	struct slice before = { NULL, 0 };

	for (const uint8_t *p = text.p, *end; text.n; p = end + 1, text.n -= (size_t)(p - text.p), text.p = p) {
		const uint8_t *count;

		end = memchr(p, '\n', text.n);
		must(end);
		count = memrchr(p, ' ', (size_t)(end - p));
		must(count && count - p <= STACK + (1 << 14));
		for (const uint8_t *q = p; q < end; q++)
			must(*q >= 0x20 && *q != 0x7f);
		must(!before.p || slice_compare(before, (struct slice){ p, (size_t)(count - p) }) < 0);
		before = (struct slice){ p, (size_t)(count - p) };
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const size_t budgets[] = { 0, TINY };
	struct slice bytes = { p, n };
	struct buf want = { 0 }, got = { 0 };
	uint64_t bad = fold(&want, bytes, NULL, false);

	check_lines(buf_view(&want));
	for (unsigned int i = 0; i < 4; i++) {
		struct stack_sums l;

		stack_sums_init(&l, budgets[i & 1]);
		buf_clear(&got);
		must(fold(&got, bytes, &l, i & 2) == bad);
		must(slice_equal(buf_view(&want), buf_view(&got)));
		stack_sums_release(&l);
	}
	buf_clear(&got);
	fold(&got, buf_view(&want), NULL, false);
	must(got.n == 0 || slice_equal(buf_view(&want), buf_view(&got))); /* empty if names make it look like two columns */
	buf_release(&want);
	buf_release(&got);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
