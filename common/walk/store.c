#include "common/walk/store.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/idmap.h"
#include "common/walk/extents.h"

enum { RULE_KEYS = 8 }; /* rules with the same hash */

/* State of a file beyond that which the walk reads. */
struct loaded {
	bool used;
	uint16_t *rules; /* those its rows name, each once */
	size_t n_rules;
	struct extent *rows;
	size_t n_rows, cap_rows;
};

/* Reusable numbers of rules or files. */
struct numbers {
	struct number_wait {
		uint32_t number;
		uint64_t since;
	} *waiting;
	size_t n_waiting, cap_waiting;
	uint32_t *free;
	size_t n_free, cap_free;
	uint32_t next;
};

struct store {
	struct store_backing backing;
	uint32_t shards_most; /* for rows and mappings together */
	void **shards[STORE_AREAS];
	size_t n_shards[STORE_AREAS], cap_shards[STORE_AREAS];
	struct extents rows, pages, mappings;
	struct numbers rule_numbers, file_numbers;
	struct idmap rule_index; /* hash of a rule to its number */
	uint32_t *rule_uses;     /* UNWIND_RULES: files that name it */
	struct loaded *files;    /* UNWIND_FILES */
	uint32_t generation, load; /* the last ones given out */
	uint64_t held;
	bool no_memory; /* the last store_load or store_map failed for lack of it */
};

static size_t shard_bytes(enum store_area area)
{
	static const size_t bytes[STORE_AREAS] = {
		[STORE_RULES] = UNWIND_RULES * sizeof(struct unwind_rule),
		[STORE_PAGES] = UNWIND_PAGES * sizeof(struct unwind_page),
		[STORE_FILES] = UNWIND_FILES * sizeof(struct unwind_file),
		[STORE_ROWS] = UNWIND_SHARD_BYTES,
		[STORE_MAPPINGS] = UNWIND_SHARD_BYTES,
	};
	return bytes[area];
}

static bool add_shard(struct store *s, enum store_area area)
{
	size_t n = s->n_shards[area];

	s->no_memory = true;
	if (!grow_array(&s->shards[area], &s->cap_shards[area], n, sizeof(void *)))
		return false;
	s->shards[area][n] = s->backing.shard(s->backing.arg, area, (uint32_t)n, shard_bytes(area));
	if (!s->shards[area][n])
		return false;
	s->no_memory = false;
	s->n_shards[area]++;
	s->held += shard_bytes(area);
	return true;
}

static struct unwind_file *file_of(const struct store *s, uint32_t file)
{
	return (struct unwind_file *)s->shards[STORE_FILES][0] + file;
}

static struct unwind_page *page_of(const struct store *s, uint32_t page)
{
	return (struct unwind_page *)s->shards[STORE_PAGES][0] + page;
}

static struct unwind_rule *rule_of(const struct store *s, uint32_t rule)
{
	return (struct unwind_rule *)s->shards[STORE_RULES][0] + rule;
}

static bool number_take(struct numbers *n, uint32_t most, uint32_t *number)
{
	if (n->n_free == 0 && n->next >= most)
		return false;
	*number = n->n_free ? n->free[--n->n_free] : n->next++;
	return true;
}

/* Gives a number back; now 0: nobody has seen it. If out of memory the number is lost. */
static void number_give(struct numbers *n, uint32_t number, uint64_t now)
{
	if (now == 0 && grow_array(&n->free, &n->cap_free, n->n_free, sizeof(*n->free)))
		n->free[n->n_free++] = number;
	else if (grow_array(&n->waiting, &n->cap_waiting, n->n_waiting, sizeof(*n->waiting)))
		n->waiting[n->n_waiting++] = (struct number_wait){ number, now };
}

static void numbers_reap(struct numbers *n, uint64_t before)
{
	size_t done = 0;

	while (done < n->n_waiting && n->waiting[done].since < before &&
	       grow_array(&n->free, &n->cap_free, n->n_free, sizeof(*n->free)))
		n->free[n->n_free++] = n->waiting[done++].number;
	if (done == 0)
		return;
	memmove(n->waiting, n->waiting + done, (n->n_waiting - done) * sizeof(*n->waiting));
	n->n_waiting -= done;
}

static void numbers_release(struct numbers *n)
{
	free(n->waiting);
	free(n->free);
}

void store_free(struct store *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->files && i < s->file_numbers.next; i++) {
		free(s->files[i].rules);
		free(s->files[i].rows);
	}
	for (int i = 0; i < STORE_AREAS; i++)
		free(s->shards[i]);
	extents_release(&s->rows);
	extents_release(&s->pages);
	extents_release(&s->mappings);
	numbers_release(&s->rule_numbers);
	numbers_release(&s->file_numbers);
	idmap_release(&s->rule_index);
	free(s->rule_uses);
	free(s->files);
	free(s);
}

struct store *store_new(const struct store_backing *b, uint64_t budget)
{
	struct store *s = calloc(1, sizeof(*s));
	uint64_t shards = budget / UNWIND_SHARD_BYTES;

	if (!s)
		return NULL;
	s->backing = *b;
	s->shards_most = shards < 2 ? 2 : shards > UNWIND_SHARDS ? UNWIND_SHARDS : (uint32_t)shards;
	s->rows.shard = UNWIND_SHARD_ROWS;
	s->mappings.shard = UNWIND_SHARD_MAPPINGS;
	s->pages.shard = UNWIND_PAGES;
	s->rule_numbers.next = UNWIND_KINDS; /* the first ones need no table: GAP, STOP, BAD */
	s->file_numbers.next = 1;
	s->rule_uses = calloc(UNWIND_RULES, sizeof(*s->rule_uses));
	s->files = calloc(UNWIND_FILES, sizeof(*s->files));
	if (!s->rule_uses || !s->files || !add_shard(s, STORE_RULES) || !add_shard(s, STORE_PAGES) ||
	    !add_shard(s, STORE_FILES) || !add_shard(s, STORE_ROWS) || !add_shard(s, STORE_MAPPINGS) ||
	    !extents_grow(&s->rows) || !extents_grow(&s->mappings) || !extents_grow(&s->pages)) {
		store_free(s);
		return NULL;
	}
	for (uint8_t i = UNWIND_GAP; i <= UNWIND_BAD; i++)
		rule_of(s, i)->kind = i;
	store_changed(s);
	return s;
}

/* Never returns 0. */
static uint32_t next_number(uint32_t *last)
{
	return ++*last ? *last : ++*last;
}

/* Atomic, because others count here, too. The walk reads 32 bits, and they add one. */
void store_changed(struct store *s)
{
	__atomic_add_fetch(&file_of(s, 0)->load, 1, __ATOMIC_RELEASE);
}

uint32_t store_file(struct store *s)
{
	uint32_t file;

	if (!number_take(&s->file_numbers, UNWIND_FILES, &file))
		return 0;
	s->files[file].used = true;
	*file_of(s, file) = (struct unwind_file){ .state = UNWIND_FILE_ASK, .load = next_number(&s->load) };
	store_changed(s);
	return file;
}

enum unwind_file_state store_state(const struct store *s, uint32_t file)
{
	return file_of(s, file)->state;
}

uint32_t store_file_load(const struct store *s, uint32_t file)
{
	return file_of(s, file)->load;
}

void store_mark(struct store *s, uint32_t file, enum unwind_file_state state)
{
	__atomic_store_n(&file_of(s, file)->state, state, __ATOMIC_RELEASE);
	store_changed(s);
}

/*
 * The key of a rule in the index. Anyone makes files, also ones with a rule that has the hash of a common
 * other rule, so there are several keys for each hash.
 */
static uint64_t rule_key(const struct unwind_rule *r, unsigned int which)
{
	return hash_bytes(r, sizeof(*r)) + which * UINT64_C(0x9e3779b97f4a7c15);
}

/* Finds a rule, or else its first free key. Returns false if neither is there. */
static bool find_rule(const struct store *s, const struct unwind_rule *r, uint32_t *number, uint64_t *key)
{
	bool is_free = false;

	*number = 0;
	for (unsigned int i = 0; i < RULE_KEYS; i++) {
		uint64_t one = rule_key(r, i);
		uint32_t at;

		if (!idmap_find(&s->rule_index, one, &at)) {
			*key = is_free ? *key : one;
			is_free = true;
		} else if (memcmp(rule_of(s, at), r, sizeof(*r)) == 0) {
			*number = at;
			*key = one;
			return true;
		}
	}
	return is_free;
}

/* Returns the number of a rule, new or not, and counts one more user. */
static bool use_rule(struct store *s, const struct unwind_rule *r, uint16_t *number)
{
	uint64_t key;
	uint32_t at;

	if (r->kind <= UNWIND_BAD) {
		*number = r->kind;
		return true;
	}
	if (!find_rule(s, r, &at, &key))
		return false;
	if (at == 0) {
		if (!number_take(&s->rule_numbers, UNWIND_RULES, &at))
			return false;
		if (!idmap_set(&s->rule_index, key, at)) {
			number_give(&s->rule_numbers, at, 0);
			s->no_memory = true;
			return false;
		}
		*rule_of(s, at) = *r;
	}
	s->rule_uses[at]++;
	*number = (uint16_t)at;
	return true;
}

static void leave_rule(struct store *s, uint16_t number, uint64_t now)
{
	uint64_t key;
	uint32_t at;

	if (number <= UNWIND_BAD || --s->rule_uses[number])
		return;
	if (find_rule(s, rule_of(s, number), &at, &key) && at == number)
		idmap_remove(&s->rule_index, key);
	number_give(&s->rule_numbers, number, now);
}

/* Gives the rules of a table their numbers here. Returns false, with none of them used, on failure. */
static bool use_rules(struct store *s, struct loaded *l, const struct unwind_table *t)
{
	l->rules = calloc(t->n_rules ? t->n_rules : 1, sizeof(*l->rules));
	s->no_memory = !l->rules;
	if (!l->rules)
		return false;
	for (l->n_rules = 0; l->n_rules < t->n_rules; l->n_rules++) {
		if (use_rule(s, &t->rules[l->n_rules], &l->rules[l->n_rules]))
			continue;
		while (l->n_rules > 0)
			leave_rule(s, l->rules[--l->n_rules], 0);
		free(l->rules);
		l->rules = NULL;
		return false;
	}
	return true;
}

static bool grow_area(struct store *s, enum store_area area, struct extents *x)
{
	if (s->n_shards[STORE_ROWS] + s->n_shards[STORE_MAPPINGS] >= s->shards_most || !add_shard(s, area))
		return false;
	s->no_memory = !extents_grow(x);
	return !s->no_memory;
}

static bool note_extent(struct loaded *l, uint32_t at, uint32_t n)
{
	if (!grow_array(&l->rows, &l->cap_rows, l->n_rows, sizeof(*l->rows)))
		return false;
	l->rows[l->n_rows++] = (struct extent){ at, n };
	return true;
}

static uint32_t rows_of(const struct unwind_table *t, size_t page, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = page; i < page + n; i++)
		sum += t->pages[i].n;
	return sum;
}

/*
 * Takes room for the rows of n pages from this one on, or of fewer if that is all there is. Returns the
 * number of pages, 0 for none.
 */
static size_t place_rows(struct store *s, struct loaded *l, const struct unwind_table *t, size_t page, size_t n,
			 uint32_t *at)
{
	for (;;) {
		uint32_t rows = rows_of(t, page, n);

		if (rows == 0) {
			*at = 0;
			return n;
		}
		if (extents_take(&s->rows, rows, at)) {
			if (note_extent(l, *at, rows))
				return n;
			s->no_memory = true;
			extents_give(&s->rows, *at, rows, 0);
			return 0;
		}
		if (rows <= UNWIND_SHARD_ROWS && grow_area(s, STORE_ROWS, &s->rows))
			continue;
		if (n == 1)
			return 0;
		n = (n + 1) / 2;
	}
}

static void put_page(struct store *s, const struct loaded *l, const struct unwind_table *t, size_t page, uint32_t to,
		     struct unwind_page *out)
{
	const struct unwind_page *from = &t->pages[page];
	uint32_t *rows = (uint32_t *)s->shards[STORE_ROWS][to / UNWIND_SHARD_ROWS] + to % UNWIND_SHARD_ROWS;

	for (uint32_t i = 0; i < from->n; i++) {
		uint32_t row = t->rows[from->first + i];

		rows[i] = (row & 0xffff0000) | l->rules[row & 0xffff];
	}
	*out = (struct unwind_page){ to, from->n };
}

/* Copies all rows and pages. Returns false if some had no room; those that had are noted. */
static bool put_pages(struct store *s, struct loaded *l, const struct unwind_table *t, uint32_t pages)
{
	for (size_t i = 0; i < t->n_pages;) {
		uint32_t at;
		size_t n = place_rows(s, l, t, i, t->n_pages - i, &at);

		if (n == 0)
			return false;
		for (; n > 0; n--, i++) {
			put_page(s, l, t, i, at, page_of(s, pages + (uint32_t)i));
			at += t->pages[i].n;
		}
	}
	return true;
}

/* Drops a table's rules and rows; not its pages. */
static void drop_table(struct store *s, struct loaded *l, uint64_t now)
{
	for (size_t i = 0; i < l->n_rows; i++)
		extents_give(&s->rows, l->rows[i].at, l->rows[i].n, now);
	for (size_t i = 0; i < l->n_rules; i++)
		leave_rule(s, l->rules[i], now);
	free(l->rules);
	free(l->rows);
	*l = (struct loaded){ .used = l->used };
}

static enum store_loaded refusal(const struct store *s)
{
	return s->no_memory ? STORE_NO_MEMORY : STORE_OVER_BUDGET;
}

enum store_loaded store_load(struct store *s, uint32_t file, const struct unwind_table *t)
{
	struct unwind_file *f = file_of(s, file);
	struct loaded *l = &s->files[file];
	uint32_t pages = 0;

	if (t->n_pages > UNWIND_TABLE_PAGES)
		return STORE_OVER_BUDGET;
	if (!use_rules(s, l, t))
		return refusal(s);
	if (t->n_pages && !extents_take(&s->pages, (uint32_t)t->n_pages, &pages)) {
		drop_table(s, l, 0);
		return STORE_OVER_BUDGET;
	}
	if (!put_pages(s, l, t, pages)) {
		drop_table(s, l, 0);
		extents_give(&s->pages, pages, (uint32_t)t->n_pages, 0);
		return refusal(s);
	}
	f->pages = pages;
	f->first_page = (uint32_t)t->first_page;
	f->n_pages = (uint32_t)t->n_pages;
	f->load = next_number(&s->load);
	store_mark(s, file, UNWIND_FILE_READY);
	return STORE_LOADED;
}

void store_unload(struct store *s, uint32_t file, enum unwind_file_state state, uint64_t now)
{
	struct unwind_file *f = file_of(s, file);
	bool ready = f->state == UNWIND_FILE_READY;

	store_mark(s, file, state);
	if (!ready)
		return;
	extents_give(&s->pages, f->pages, f->n_pages, now);
	drop_table(s, &s->files[file], now);
}

void store_forget(struct store *s, uint32_t file, uint64_t now)
{
	if (file == 0 || !s->files[file].used)
		return;
	store_unload(s, file, UNWIND_FILE_NONE, now);
	s->files[file].used = false;
	number_give(&s->file_numbers, file, now);
}

enum store_loaded store_map(struct store *s, const struct unwind_mapping *m, size_t n, struct unwind_space *space)
{
	uint32_t at = 0;

	s->no_memory = false;
	if (n > UNWIND_SPACE_MAPPINGS)
		return STORE_OVER_BUDGET;
	while (n && !extents_take(&s->mappings, (uint32_t)n, &at)) {
		if (!grow_area(s, STORE_MAPPINGS, &s->mappings))
			return refusal(s);
	}
	if (n)
		memcpy((struct unwind_mapping *)s->shards[STORE_MAPPINGS][at / UNWIND_SHARD_MAPPINGS] +
			       at % UNWIND_SHARD_MAPPINGS,
		       m, n * sizeof(*m));
	*space = (struct unwind_space){ .first = at, .n = (uint32_t)n, .generation = next_number(&s->generation) };
	return STORE_LOADED;
}

void store_unmap(struct store *s, const struct unwind_space *space, uint64_t now)
{
	extents_give(&s->mappings, space->first, space->n, now);
}

void store_reap(struct store *s, uint64_t now)
{
	uint64_t before = now > STORE_GRACE ? now - STORE_GRACE : 0;

	extents_reap(&s->rows, before);
	extents_reap(&s->pages, before);
	extents_reap(&s->mappings, before);
	numbers_reap(&s->rule_numbers, before);
	numbers_reap(&s->file_numbers, before);
}

uint64_t store_file_bytes(const struct store *s, uint32_t file)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->files[file].n_rows; i++)
		n += s->files[file].rows[i].n;
	return n * sizeof(uint32_t);
}

uint64_t store_used(const struct store *s)
{
	return s->rows.used * sizeof(uint32_t) + s->mappings.used * sizeof(struct unwind_mapping);
}

uint64_t store_most(const struct store *s)
{
	return (uint64_t)(s->shards_most - 1) * UNWIND_SHARD_BYTES;
}

uint64_t store_held(const struct store *s)
{
	return s->held;
}

const void *store_shard(const struct store *s, enum store_area area, uint32_t shard)
{
	return shard < s->n_shards[area] ? s->shards[area][shard] : NULL;
}
