/*
 * Fuzzes lines of records, or folded text, in every format made from stacks: the values in each add up to the
 * samples, references within it are valid, and each name stays on its line.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-export [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/export/callgrind.h"
#include "common/export/collect.h"
#include "common/compress/gzip.h"
#include "common/export/json.h"
#include "common/export/pprof.h"
#include "common/export/speedscope.h"
#include "common/folded/folded.h"
#include "common/stream/record_coding.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fuzz.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void collect_lines(struct traces *s, const struct view *view, struct slice input)
{
	struct buf scratch = { 0 }, error = { 0 };
	char *copy = strndup((const char *)input.p, input.n), *line, *save;
	struct collect c;
	struct record r;

	must(copy && collect_init(&c, s, view));
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (record_parse(&r, line, &scratch, &error))
			collect_apply(&c, &r);
	}
	must(collect_finish(&c));
	must(c.sums.samples == s->total && c.sums.unresolved <= c.sums.samples);
	collect_release(&c);
	free(copy);
	buf_release(&scratch);
	buf_release(&error);
}

static void collect_text(struct traces *s, struct slice input)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct folded_reader r;
	struct profile p;

	must(fd >= 0 && profile_init(&p) && folded_reader_init(&r, fd, input, &p, 0));
	must(folded_read(&r) == 0);
	if (p.total[0] <= INT64_MAX) {
		must(collect_profile(s, &p, false));
		must(s->total == p.total[0]);
	}
	folded_reader_release(&r);
	profile_release(&p);
	close(fd);
}

/* Reads one field of protobuf: its number, and its bytes if it is length-delimited, otherwise its value. */
static bool field(struct cursor *c, uint64_t *number, struct slice *bytes, uint64_t *value)
{
	uint64_t tag;

	if (!cursor_varint(c, &tag))
		return false;
	*number = tag >> 3;
	*bytes = (struct slice){ NULL, 0 };
	must((tag & 7) == 0 ? cursor_varint(c, value) : (tag & 7) == 2 && cursor_slice(c, bytes));
	return true;
}

/* Returns a sample's first value; checks that each of its locations is one of n. */
static uint64_t sample_value(struct slice sample, uint64_t n)
{
	struct cursor c = cursor_over(sample.p, sample.n), in;
	uint64_t number, value = 0, first = 0, id;
	struct slice bytes;
	bool seen = false, located = false;

	while (field(&c, &number, &bytes, &value)) {
		in = cursor_over(bytes.p, bytes.n);
		if (number == 1) {
			located = true;
			must(bytes.n || (value > 0 && value < n));
			while (cursor_varint(&in, &id))
				must(id > 0 && id < n);
		} else if (number == 2 && !seen) {
			must(!bytes.n || cursor_varint(&in, &value));
			first = value;
			seen = true;
		}
	}
	must(located);
	return first;
}

static void check_pprof(struct traces *s)
{
	static const struct slice comment = { (const uint8_t *)"c", 1 };
	struct pprof_about about = { 1, &comment, 1 };
	struct pprof_writer *w = pprof_new(s, &about);
	struct buf all = { 0 }, packed = { 0 };
	struct gzip *z = gzip_new();
	uint64_t number, value, sum = 0, strings = 0;
	struct slice bytes;
	struct cursor c;

	must(w && z);
	while (pprof_next(w, &bytes)) {
		buf_bytes(&all, bytes.p, bytes.n);
		gzip_add(z, bytes, &packed);
	}
	gzip_end(z, &packed);
	must(!pprof_failed(w) && !all.failed && !packed.failed && packed.n);
	c = cursor_over(all.p, all.n);
	while (field(&c, &number, &bytes, &value)) {
		sum += number == 2 ? sample_value(bytes, s->n_locations) : 0;
		strings += number == 6;
	}
	must(cursor_left(&c) == 0 && sum == s->total && strings == s->texts.n);
	buf_release(&all);
	buf_release(&packed);
	gzip_free(z);
	pprof_free(w);
}

static void check_speedscope(struct traces *s, enum speedscope_by by, bool weight)
{
	struct speedscope_options o = { by, weight, weight, "fuzz" };
	struct speedscope_writer *w = speedscope_new(s, &o);
	struct buf all = { 0 };
	struct slice bytes;
	uint64_t sum = 0;

	must(w);
	while (speedscope_next(w, &bytes))
		buf_bytes(&all, bytes.p, bytes.n);
	must(!speedscope_failed(w) && !all.failed);
	/* A quote within a name has a backslash before it, so this does not match in a name. */
	for (const char *at = buf_cstr(&all); (at = strstr(at, "\n\"weights\":["));) {
		char *end;

		at += strlen("\n\"weights\":[");
		for (; *at != ']'; at = *end == ',' ? end + 1 : end) {
			sum += strtoull(at, &end, 10);
			must(end > at);
		}
	}
	must(sum == (weight ? s->total_weight : s->total));
	buf_release(&all);
	speedscope_free(w);
}

static void check_callgrind(const struct traces *s, bool weight)
{
	struct callgrind_options o = { weight, "fuzz" };
	struct callgrind_writer *w = callgrind_new(s, &o);
	struct buf all = { 0 };
	struct slice bytes;
	uint64_t sum = 0;
	bool call = false;
	char *line, *save;

	must(w);
	while (callgrind_next(w, &bytes))
		buf_bytes(&all, bytes.p, bytes.n);
	must(!callgrind_failed(w) && !all.failed && strlen(buf_cstr(&all)) == all.n);
	for (line = strtok_r((char *)all.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] >= '0' && line[0] <= '9') {
			const char *space = strchr(line, ' ');

			must(space);
			sum += call ? 0 : strtoull(space, NULL, 10);
		} else {
			must(strchr("#vcpesf", line[0]));
		}
		call = strncmp(line, "calls=", 6) == 0;
	}
	must(sum == (weight ? s->total_weight : s->total));
	buf_release(&all);
	callgrind_free(w);
}

static bool has_a(const char *name, void *context)
{
	(void)context;
	return strchr(name, 'a');
}

static void show(struct slice input, struct view v, bool norm)
{
	struct gather_modules modules;
	struct traces s;

	gather_modules_init(&modules);
	v.modules = &modules;
	must(traces_init(&s));
	if (folded_looks_like(input))
		collect_text(&s, input);
	else
		collect_lines(&s, &v, input);
	must(traces_settle(&s, &modules, norm) && (!norm || traces_keep(&s, has_a, NULL, true)));
	if (pprof_known())
		check_pprof(&s);
	for (unsigned int by = SPEEDSCOPE_THREAD; json_known() && by <= SPEEDSCOPE_ALL; by++)
		check_speedscope(&s, (enum speedscope_by)by, norm);
	check_callgrind(&s, norm);
	traces_release(&s);
	gather_modules_release(&modules);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct slice input = { p, n };

	show(input, (struct view){ .half = HALF_BOTH }, false);
	show(input, (struct view){ .inlined = true, .half = HALF_USER }, true);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
