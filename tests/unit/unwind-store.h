/*
 * For tests of the store of unwind tables: stores whose memory is counted, tables whose rules are numbered,
 * and the walk's own search in them.
 *
 *	struct memory m;
 *	struct store *s = new_store(&m, 4 << 20);
 *	struct unwind_table t = make_table(&(struct shape){ 1, 1, 2, 0 }, false);
 *
 *	store_load(s, file, &t);
 *	...look_up(s, &file, offset, true, false)...
 *	end_store(s, &m);
 */
#ifndef CPROF_TESTS_UNWIND_STORE_H
#define CPROF_TESTS_UNWIND_STORE_H

#include <stdlib.h>
#include <string.h>

#include "common/walk/store.h"
#include "tests/lib/check.h"

#define WALK_ENV const struct store *
#define WALK_FN static inline
#define WALK_INLINE inline
#include "common/walk/walk.h"

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

/* Memory that is counted, and that can be refused */

struct memory {
	void *shards[256];
	size_t n, most; /* given; limit */
	size_t of[STORE_AREAS];
};

static inline void *give_shard(void *arg, enum store_area area, uint32_t shard, size_t bytes)
{
	struct memory *m = arg;

	if (m->n == m->most || m->n == sizeof(m->shards) / sizeof(*m->shards) || shard != m->of[area])
		return NULL;
	m->of[area]++;
	return m->shards[m->n++] = calloc(1, bytes);
}

static inline struct store *new_store(struct memory *m, uint64_t budget)
{
	struct store_backing backing = { give_shard, m };

	memset(&memory, 0, sizeof(memory)); /* its numbers belong to another store */
	*m = (struct memory){ .most = SIZE_MAX };
	return store_new(&backing, budget);
}

static inline void end_store(struct store *s, struct memory *m)
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

static inline struct unwind_rule rule_number(uint32_t i)
{
	return (struct unwind_rule){ .kind = UNWIND_CFA_RSP, .bx = UNWIND_LOST, .cfa = (int32_t)(i * 8) };
}

static inline void fill_page(struct unwind_table *t, struct unwind_page *p, size_t rows, size_t rules)
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
static inline struct unwind_table make_table(const struct shape *shape, bool sparse)
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
static inline struct unwind_rule look_up(const struct store *s, const struct unwind_file *f, uint64_t offset,
					 bool exact, bool remember)
{
	looker = (struct walk){ .file = *f, .end = UINT64_MAX, .exact = exact };
	if ((!remember || walk_recall(s, offset)) && walk_look_up(s, offset))
		looker.rule.kind = UNWIND_KINDS;
	return looker.rule;
}

/* Returns whether the row at this offset begins distance before, at most 64 KiB. */
static inline bool is_distance(const struct unwind_table *t, uint64_t offset, uint32_t distance)
{
	struct unwind_rule here = unwind_table_find(t, offset), first = unwind_table_find(t, offset - distance);

	return distance < 1 << UNWIND_PAGE_SHIFT && distance <= offset && memcmp(&here, &first, sizeof(here)) == 0;
}

static inline struct unwind_file read_file(const struct store *s, uint32_t file)
{
	return walk_files(s)[file];
}

/* Compares look-ups at random offsets, some before and after the table. */
static inline bool finds(const struct store *s, const struct unwind_file *f, const struct unwind_table *t,
			 int times)
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

static inline bool load_shape(struct store *s, uint32_t file, const struct shape *shape,
			      enum store_loaded want)
{
	struct unwind_table t = make_table(shape, false);
	enum store_loaded got = store_load(s, file, &t);
	struct unwind_file f = read_file(s, file);
	bool good = got == want && (got != STORE_LOADED || finds(s, &f, &t, 200));

	unwind_table_release(&t);
	return good;
}

#endif
