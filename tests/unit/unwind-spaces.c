/*
 * Checks the mappings of processes in the store: published ones stay readable until the grace is over, and
 * those that a walk remembers are as good as those that it searches.
 */
#include "tests/unit/unwind-store.h"

enum { SPACES = 64, MAPPINGS = 3000 };

/* Returns the state of the file at an address, by a walk with its memory; UNWIND_FILE_NONE: no mapping. */
static uint32_t state_at(const struct store *s, const struct unwind_space *space, uint64_t pc)
{
	looker = (struct walk){ .space = *space };
	return walk_enter(s, pc) == WALK_ON ? looker.file.state : UNWIND_FILE_NONE;
}

/* Mappings are remembered, but never the state of their files. */
static void places(void)
{
	struct unwind_table t = make_table(&(struct shape){ 1, 1, 2, 0 }, false);
	struct memory m;
	struct store *s = new_store(&m, 4 << 20);
	uint32_t file = store_file(s), other = store_file(s);
	struct unwind_mapping map[] = { { 0x10000, 0x18000, 0, file, 0 }, { 0x18000, 0x30000, 0, other, 0 } };
	struct unwind_space space, next, again;
	bool own = true;

	t.first_page = 0;
	store_map(s, map, 2, &space);
	check(state_at(s, &space, 0x12345) == UNWIND_FILE_ASK && looker.file_at == file && looker.start == 0x10000,
	      "a mapping that was not met");
	memset((void *)walk_mappings(s, 0), 0, sizeof(map));
	check(state_at(s, &space, 0x12346) == UNWIND_FILE_ASK && looker.file_at == file && looker.end == 0x18000,
	      "  is known the second time");
	check_is(state_at(s, &space, 0x18000), UNWIND_FILE_NONE, "  but not the one beside it");
	for (uint32_t i = 0; i < 64; i++) {
		map[0].file = i % 2 ? file : other;
		store_map(s, map, 2, &next);
		own = own && state_at(s, &next, 0x12345) == UNWIND_FILE_ASK && looker.file_at == map[0].file;
	}
	check(own, "  nor those of another space");
	check(store_load(s, file, &t) == STORE_LOADED && state_at(s, &next, 0x12345) == UNWIND_FILE_READY,
	      "a table that is loaded is seen at once");
	check(state_at(s, &next, 0x12345) == UNWIND_FILE_READY && looker.file.load == read_file(s, file).load, "  and every time");
	check(walk_look_up(s, 0x12345) == 0 && walk_recall(s, 0x12345) == 0, "a row is remembered");
	map[0] = (struct unwind_mapping){ 0x40000, 0x44000, 0x2000, file, 0 };
	map[1] = (struct unwind_mapping){ 0x44000, 0x48000, 0x2000, other, 0 };
	store_map(s, map, 2, &again);
	looker = (struct walk){ .space = again };
	check(walk_recall(s, 0x40345) == 0 && looker.start == 0x40000, "  wherever another process has mapped its file");
	check(walk_recall(s, 0x44345) != 0, "  but not for the same place in another file");
	check(walk_recall(s, 0x50345) != 0, "  nor where nothing is mapped");
	store_unload(s, file, UNWIND_FILE_REFUSED, 1);
	check_is(state_at(s, &next, 0x12345), UNWIND_FILE_REFUSED,
		 "  and one that is put out is not any more");
	unwind_table_release(&t);
	end_store(s, &m);
}

static bool same_mappings(const struct store *s, const struct unwind_space *at, uint64_t seed)
{
	const struct unwind_mapping *shard = walk_mappings(s, at->first / UNWIND_SHARD_MAPPINGS);

	for (uint32_t i = 0; i < at->n; i++)
		if (shard[at->first % UNWIND_SHARD_MAPPINGS + i].start != seed + i)
			return false;
	return at->first / UNWIND_SHARD_MAPPINGS == (at->first + (at->n ? at->n - 1 : 0)) / UNWIND_SHARD_MAPPINGS;
}

static void spaces_at_random(void)
{
	static struct unwind_mapping list[UNWIND_SPACE_MAPPINGS + 1];
	struct unwind_space spaces[SPACES] = { 0 }, none = { 0 };
	uint64_t seeds[SPACES], since[SPACES] = { 0 }, now = 2ull * STORE_GRACE;
	uint32_t generation = 0;
	struct memory m;
	struct store *s = new_store(&m, 4 << 20);
	bool right = true, rising = true;

	for (int step = 0; step < 6000; step++) {
		size_t i = random_below(SPACES), n = random_below(random_below(3) ? 40 : MAPPINGS);

		now += random_below(STORE_GRACE / 16);
		store_reap(s, now);
		if (since[i] && now - since[i] <= STORE_GRACE) { /* it may still be read */
			right = right && same_mappings(s, &spaces[i], seeds[i]);
		} else if (spaces[i].generation && !since[i]) {
			right = right && same_mappings(s, &spaces[i], seeds[i]);
			store_unmap(s, &spaces[i], now);
			since[i] = now;
		} else {
			seeds[i] = random_u64() >> 8;
			since[i] = 0;
			spaces[i] = none;
			for (size_t k = 0; k < n; k++)
				list[k] = (struct unwind_mapping){ .start = seeds[i] + k };
			if (store_map(s, list, n, &spaces[i]) != STORE_LOADED)
				continue;
			rising = rising && spaces[i].generation > generation && spaces[i].n == n;
			generation = spaces[i].generation;
		}
	}
	check(right, "mappings stay what they were until their grace is over");
	check(rising, "each telling has a generation of its own");
	check(m.of[STORE_MAPPINGS] + m.of[STORE_ROWS] <= 4, "within the budget");
	check(store_map(s, list, UNWIND_SPACE_MAPPINGS + 1, &none) == STORE_OVER_BUDGET && none.generation == 0,
	      "a process with more than 16,383 has none");
	for (size_t i = 0; i < SPACES; i++)
		if (spaces[i].generation && !since[i])
			store_unmap(s, &spaces[i], now);
	store_reap(s, now + 2ull * STORE_GRACE);
	check_is(store_used(s), 0, "in the end none is in use");
	check(store_map(s, list, 0, &none) == STORE_LOADED && none.generation && none.n == 0, "a process can have none");
	end_store(s, &m);
}

int main(void)
{
	places();
	spaces_at_random();
	return checks_done();
}
