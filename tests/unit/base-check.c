/* Checks common/base: numbers at their edges, and tables against simple models. */
#include <string.h>

#include "common/base/buf.h"
#include "common/base/cursor.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
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

int main(void)
{
	numbers();
	interning();
	mapping_ids();
	return checks_done();
}
