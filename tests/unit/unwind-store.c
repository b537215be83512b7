/*
 * Checks the store of unwind tables against simple models: a byte for each element of an array, and for each
 * file the table that it was loaded with. Rows are looked up with the walk's own search.
 */
#include <stdlib.h>
#include <string.h>

#include "common/walk/extents.h"
#include "common/walk/store.h"
#include "tests/lib/check.h"

#define WALK_ENV const struct store *
#define WALK_FN static inline
#define WALK_INLINE inline
#include "common/walk/walk.h"

static uint64_t hash_mask = UINT64_MAX;

uint64_t __real_hash_bytes(const void *p, size_t n);
uint64_t __wrap_hash_bytes(const void *p, size_t n);

/* Replaces the function in hash.c: the Makefile passes --wrap to the linker. */
uint64_t __wrap_hash_bytes(const void *p, size_t n)
{
	return __real_hash_bytes(p, n) & hash_mask;
}

static struct walk looker;
static struct unwind_memory memory; /* shared by all walks */

static inline struct walk *walk_state(const struct store *s)
{
	(void)s;
	return &looker;
}

static inline const __u32 *walk_rows(const struct store *s, __u32 shard)
{
	return store_shard(s, STORE_ROWS, shard);
}

static inline const struct unwind_mapping *walk_mappings(const struct store *s, __u32 shard)
{
	return store_shard(s, STORE_MAPPINGS, shard);
}

static inline const struct unwind_rule *walk_rules(const struct store *s)
{
	return store_shard(s, STORE_RULES, 0);
}

static inline const struct unwind_page *walk_pages(const struct store *s)
{
	return store_shard(s, STORE_PAGES, 0);
}

static inline const struct unwind_file *walk_files(const struct store *s)
{
	return store_shard(s, STORE_FILES, 0);
}

static inline struct unwind_memory *walk_memory(const struct store *s)
{
	(void)s;
	return &memory;
}

static inline int walk_read_code(const struct store *s, __u64 *to, __u64 from)
{
	(void)s;
	(void)to;
	(void)from;
	return -1;
}

static inline int walk_read(const struct store *s, void *to, __u32 n, __u64 from)
{
	(void)s;
	(void)to;
	(void)n;
	(void)from;
	return -1;
}

/* Extents. */

enum { SHARD = 256, SHARDS = 4, HELD = 32, GRAIN = 16 };

struct held {
	uint32_t at, n;
	uint64_t since; /* when it was freed; 0: still held */
};

/* Returns whether extents ascend, none touches the next of its shard or is in two, and the sum is right. */
static bool list_is_sound(const struct extents *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->n_free; i++) {
		const struct extent *f = &x->free[i], *next = i + 1 < x->n_free ? f + 1 : NULL;

		sum += f->n;
		if (f->n == 0 || f->at / x->shard != (f->at + f->n - 1) / x->shard)
			return false;
		if (next && (next->at < f->at + f->n ||
			     (next->at == f->at + f->n && next->at / x->shard == f->at / x->shard)))
			return false;
	}
	return sum + x->used == (uint64_t)x->shards * x->shard;
}

/* Returns whether no element is held twice, or both free and held. */
static bool nothing_overlaps(const struct extents *x, const struct held *held, size_t n)
{
	uint8_t owners[SHARD * SHARDS] = { 0 };

	for (size_t i = 0; i < x->n_free; i++)
		for (uint32_t k = 0; k < x->free[i].n; k++)
			owners[x->free[i].at + k]++;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < held[i].n; k++)
			owners[held[i].at + k]++;
	for (size_t i = 0; i < sizeof(owners); i++)
		if (owners[i] > 1)
			return false;
	return true;
}

/* Drops freed extents once their grace is over. */
static size_t reap(struct extents *x, struct held *held, size_t n, uint64_t before)
{
	size_t kept = 0;

	extents_reap(x, before);
	for (size_t i = 0; i < n; i++)
		if (!held[i].since || held[i].since >= before)
			held[kept++] = held[i];
	return kept;
}

/* Returns whether the free list has room for n. */
static bool has_room(const struct extents *x, uint32_t n)
{
	for (size_t i = 0; i < x->n_free; i++)
		if (x->free[i].n >= (n + GRAIN - 1) / GRAIN * GRAIN)
			return true;
	return false;
}

static bool take_one(struct extents *x, struct held *held, size_t *n)
{
	uint32_t want = 1 + (uint32_t)random_below(random_below(4) ? 40 : SHARD), at;
	bool room = has_room(x, want) || (x->shards < SHARDS && extents_grow(x));

	if (extents_take(x, want, &at) != room)
		return false;
	if (room)
		held[(*n)++] = (struct held){ at, want, 0 };
	return !room || at / SHARD == (at + want - 1) / SHARD;
}

static void extents_at_random(void)
{
	struct extents x = { .shard = SHARD };
	struct held held[HELD];
	bool sound = true, apart = true, taken = true;
	size_t n = 0;
	uint32_t at;

	for (uint64_t now = 100; now < 40000; now++) {
		size_t i = n ? random_below(n) : 0;

		if (random_below(2) && n < HELD) {
			taken = taken && take_one(&x, held, &n);
		} else if (n && !held[i].since) {
			extents_give(&x, held[i].at, held[i].n, now);
			held[i].since = now;
		}
		sound = sound && list_is_sound(&x);
		apart = apart && nothing_overlaps(&x, held, n);
		n = reap(&x, held, n, now - 20);
	}
	check(taken, "extents: taken where there is room, never across shards");
	check(sound, "extents: the free list is ascending and without seams");
	check(apart, "extents: nothing is two owners', nothing is free before its time");
	for (size_t i = 0; i < n; i++)
		if (!held[i].since)
			extents_give(&x, held[i].at, held[i].n, 50000);
	extents_reap(&x, 50001);
	check(x.used == 0 && x.n_free == x.shards, "extents: all given back is one piece a shard");
	check(!extents_take(&x, 0, &at) && !extents_take(&x, SHARD + 1, &at), "extents: nothing, or more than a shard, is refused");
	extents_release(&x);
}

/* Memory that is counted, and that can be refused */

struct memory {
	void *shards[256];
	size_t n, most; /* given; limit */
	size_t of[STORE_AREAS];
};

static void *give_shard(void *arg, enum store_area area, uint32_t shard, size_t bytes)
{
	struct memory *m = arg;

	if (m->n == m->most || m->n == sizeof(m->shards) / sizeof(*m->shards) || shard != m->of[area])
		return NULL;
	m->of[area]++;
	return m->shards[m->n++] = calloc(1, bytes);
}

static struct store *new_store(struct memory *m, uint64_t budget)
{
	struct store_backing backing = { give_shard, m };

	memset(&memory, 0, sizeof(memory)); /* its numbers belong to another store */
	*m = (struct memory){ .most = SIZE_MAX };
	return store_new(&backing, budget);
}

static void end_store(struct store *s, struct memory *m)
{
	store_free(s);
	for (size_t i = 0; i < m->n; i++)
		free(m->shards[i]);
}

/* Tables whose rules are numbered, so that two tables can share some. */

struct shape {
	size_t pages, rows; /* rows of a page at most */
	size_t rules;
	uint32_t first_rule;
};

static struct unwind_rule rule_number(uint32_t i)
{
	return (struct unwind_rule){ .kind = UNWIND_CFA_RSP, .bx = UNWIND_LOST, .cfa = (int32_t)(i * 8) };
}

static void fill_page(struct unwind_table *t, struct unwind_page *p, size_t rows, size_t rules)
{
	uint32_t low = 0, apart = (1 << UNWIND_PAGE_SHIFT) / (uint32_t)rows;

	p->first = (uint32_t)t->n_rows;
	for (size_t i = 0; i < rows; i++) {
		t->rows[t->n_rows++] = low << 16 | (uint32_t)random_below(rules);
		low += 1 + (uint32_t)random_below(apart);
		if (low >= 1 << UNWIND_PAGE_SHIFT)
			break;
	}
	p->n = (uint32_t)(t->n_rows - p->first);
}

/* sparse: a quarter of the pages has no rows. */
static struct unwind_table make_table(const struct shape *shape, bool sparse)
{
	struct unwind_table t = { .n_pages = shape->pages, .n_rules = shape->rules, .first_page = random_below(3) };

	t.rules = calloc(shape->rules, sizeof(*t.rules));
	t.rows = calloc(shape->pages * shape->rows + 1, sizeof(*t.rows));
	t.pages = calloc(shape->pages + 1, sizeof(*t.pages));
	for (size_t i = 1; i < shape->rules; i++) /* rule 0 is the gap */
		t.rules[i] = rule_number(shape->first_rule + (uint32_t)i);
	for (size_t i = 0; i < shape->pages; i++)
		if (!sparse || random_below(4))
			fill_page(&t, &t.pages[i], shape->rows, shape->rules);
	return t;
}

/*
 * Returns the rule that a walk finds in the file's pages, mapped at address 0: by search, or from memory if
 * remember. Each table has mappings of its own.
 */
static struct unwind_rule look_up(const struct store *s, const struct unwind_file *f, uint64_t offset, bool exact, bool remember)
{
	looker = (struct walk){ .file = *f, .end = UINT64_MAX, .exact = exact };
	if ((!remember || walk_recall(s, offset)) && walk_look_up(s, offset))
		looker.rule.kind = UNWIND_KINDS;
	return looker.rule;
}

/* Returns whether the row at this offset begins distance before, at most 64 KiB. */
static bool is_distance(const struct unwind_table *t, uint64_t offset, uint32_t distance)
{
	struct unwind_rule here = unwind_table_find(t, offset), first = unwind_table_find(t, offset - distance);

	return distance < 1 << UNWIND_PAGE_SHIFT && distance <= offset && memcmp(&here, &first, sizeof(here)) == 0;
}

static struct unwind_file read_file(const struct store *s, uint32_t file)
{
	return walk_files(s)[file];
}

/* Compares look-ups at random offsets, some before and after the table. */
static bool finds(const struct store *s, const struct unwind_file *f, const struct unwind_table *t, int times)
{
	for (int i = 0; i < times; i++) {
		uint64_t offset = random_below((t->first_page + t->n_pages + 1) << UNWIND_PAGE_SHIFT);
		struct unwind_rule want = unwind_table_find(t, offset);

		for (int way = 0; way < 6; way++) {
			struct unwind_rule got = look_up(s, f, offset, way % 2, way / 2);

			if (memcmp(&got, &want, sizeof(got)) != 0 || !is_distance(t, offset, looker.distance))
				return false;
		}
	}
	return true;
}

static bool load_shape(struct store *s, uint32_t file, const struct shape *shape, enum store_loaded want)
{
	struct unwind_table t = make_table(shape, false);
	enum store_loaded got = store_load(s, file, &t);
	struct unwind_file f = read_file(s, file);
	bool good = got == want && (got != STORE_LOADED || finds(s, &f, &t, 200));

	unwind_table_release(&t);
	return good;
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

/* Mappings of processes: published ones stay readable until the grace is over. */

enum { SPACES = 64, MAPPINGS = 3000 };

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
	extents_at_random();
	files_at_random(64 << 20, "much memory");
	files_at_random(2 << 20, "2 MiB");
	large_tables();
	small_budget();
	rules_are_shared();
	file_numbers();
	what_was_found();
	places();
	spaces_at_random();
	without_memory();
	same_hashes();
	return checks_done();
}
