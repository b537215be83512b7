/*
 * Checks the store of unwind tables against a simple model: for each file the table that it was loaded with.
 * Rows are looked up with the walk's own search.
 */
#include "tests/unit/unwind-store.h"

static uint64_t hash_mask = UINT64_MAX;

uint64_t __real_hash_bytes(const void *p, size_t n);
uint64_t __wrap_hash_bytes(const void *p, size_t n);

/* Replaces the function in hash.c: the Makefile passes --wrap to the linker. */
uint64_t __wrap_hash_bytes(const void *p, size_t n)
{
	return __real_hash_bytes(p, n) & hash_mask;
}

/* Files at random. */

enum { FILES = 24, OLD = 64, STEPS = 6000 };

struct file {
	uint32_t number; /* 0: there is none */
	bool loaded;
	struct unwind_table table;
};

/* A table that a reader may still be using. */
struct old {
	struct unwind_file file;
	struct unwind_table table;
	uint64_t since;
};

struct world {
	struct store *s;
	struct file files[FILES];
	struct old old[OLD];
	size_t n_old, loaded, refused;
	uint64_t now;
	bool found, kept, whole;
};

static void keep_old(struct world *w, struct file *f, const struct unwind_file *before)
{
	if (w->n_old == OLD) {
		unwind_table_release(&w->old[0].table);
		memmove(w->old, w->old + 1, --w->n_old * sizeof(*w->old));
	}
	w->old[w->n_old++] = (struct old){ *before, f->table, w->now };
	f->table = (struct unwind_table){ 0 };
	f->loaded = false;
}

static void forget_old(struct world *w)
{
	while (w->n_old && w->now - w->old[0].since > STORE_GRACE) {
		unwind_table_release(&w->old[0].table);
		memmove(w->old, w->old + 1, --w->n_old * sizeof(*w->old));
	}
}

static void load_one(struct world *w, struct file *f)
{
	struct shape shape = { 1 + random_below(40), 1 + random_below(random_below(4) ? 200 : 4000),
			       2 + random_below(300), (uint32_t)random_below(40) * 100 };
	uint64_t used = store_used(w->s);

	if (!f->number)
		f->number = store_file(w->s);
	w->whole = w->whole && f->number && store_state(w->s, f->number) == UNWIND_FILE_ASK;
	f->table = make_table(&shape, true);
	f->loaded = store_load(w->s, f->number, &f->table) == STORE_LOADED;
	w->loaded += f->loaded;
	if (f->loaded)
		return;
	w->refused++;
	w->whole = w->whole && store_used(w->s) == used && store_file_bytes(w->s, f->number) == 0 &&
		   store_state(w->s, f->number) == UNWIND_FILE_ASK;
	unwind_table_release(&f->table);
}

static void drop_one(struct world *w, struct file *f)
{
	struct unwind_file before = read_file(w->s, f->number);
	bool forget = random_below(2);

	if (forget)
		store_forget(w->s, f->number, w->now);
	else
		store_unload(w->s, f->number, UNWIND_FILE_ASK, w->now);
	w->whole = w->whole && store_state(w->s, f->number) == (forget ? UNWIND_FILE_NONE : UNWIND_FILE_ASK);
	if (forget)
		f->number = 0;
	keep_old(w, f, &before);
}

static void look_at_all(struct world *w)
{
	for (size_t i = 0; i < FILES; i++) {
		struct unwind_file f;

		if (!w->files[i].loaded)
			continue;
		f = read_file(w->s, w->files[i].number);
		w->found = w->found && finds(w->s, &f, &w->files[i].table, 4);
	}
	for (size_t i = 0; i < w->n_old; i++)
		w->kept = w->kept && finds(w->s, &w->old[i].file, &w->old[i].table, 4);
}

/* Checks that all rule numbers are free except those that every store has. */
static bool all_rules_are_free(struct store *s)
{
	uint32_t left = UNWIND_RULES - UNWIND_KINDS, files[8], n = 0;
	bool good = true;

	while (left) {
		uint32_t some = left < UNWIND_TABLE_RULES - 1 ? left : UNWIND_TABLE_RULES - 1;

		files[n] = store_file(s);
		good = good && load_shape(s, files[n++], &(struct shape){ 1, 4, some + 1, 1u << 20 | left }, STORE_LOADED);
		left -= some;
	}
	files[n] = store_file(s);
	good = good && load_shape(s, files[n], &(struct shape){ 1, 4, 2, 1u << 27 }, STORE_OVER_BUDGET) &&
	       load_shape(s, files[n], &(struct shape){ 1, 4, 2, 1u << 20 | (UNWIND_RULES - UNWIND_KINDS) }, STORE_LOADED);
	for (uint32_t i = 0; i <= n; i++)
		store_forget(s, files[i], 1);
	store_reap(s, STORE_GRACE + 2);
	return good;
}

static void files_at_random(uint64_t budget, const char *what)
{
	static struct world w;
	struct memory m;
	char text[128];

	w = (struct world){ .s = new_store(&m, budget), .now = 5ull * STORE_GRACE, .found = true, .kept = true, .whole = true };
	for (int i = 0; i < STEPS; i++) {
		struct file *f = &w.files[random_below(FILES)];

		w.now += random_below(STORE_GRACE / 8);
		store_reap(w.s, w.now);
		forget_old(&w);
		if (f->loaded)
			drop_one(&w, f);
		else
			load_one(&w, f);
		if (i % 8 == 0)
			look_at_all(&w);
	}
	for (size_t i = 0; i < FILES; i++)
		if (w.files[i].loaded)
			drop_one(&w, &w.files[i]);
	look_at_all(&w);
	store_reap(w.s, w.now + STORE_GRACE + 1);
	printf("# %s: %zu loads, %zu refused\n", what, w.loaded, w.refused);
	snprintf(text, sizeof(text), "%s: each loaded file's offsets have its rules", what);
	check(w.found, text);
	snprintf(text, sizeof(text), "%s: and those of one that was put out, until its grace is over", what);
	check(w.kept && w.n_old > 0, text);
	snprintf(text, sizeof(text), "%s: what does not fit leaves nothing behind", what);
	check(w.whole && (w.refused > 0) == (budget < 16 << 20), text);
	snprintf(text, sizeof(text), "%s: in the end no row is in use, and no number of a rule", what);
	check(store_used(w.s) == 0 && all_rules_are_free(w.s), text);
	snprintf(text, sizeof(text), "%s: the memory stays within the budget", what);
	check((m.of[STORE_ROWS] + m.of[STORE_MAPPINGS]) * UNWIND_SHARD_BYTES <= budget, text);
	for (size_t i = 0; i < w.n_old; i++)
		unwind_table_release(&w.old[i].table);
	end_store(w.s, &m);
}

/* One thing at a time. */

static void large_tables(void)
{
	struct memory m;
	struct store *s = new_store(&m, 8 << 20);
	uint32_t file = store_file(s);
	uint64_t held = store_held(s);

	check(load_shape(s, file, &(struct shape){ 60, UNWIND_PAGE_ROWS, 50, 0 }, STORE_LOADED), "a table of several shards");
	check(m.of[STORE_ROWS] > 1 && store_file_bytes(s, file) > UNWIND_SHARD_BYTES &&
	      store_used(s) >= store_file_bytes(s, file), "  is counted by its rows");
	check(store_held(s) == held + (m.of[STORE_ROWS] - 1) * UNWIND_SHARD_BYTES, "  and all memory by its shards");
	check(load_shape(s, store_file(s), &(struct shape){ 2000, 1, 50, 0 }, STORE_LOADED), "one of many pages");
	check(load_shape(s, store_file(s), &(struct shape){ 0, 1, 1, 0 }, STORE_LOADED), "one of none");
	end_store(s, &m);
}

/* Evicted room is used again after the grace, not before; a table that does not fit holds nothing. */
static void small_budget(void)
{
	static const struct shape most = { 13, UNWIND_PAGE_ROWS, 20, 0 }, small = { 1, 100, 20, 0 },
				  middle = { 2, 16000, 20, 0 };
	struct memory m;
	struct store *s = new_store(&m, 2 << 20);
	uint32_t first = store_file(s), second = store_file(s), third = store_file(s);
	uint64_t now = 10ull * STORE_GRACE;

	check(load_shape(s, first, &most, STORE_LOADED), "2 MiB: a table of most of a shard");
	check(load_shape(s, second, &most, STORE_OVER_BUDGET), "  leaves no room for another");
	check_is(store_state(s, second), UNWIND_FILE_ASK, "  which is as it was");
	check(load_shape(s, third, &small, STORE_LOADED), "  but for a small one");
	store_unload(s, third, UNWIND_FILE_ASK, now);
	store_unload(s, first, UNWIND_FILE_REFUSED, now);
	check(store_state(s, first) == UNWIND_FILE_REFUSED && store_used(s) > UNWIND_SHARD_BYTES / 2,
	      "what is put out counts as used");
	store_reap(s, now + STORE_GRACE);
	check(load_shape(s, second, &most, STORE_OVER_BUDGET), "  while somebody may read it");
	check(load_shape(s, third, &middle, STORE_LOADED), "  when there is still room for one of an eighth");
	store_reap(s, now + STORE_GRACE + 1);
	check(load_shape(s, second, &most, STORE_LOADED), "  and not any longer");
	check(m.of[STORE_ROWS] == 1 && m.of[STORE_MAPPINGS] == 1, "  all in two shards");
	end_store(s, &m);
}

static void rules_are_shared(void)
{
	struct memory m;
	struct store *s = new_store(&m, 64 << 20);
	uint32_t file[6];
	bool good = true;

	for (int i = 0; i < 6; i++)
		file[i] = store_file(s);
	for (int i = 0; i < 3; i++)
		good = good && load_shape(s, file[i], &(struct shape){ 3, 100, 16000, 7 }, STORE_LOADED);
	check(good, "the same 16,000 rules three times");
	for (uint32_t i = 3; i < 6; i++)
		good = good && load_shape(s, file[i], &(struct shape){ 3, 100, 16000, i * 16000 }, STORE_LOADED);
	check(good, "  leave numbers for 48,000 others");
	store_unload(s, file[0], UNWIND_FILE_ASK, 1);
	store_unload(s, file[1], UNWIND_FILE_ASK, 1);
	store_reap(s, 2 * STORE_GRACE);
	for (int i = 0; i < 100; i++)
		good = good && load_shape(s, file[0], &(struct shape){ 1, 10, 9000, 1 << 20 }, STORE_OVER_BUDGET);
	check(good, "more rules than there are numbers for are refused");
	check(load_shape(s, file[0], &(struct shape){ 3, 100, 16000, 7 }, STORE_LOADED), "  and rules that are known are not");
	end_store(s, &m);
}

static void file_numbers(void)
{
	struct memory m;
	struct store *s = new_store(&m, 2 << 20);
	bool good = true;

	for (uint32_t i = 1; i < UNWIND_FILES; i++)
		good = good && store_file(s) == i && store_state(s, i) == UNWIND_FILE_ASK;
	check(good, "32,767 files have numbers");
	check(store_file(s) == 0 && store_file(s) == 0, "  and no more");
	store_forget(s, 77, 1000);
	store_forget(s, 77, 1000);
	store_forget(s, 0, 1000);
	check_is(store_file(s), 0, "a number is not used again at once");
	store_reap(s, 1000 + STORE_GRACE);
	check_is(store_file(s), 0, "  nor before its grace is over");
	store_reap(s, 1001 + STORE_GRACE);
	check(store_file(s) == 77 && store_file(s) == 0, "  but then, once");
	end_store(s, &m);
}

/*
 * Tables come and go under the same number, and results for the same few offsets in all of them are
 * remembered in the same few slots.
 */
static void what_was_found(void)
{
	enum { LOADS = 20000, OFFSETS = 4 };
	struct memory m;
	struct store *s = new_store(&m, 4 << 20);
	uint32_t file = store_file(s);
	bool right = true;

	for (uint32_t i = 0; i < LOADS; i++) {
		struct unwind_table t = make_table(&(struct shape){ 1, 1, 2, i }, false);
		struct unwind_file f;

		right = right && store_load(s, file, &t) == STORE_LOADED;
		f = read_file(s, file);
		for (uint64_t k = 0; k < OFFSETS; k++) {
			uint64_t offset = (t.first_page << UNWIND_PAGE_SHIFT) + k;
			struct unwind_rule want = unwind_table_find(&t, offset), got = look_up(s, &f, offset, k % 2, true);

			right = right && memcmp(&got, &want, sizeof(got)) == 0;
		}
		store_unload(s, file, UNWIND_FILE_ASK, i + 1);
		store_reap(s, i + 2ull * STORE_GRACE);
		unwind_table_release(&t);
	}
	check(right, "what was found in a table is not found in the next one");
	end_store(s, &m);
}

/* Lets the backing's memory run out at the first call, at the second, ... */
static void without_memory(void)
{
	struct memory m = { .most = 0 };
	struct store_backing backing = { give_shard, &m };
	struct store *s = NULL;
	size_t failed = 0;

	while (!(s = store_new(&backing, 64 << 20)) && failed < 20) {
		for (size_t i = 0; i < m.n; i++)
			free(m.shards[i]);
		m = (struct memory){ .most = ++failed };
	}
	check(s && failed == STORE_AREAS, "without memory for one of its areas there is no store");
	check(load_shape(s, store_file(s), &(struct shape){ 60, UNWIND_PAGE_ROWS, 50, 0 }, STORE_NO_MEMORY),
	      "without memory for more a large table is refused for that reason");
	check_is(store_used(s), 0, "  and takes none");
	check(load_shape(s, store_file(s), &(struct shape){ 4, 100, 50, 0 }, STORE_LOADED), "  but a small one has");
	store_free(NULL);
	end_store(s, &m);
}

/* Files are made by anyone: other rules with the hash of a common one do not keep it from other files. */
static void same_hashes(void)
{
	struct memory m;
	struct store *s = new_store(&m, 8 << 20);
	uint32_t file[9];
	bool good = true;

	hash_mask = 0;
	for (uint32_t i = 0; i < 8; i++) {
		file[i] = store_file(s);
		good = good && load_shape(s, file[i], &(struct shape){ 1, 10, 2, i * 10 }, STORE_LOADED);
	}
	check(good, "eight rules with one hash");
	file[8] = store_file(s);
	check(load_shape(s, file[8], &(struct shape){ 1, 10, 2, 80 }, STORE_OVER_BUDGET),
	      "  another one is refused");
	store_unload(s, file[3], UNWIND_FILE_ASK, 1);
	check(load_shape(s, file[8], &(struct shape){ 1, 10, 2, 70 }, STORE_LOADED),
	      "  but not one that is there, with a gap before it");
	store_unload(s, file[8], UNWIND_FILE_ASK, 1);
	check(load_shape(s, file[3], &(struct shape){ 1, 10, 2, 90 }, STORE_LOADED),
	      "  and one that left gives its place");
	for (int i = 0; i < 8; i++)
		store_unload(s, file[i], UNWIND_FILE_ASK, 1);
	for (uint32_t i = 0; i < 8; i++)
		good = good &&
		       load_shape(s, file[i], &(struct shape){ 1, 10, 2, 100 + i * 10 }, STORE_LOADED);
	check(good, "  all of them do");
	hash_mask = UINT64_MAX;
	end_store(s, &m);
}

int main(void)
{
	files_at_random(64 << 20, "much memory");
	files_at_random(2 << 20, "2 MiB");
	large_tables();
	small_budget();
	rules_are_shared();
	file_numbers();
	what_was_found();
	without_memory();
	same_hashes();
	return checks_done();
}
