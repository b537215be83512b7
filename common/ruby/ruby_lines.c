#include "common/ruby/ruby_lines.h"

#include "common/base/le.h"
#include "common/lang/ruby.h"

enum {
	RANK_BITS = 7,
	RANKS = 9,
	SMALL_RANK_BITS = 9,
	SMALL_RANKS_AT = 8,
	BITS_AT = 16,
	WITH_NODE = 0x030100
};

uint32_t ruby_line_entry(uint32_t version)
{
	return version < WITH_NODE ? 8 : 12;
}

static bool load64(struct slice s, size_t at, uint64_t *to)
{
	if (s.n < 8 || at > s.n - 8)
		return false;
	*to = le64_load(s.p + at);
	return true;
}

/* imm_block_rank_get */
static bool rank_first(struct slice index, uint32_t position, uint32_t *rank)
{
	uint64_t ranks;

	if (!load64(index, position / RANKS * 8, &ranks))
		return false;
	*rank = ranks >> position % RANKS * RANK_BITS & ((1u << RANK_BITS) - 1);
	return true;
}

/* succ_index_lookup: ranks of the block, of the 64 positions in it, and of the position among these. */
static bool rank_later(struct slice index, uint32_t position, uint32_t *rank)
{
	uint32_t block = position / RB_INDEX_POSITIONS, small = position % RB_INDEX_POSITIONS / 64;
	size_t at = RB_INDEX_HEAD + (size_t)block * RB_INDEX_BLOCK;
	uint64_t before, ranks, bits;

	if (!load64(index, at, &before) || !load64(index, at + SMALL_RANKS_AT, &ranks) ||
	    !load64(index, at + BITS_AT + small * 8, &bits))
		return false;
	*rank = (uint32_t)before + (uint32_t)__builtin_popcountll(bits << (63 - position % 64));
	if (small > 0)
		*rank += ranks >> (small - 1) * SMALL_RANK_BITS & ((1u << SMALL_RANK_BITS) - 1);
	return true;
}

static bool rank_of(struct slice index, uint32_t position, uint32_t *rank)
{
	return position < RB_INDEX_FIRST ? rank_first(index, position, rank)
					 : rank_later(index, position - RB_INDEX_FIRST, rank);
}

bool ruby_line(uint32_t version, struct slice table, uint32_t position, uint32_t *line)
{
	struct slice index, entries;
	uint32_t n, words, bytes = 0, rank = 1;

	if (table.n < RB_TABLE_HEAD)
		return false;
	n = le32_load(table.p);
	words = le32_load(table.p + 4);
	if (n == 0 || position >= words || words > RB_NO_POSITION)
		return false;
	if (n > 1)
		bytes = ruby_index_bytes(words);
	if (bytes > RB_INDEX_MOST)
		bytes = RB_INDEX_MOST;
	if (bytes > table.n - RB_TABLE_HEAD)
		return false;
	index = (struct slice){ table.p + RB_TABLE_HEAD, bytes };
	entries = (struct slice){ index.p + bytes, table.n - RB_TABLE_HEAD - bytes };
	if ((n > 1 && !rank_of(index, position, &rank)) || rank == 0 || rank > n)
		return false;
	if (rank > entries.n / ruby_line_entry(version))
		return false;
	*line = le32_load(entries.p + (size_t)(rank - 1) * ruby_line_entry(version));
	return *line > 0 && *line <= INT32_MAX;
}
