/* V8's position tables: made ones of both codings, inlined calls, Sparkplug's tables, damaged ones. */
#include <stdlib.h>

#include "common/javascript/javascript_positions.h"
#include "tests/lib/check.h"

struct table {
	uint8_t bytes[512];
	size_t n;
};

static void put_number(struct table *t, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		t->bytes[t->n++] = (uint8_t)(value | 0x80);
	t->bytes[t->n++] = (uint8_t)value;
}

static void put_signed(struct table *t, int64_t value)
{
	put_number(t, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* Appends an entry: distance in code, and in the source position. */
static void put_entry(struct table *t, uint32_t version, int64_t distance, bool statement, int64_t delta)
{
	if (version >= 0x0e0000)
		put_signed(t, distance << 1 | !statement);
	else
		put_signed(t, statement ? distance : -distance - 1);
	put_signed(t, delta);
}

static int64_t source(int64_t offset, int64_t inlined)
{
	return (offset + 1) << 1 | inlined << 31;
}

static void put_inlining(struct table *t, int64_t position, int32_t function)
{
	for (int i = 0; i < 8; i++)
		t->bytes[t->n++] = (uint8_t)(position >> 8 * i);
	for (int i = 0; i < 8; i++)
		t->bytes[t->n++] = i < 4 ? (uint8_t)((uint32_t)function >> 8 * i) : 0;
}

static struct slice view(const struct table *t)
{
	return (struct slice){ t->bytes, t->n };
}

static bool is_level(const struct javascript_level *l, int32_t function, uint32_t position)
{
	return l->function == function && l->position == position;
}

/* The function's start at -1, a statement at 0, an expression at 5, one of an inlined function at 9. */
static void check_version(uint32_t version)
{
	struct table positions = { .n = 0 }, inlinings = { .n = 0 };
	struct javascript_code c = { .version = version };
	struct javascript_level l[JAVASCRIPT_LEVELS];

	put_entry(&positions, version, 0, false, source(100, 0));
	put_entry(&positions, version, 1, true, source(110, 0) - source(100, 0));
	put_entry(&positions, version, 5, false, source(70, 0) - source(110, 0));
	put_entry(&positions, version, 4, true, source(20, 2) - source(70, 0));
	put_entry(&positions, version, 200, true, source(120, 0) - source(20, 2));
	put_inlining(&inlinings, source(115, 0), 7);
	put_inlining(&inlinings, source(40, 1), 3);
	c.positions = view(&positions);
	c.inlinings = view(&inlinings);
	check(javascript_levels(&c, 0, l) == 1 && is_level(l, JAVASCRIPT_OWN, 110), "a statement");
	check(javascript_levels(&c, 4, l) == 1 && is_level(l, JAVASCRIPT_OWN, 110), "  up to the next entry");
	check(javascript_levels(&c, 5, l) == 1 && is_level(l, JAVASCRIPT_OWN, 70), "an expression before it");
	check(javascript_levels(&c, 9, l) == 3 && is_level(l, 3, 20) && is_level(l + 1, 7, 40) &&
		      is_level(l + 2, JAVASCRIPT_OWN, 115),
	      "two inlined functions, innermost first");
	check_is(javascript_levels(&c, 208, l), 3, "  up to the last entry");
	check(javascript_levels(&c, 1u << 20, l) == 1 && is_level(l, JAVASCRIPT_OWN, 120),
	      "  which has no end");
	c.inlinings.n = 16;
	check(javascript_levels(&c, 9, l) == 1 && is_level(l, JAVASCRIPT_OWN, JAVASCRIPT_NOWHERE),
	      "an inlined call that is missing has no position");
	c.positions.n = 0;
	check(javascript_levels(&c, 9, l) == 1 && is_level(l, JAVASCRIPT_OWN, JAVASCRIPT_NOWHERE),
	      "an empty table");
}

static void check_circle(void)
{
	struct table positions = { .n = 0 }, inlinings = { .n = 0 };
	struct javascript_code c = { .version = 0x0b0300 };
	struct javascript_level l[JAVASCRIPT_LEVELS];
	int n;

	put_entry(&positions, c.version, 1, true, source(1, 1));
	put_inlining(&inlinings, source(2, 2), 0);
	put_inlining(&inlinings, source(3, 1), 1);
	c.positions = view(&positions);
	c.inlinings = view(&inlinings);
	n = javascript_levels(&c, 0, l);
	check(n == JAVASCRIPT_LEVELS && is_level(&l[n - 1], JAVASCRIPT_OWN, JAVASCRIPT_NOWHERE),
	      "a circle ends");
	inlinings.n = 0;
	put_inlining(&inlinings, source(2, 0), -1);
	c.inlinings = view(&inlinings);
	check(javascript_levels(&c, 0, l) == 1 && is_level(l, JAVASCRIPT_OWN, 2),
	      "an inlined call of no function");
	positions.n = 0;
	put_entry(&positions, c.version, 1, true, source(1, 0) | 1);
	c.positions = view(&positions);
	check(javascript_levels(&c, 0, l) == 1 && is_level(l, JAVASCRIPT_OWN, JAVASCRIPT_NOWHERE),
	      "an external position is none of the script");
}

/* Bytecodes: 5 has 2, 3 and 5 bytes; 6 has one. 0 and 1 are prefixes. */
static const uint8_t lengths[] = { 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 5, 1 };
static const uint8_t bytecodes[] = { 5, 0, 0, 5, 0, 0, 6, 1, 5, 0, 0, 0, 0, 6 };

static void check_baseline(void)
{
	static const struct {
		uint32_t offset;
		int bytecode;
	} cases[] = { { 0, -1 },  { 9, -1 },  { 10, 0 },  { 13, 0 },   { 14, 2 },  { 213, 2 },
		      { 214, 6 }, { 215, 7 }, { 218, 7 }, { 219, 13 }, { 220, -1 } };
	struct table offsets = { .n = 0 }, positions = { .n = 0 };
	struct javascript_code c = { .version = 0x0b0300,
				     .baseline = true,
				     .lengths = { lengths, sizeof(lengths) },
				     .bytecodes = { bytecodes, sizeof(bytecodes) } };
	struct javascript_level l[JAVASCRIPT_LEVELS];
	static const uint32_t sizes[] = { 10, 4, 200, 1, 4, 1 };
	bool good = true;
	uint32_t at;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put_number(&offsets, sizes[i]);
	put_entry(&positions, c.version, 1, true, source(30, 0));
	put_entry(&positions, c.version, 2, true, source(40, 0) - source(30, 0));
	c.offsets = view(&offsets);
	c.positions = view(&positions);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = javascript_bytecode_at(&c, cases[i].offset, &at);

		good &= found == (cases[i].bytecode >= 0) && (!found || at == (uint32_t)cases[i].bytecode);
	}
	check(good, "Sparkplug's code, with prefixes");
	check(javascript_levels(&c, 12, l) == 1 && l[0].position == 30 &&
		      javascript_levels(&c, 100, l) == 1 && l[0].position == 40,
	      "  has the bytecode's positions");
	c.lengths.n = 0;
	check(!javascript_bytecode_at(&c, 12, &at) && javascript_levels(&c, 12, l) == 1 &&
		      l[0].position == JAVASCRIPT_NOWHERE,
	      "  and none without lengths");
}

int main(void)
{
	check_version(0x090400);
	check_version(0x0d0600);
	check_version(0x0e0100);
	check_circle();
	check_baseline();
	return checks_done();
}
