/* Tables of JIT code: their rules, also from hostile .eh_frames. */
#include <string.h>

#include "common/unwind/build.h"
#include "tests/lib/check.h"

enum { BASE = 0x7f0012340000, SIZE = 100, CIE_BYTES = 24, ENTRY = 48, TRIES = 20000 };

static void store32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/*
 * Writes a CIE, and an FDE of `length` bytes at `start`, which is relative to the code. Its CFA is rsp + 8,
 * and rsp + depth from its tenth byte on.
 */
static struct slice make_eh_frame(uint8_t *p, uint64_t size, int64_t start, uint32_t length, uint8_t depth)
{
	static const uint8_t cie[CIE_BYTES] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	};
	uint8_t *fde = p + CIE_BYTES;

	memset(p, 0, ENTRY);
	memcpy(p, cie, sizeof(cie));
	store32(fde, ENTRY - CIE_BYTES - 4);
	store32(fde + 4, CIE_BYTES + 4);
	store32(fde + 8, (uint32_t)(start - (int64_t)((size + 7) & ~7ull) - CIE_BYTES - 8));
	store32(fde + 12, length);
	fde[17] = 0x40 | 10;
	fde[18] = 0x0e;
	fde[19] = depth;
	return (struct slice){ p, ENTRY };
}

static void add(struct buf *codes, uint64_t address, uint8_t depth)
{
	uint8_t bytes[ENTRY];

	unwind_codes_add(codes, address, SIZE, make_eh_frame(bytes, SIZE, 0, SIZE, depth));
}

/* Returns CFA - rsp by the rule at this address; 0: it has none, or one that would not be checked. */
static int depth_at(const struct unwind_table *t, uint64_t address)
{
	struct unwind_rule r = unwind_table_find(t, address);

	return r.kind == UNWIND_CFA_RSP && unwind_from_code(&r) ? r.cfa : 0;
}

static void test_table(void)
{
	struct buf codes = { 0 }, bytes = { 0 };
	struct unwind_table t, back;

	add(&codes, BASE + 0x30000, 32);
	add(&codes, BASE, 48);
	check(unwind_build_codes(buf_view(&codes), &t) == UNWIND_BUILT && t.functions == 2 && t.bad == 0,
	      "two pieces have a table");
	check(depth_at(&t, BASE) == 8 && depth_at(&t, BASE + 9) == 8 && depth_at(&t, BASE + 10) == 48 &&
		      depth_at(&t, BASE + SIZE - 1) == 48,
	      "  by address");
	check_is(depth_at(&t, BASE + 0x3000a), 32, "  each its own");
	check(!depth_at(&t, BASE + SIZE) && !depth_at(&t, BASE - 1) && !depth_at(&t, BASE + 0x20000),
	      "  and nothing around them");
	unwind_table_write(&t, &bytes);
	check(unwind_table_read(&back, buf_view(&bytes)) && depth_at(&back, BASE + 10) == 48,
	      "  also in another process");
	unwind_table_release(&back);
	unwind_table_release(&t);
	buf_release(&codes);
	buf_release(&bytes);
}

static void test_overlap(void)
{
	struct buf codes = { 0 };
	struct unwind_table t;

	unwind_codes_add(&codes, BASE + 50, 20, (struct slice){ NULL, 0 });
	add(&codes, BASE + 60, 32);
	add(&codes, BASE, 48);
	check(unwind_build_codes(buf_view(&codes), &t) == UNWIND_BUILT && depth_at(&t, BASE + 49) == 48 &&
		      depth_at(&t, BASE + 80) == 32,
	      "of pieces that overlap the newest counts");
	check(!depth_at(&t, BASE + 50) && !depth_at(&t, BASE + 69), "  also if nothing is known of it");
	unwind_table_release(&t);
	buf_clear(&codes);
	unwind_codes_add(&codes, BASE, SIZE, (struct slice){ NULL, 0 });
	add(&codes, BASE, 48);
	check(unwind_build_codes(buf_view(&codes), &t) != UNWIND_BUILT || !depth_at(&t, BASE + 20),
	      "  a piece may be replaced altogether");
	unwind_table_release(&t);
	buf_release(&codes);
}

static void test_lies(void)
{
	struct buf codes = { 0 };
	struct unwind_table t;
	uint8_t bytes[ENTRY];

	unwind_codes_add(&codes, BASE, SIZE, make_eh_frame(bytes, SIZE, -4096, 8192, 48));
	unwind_codes_add(&codes, BASE + 4096, SIZE, make_eh_frame(bytes, SIZE, 50, 8192, 48));
	check(unwind_build_codes(buf_view(&codes), &t) == UNWIND_BUILT && t.functions == 1 &&
		      depth_at(&t, BASE + 4096 + 60) == 48 && !depth_at(&t, BASE + 4096 + 40) &&
		      !depth_at(&t, BASE + 4096 + SIZE) && !depth_at(&t, BASE + 20),
	      "entries of other code are left out, and long ones cut");
	unwind_table_release(&t);
	buf_clear(&codes);
	make_eh_frame(bytes, SIZE, 0, SIZE, 48);
	store32(bytes + CIE_BYTES + 4, 4);
	unwind_codes_add(&codes, BASE, SIZE, (struct slice){ bytes, sizeof(bytes) });
	make_eh_frame(bytes, SIZE, 0, SIZE, 48);
	store32(bytes + CIE_BYTES, UINT32_MAX);
	unwind_codes_add(&codes, BASE + 4096, SIZE, (struct slice){ bytes, sizeof(bytes) });
	make_eh_frame(bytes, SIZE, 0, SIZE, 48);
	store32(bytes, 0);
	unwind_codes_add(&codes, BASE + 8192, SIZE, (struct slice){ bytes, sizeof(bytes) });
	check(unwind_build_codes(buf_view(&codes), &t) == UNWIND_NOTHING,
	      "an entry that is its own CIE, one without end, and an end at the start");
	buf_release(&codes);
}

static void test_far(void)
{
	struct buf codes = { 0 };
	struct unwind_table t;

	add(&codes, 0x1000, 16);
	add(&codes, BASE, 32);
	add(&codes, BASE + 0x1000, 48);
	add(&codes, BASE + UNWIND_CODES_SPAN, 64);
	add(&codes, UINT64_MAX - 50, 64);
	check(unwind_build_codes(buf_view(&codes), &t) == UNWIND_BUILT && depth_at(&t, BASE + 20) == 32 &&
		      depth_at(&t, BASE + 0x1000 + 20) == 48 && !depth_at(&t, 0x1000 + 20) &&
		      t.n_pages <= UNWIND_CODES_SPAN >> UNWIND_PAGE_SHIFT,
	      "of pieces far apart, those where most are");
	unwind_table_release(&t);
	buf_release(&codes);
}

/* Damages good pieces at random, and cuts their bytes. */
static void test_damage(void)
{
	bool good = true;

	for (int i = 0; i < TRIES && good; i++) {
		struct buf codes = { 0 };
		struct unwind_table t;

		for (int k = 0; k < 4; k++) {
			uint8_t bytes[ENTRY];

			make_eh_frame(bytes, SIZE, 0, SIZE, (uint8_t)(16 + 8 * k));
			for (uint64_t n = random_below(4); n > 0; n--)
				bytes[random_below(ENTRY)] = (uint8_t)random_u64();
			unwind_codes_add(
				&codes, BASE + 80 * (uint64_t)k, SIZE,
				(struct slice){ bytes, random_below(8) ? ENTRY : random_below(ENTRY) });
		}
		if (random_below(4) == 0)
			codes.n = random_below(codes.n);
		if (unwind_build_codes(buf_view(&codes), &t) == UNWIND_BUILT) {
			for (uint64_t at = BASE - 20; at < BASE + 360; at++) {
				struct unwind_rule r = unwind_table_find(&t, at);

				good = good &&
				       (r.kind == UNWIND_GAP ||
					(at >= BASE && at < BASE + 240 + SIZE && unwind_from_code(&r) &&
					 (r.kind == UNWIND_CFA_RSP || r.kind == UNWIND_CFA_RBP)));
			}
		}
		unwind_table_release(&t);
		buf_release(&codes);
	}
	check(good, "damaged at random: all rules are within the code, and to be checked");
}

int main(void)
{
	test_table();
	test_overlap();
	test_lies();
	test_far();
	test_damage();
	return checks_done();
}
