/*
 * Fuzzes a JVM's memory: each four bytes of input change the made-up JVM in one place. Layouts and processes
 * that are found are valid, blobs are in order, and reading is bounded.
 */
#include "tests/lib/fuzz.h"
#include "tests/lib/made-java.h"

static struct made_java j;

static void demand(bool holds)
{
	if (!holds)
		abort();
}

/* Values that break checks more often than random ones do. */
static uint64_t make_value(uint8_t kind, uint8_t low)
{
	static const uint64_t values[] = { 0, 1, 8, 47, 383, 384, 4096, 1 << 16, UINT64_C(1) << 31,
					   UINT64_C(1) << 47, UINT64_MAX - 7, UINT64_MAX };

	if (kind % 16 < 12)
		return values[kind % 16] + (low & 7);
	return MADE_JAVA_AT + (uint64_t)low * 1024 + (kind & 0xf0);
}

static void change(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		size_t at = (((size_t)p[i] << 8 | p[i + 1]) * 8) % MADE_JAVA_BYTES;

		made_java_put(&j, at, make_value(p[i + 2], p[i + 3]), p[i + 2] & 0x80 ? 4 : 8);
	}
}

static void check_blobs(const struct java_memory *m, const struct java_build *b, struct java_process *p)
{
	static struct java_blob blobs[JAVA_BLOBS_MOST];
	size_t n = java_blobs(m, &b->layout, p, blobs, JAVA_BLOBS_MOST);

	demand(java_process_valid(p));
	for (size_t i = 0; i < n; i++) {
		demand(blobs[i].start < blobs[i].end && (i == 0 || blobs[i].start >= blobs[i - 1].end));
		for (const char *c = blobs[i].name; *c; c++)
			demand(*c >= ' ' && *c <= '~');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct java_memory m = { made_java_read, &j };
	struct java_process p;
	struct java_build b;
	enum java_found f;
	char why[JAVA_WHY];

	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	change(bytes, n);
	f = java_layout_read(&m, &j.image, MADE_JAVA_BIAS, &b, why);
	demand(memchr(why, 0, sizeof(why)) && (f == JAVA_REFUSED) == (*why != '\0') && j.read < 16 << 20);
	if (f != JAVA_FOUND)
		return 0;
	demand(java_layout_valid(&b.layout));
	f = java_process_read(&m, &b, &p, why);
	demand(memchr(why, 0, sizeof(why)) && (f == JAVA_REFUSED) == (*why != '\0'));
	if (f == JAVA_FOUND) {
		demand(java_process_valid(&p));
		check_blobs(&m, &b, &p);
	}
	b.layout.at[random_below(64)] = (uint16_t)random_u64();
	java_layout_valid(&b.layout);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
