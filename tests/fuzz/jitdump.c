/*
 * Fuzzes bytes as a jitdump file that grows: the result does not depend on the pieces it is read in, and the
 * name of code at any time is the one a plain search finds.
 */
#include "tests/lib/fuzz.h"

#include "common/base/buf.h"
#include "common/jit/jitdump.h"
#include "common/jit/jitfile.h"

enum { CODES_MAX = 200, QUERIES = 24 };

struct said {
	struct record_jitcode codes[CODES_MAX];
	size_t n;
	uint64_t end; /* where reading ended */
};

static void demand(bool holds)
{
	if (!holds)
		abort();
}

/* Reads the file while it grows by grow bytes at a time, at most window bytes of it at once. */
static void read_file(struct said *said, const uint8_t *bytes, size_t n, size_t grow, size_t window)
{
	struct jitfile f = { 0 };
	struct jitfile_code code;

	for (size_t there = grow < n ? grow : n;;) {
		uint64_t at = f.offset;
		size_t rest = at < there ? there - (size_t)at : 0;
		struct slice now = { bytes + (rest ? at : 0), rest < window ? rest : window };
		enum jitfile_got got;

		while ((got = jitfile_next(&f, now, at, &code)) == JITFILE_CODE) {
			demand(code.kind == JITCODE_CLOSE || (code.size && code.address + code.size >= code.address));
			demand(code.name.n <= PERFMAP_NAME_MAX);
			demand(code.name.n == 0 || (code.name.p >= now.p && code.name.p + code.name.n <= now.p + now.n));
			if (said->n < CODES_MAX)
				said->codes[said->n++] = (struct record_jitcode){ code.time, 1, code.kind, code.address, code.size,
										  code.old, code.name };
		}
		said->end = f.offset;
		demand(f.offset >= at);
		if (got == JITFILE_BAD)
			return;
		if (f.offset == at || rest == 0) {
			if (there == n)
				return;
			there += grow < n - there ? grow : n - there;
		}
	}
}

static bool same(const struct said *a, const struct said *b)
{
	if (a->n != b->n || a->end != b->end)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct record_jitcode *x = &a->codes[i], *y = &b->codes[i];

		if (x->time != y->time || x->kind != y->kind || x->address != y->address || x->size != y->size ||
		    x->old != y->old || !slice_equal(x->name, y->name))
			return false;
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct record_jitcode *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Returns the name at this address after the first n records, by going back one record at a time. */
static struct slice name_at(const struct record_jitcode *codes, size_t n, uint64_t address)
{
	static const struct slice none;

	while (n-- > 0) {
		const struct record_jitcode *c = &codes[n];

		if (c->kind > JITCODE_MOVE)
			continue;
		if (address >= c->address && address < c->address + c->size) {
			if (c->kind == JITCODE_LOAD)
				return c->name;
			address = c->old; /* a move keeps the name at the old start */
		} else if (c->kind == JITCODE_MOVE && address >= c->old && address < c->old + c->size) {
			return none;
		}
	}
	return none;
}

static size_t known_by(const struct said *s, uint64_t time)
{
	size_t n = 0;

	while (n < s->n && s->codes[n].time <= time)
		n++;
	return n;
}

static void check_query(const struct said *s, const struct jitdump_query *q)
{
	size_t n = known_by(s, q->time);
	struct slice want = name_at(s->codes, n, q->address);

	for (; want.n == 0 && n < s->n; n++)
		if (s->codes[n].kind <= JITCODE_MOVE && q->address >= s->codes[n].address &&
		    q->address < s->codes[n].address + s->codes[n].size)
			want = name_at(s->codes, n + 1, q->address);
	demand(slice_equal(want, q->hit.name));
	demand(want.n == 0 || q->hit.start <= q->address);
}

/* Queries the edges of the recorded code, and of the times. */
static void ask(struct said *s)
{
	struct jitdump_query queries[QUERIES];
	struct jitdump d = { 0 };
	struct perfmap_hit hit;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		demand(jitdump_add(&d, &s->codes[i]));
	for (size_t i = 0; i < s->n && n + 3 <= QUERIES; i += 1 + s->n / 8) {
		const struct record_jitcode *c = &s->codes[i];

		queries[n] = (struct jitdump_query){ .address = c->address, .time = c->time, .place = (uint32_t)n };
		queries[n + 1] = (struct jitdump_query){ .address = c->address + c->size - 1, .time = c->time - 1 };
		queries[n + 2] = (struct jitdump_query){ .address = c->old, .time = s->codes[s->n / 2].time };
		n += 3;
	}
	demand(jitdump_replay(&d, queries, n));
	demand(!jitdump_due(&d, n, true));
	qsort(s->codes, s->n, sizeof(s->codes[0]), by_time);
	for (size_t i = 0; i < n; i++)
		check_query(s, &queries[i]);
	if (s->n)
		demand(jitdump_find(&d, s->codes[0].address, UINT64_MAX, &hit) ==
		       (name_at(s->codes, s->n, s->codes[0].address).n > 0));
	jitdump_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct said whole, grown, small;

	whole.n = grown.n = small.n = 0;
	read_file(&whole, bytes, n, n ? n : 1, n + JITFILE_NEEDS);
	read_file(&grown, bytes, n, n / 5 + 1, n + JITFILE_NEEDS);
	read_file(&small, bytes, n, n ? n : 1, JITFILE_NEEDS);
	demand(same(&whole, &grown) && same(&whole, &small));
	/* Makes equal times differ, so that only one order is right. */
	for (size_t i = 0; i < whole.n; i++)
		whole.codes[i].time = whole.codes[i].time << 8 | i;
	ask(&whole);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
