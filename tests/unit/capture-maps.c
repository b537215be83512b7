/*
 * Checks mappings against a simple model: an array with one element for each address. The source is included,
 * so that the shape of the tree can be checked.
 */
#include "common/capture/maps.c"

#include <string.h>

#include "tests/lib/check.h"

enum { SPACE = 512, COPIES = 8, STEPS = 40000 };

struct cell {
	bool mapped;
	uint32_t file;
	uint64_t offset; /* in the file, for this address */
};

struct pair {
	struct maps maps;
	struct cell model[SPACE];
};

/* Returns whether the tree is ordered, without overlaps, balanced, and has the right counts. */
static bool sound(const struct map_node *t, uint64_t low, uint64_t high)
{
	if (!t)
		return true;
	return t->refs > 0 && t->map.start >= low && t->map.end <= high && t->map.start < t->map.end &&
	       t->n == count_maps(t->left) + 1 + count_maps(t->right) &&
	       weight_of(t->left) <= DELTA * weight_of(t->right) && weight_of(t->right) <= DELTA * weight_of(t->left) &&
	       sound(t->left, low, t->map.start) && sound(t->right, t->map.end, high);
}

static bool same(const struct pair *p)
{
	for (uint64_t a = 0; a < SPACE; a++) {
		const struct map *m = maps_find(&p->maps, a);
		const struct cell *c = &p->model[a];

		if (!m != !c->mapped || (m && (m->file != c->file || m->offset + (a - m->start) != c->offset)))
			return false;
	}
	return !maps_find(&p->maps, SPACE) && !maps_find(&p->maps, UINT64_MAX) && sound(p->maps.root, 0, SPACE);
}

/* Applies the change to the model. Returns whether it gives a mapped address another meaning. */
static bool model_change(struct pair *p, const struct map *m, bool put)
{
	bool changed = false;

	for (uint64_t a = m->start; a < m->end; a++) {
		struct cell want = { put, put ? m->file : 0, put ? m->offset + (a - m->start) : 0 };
		struct cell *c = &p->model[a];

		if (c->mapped)
			changed |= !put || c->file != want.file || c->file == 0 || c->offset != want.offset;
		*c = want;
	}
	return changed;
}

static bool step(struct pair *p)
{
	uint64_t start = random_below(SPACE), length = 1 + random_below(random_below(8) ? 12 : SPACE);
	struct map m = { start, start + length < SPACE ? start + length : SPACE, 0, 0, 5 };
	bool put = random_below(4) != 0, changed = false, want;

	m.file = (uint32_t)random_below(4);
	/* Often an offset that agrees with other mappings of the file. */
	m.offset = random_below(2) ? m.start + 4096 : random_below(1000);
	want = model_change(p, &m, put);
	return (put ? maps_add(&p->maps, &m, &changed) : maps_remove(&p->maps, m.start, m.end, &changed)) &&
	       changed == want;
}

static void random_changes(void)
{
	static struct pair pairs[COPIES];
	bool results = true, states = true;

	for (int i = 0; i < STEPS && results && states; i++) {
		struct pair *p = &pairs[random_below(COPIES)];

		if (random_below(16) == 0) { /* a fork: one becomes a copy of another, and both go on */
			const struct pair *from = &pairs[random_below(COPIES)];

			if (from != p) {
				maps_release(&p->maps);
				*p = *from;
				maps_copy(&p->maps, &from->maps);
			}
		}
		results &= step(p);
		states &= i % 16 || same(p);
	}
	for (int i = 0; i < COPIES; i++) {
		states &= same(&pairs[i]);
		maps_release(&pairs[i].maps);
		states &= maps_count(&pairs[i].maps) == 0;
	}
	check(results, "random changes of forked mappings tell what changed");
	check(states, "and every address means what a brute-force model says");
}

static void edges(void)
{
	struct maps s = { 0 };
	struct map m = { 0, UINT64_MAX, 7, 1, 5 }, empty = { 5, 5, 0, 1, 5 };
	bool changed = false;

	check(maps_add(&s, &empty, &changed) && maps_count(&s) == 0, "an empty range maps nothing");
	check(maps_add(&s, &m, &changed) && !changed && maps_find(&s, UINT64_MAX - 1) && !maps_find(&s, UINT64_MAX),
	      "a mapping from 0 to the last address but one");
	check(maps_remove(&s, 10, 20, &changed) && changed && maps_count(&s) == 2 && maps_find(&s, 20)->offset == 27,
	      "a hole cuts it in two");
	changed = false;
	check(maps_remove(&s, 12, 18, &changed) && !changed, "a hole in a hole changes nothing");
	maps_release(&s);
	maps_release(&s);
}

static size_t live_nodes;

static void count_new(const struct map_node *t)
{
	if (!t || t->refs > 1) /* shared with a tree that was counted before */
		return;
	live_nodes++;
	count_new(t->left);
	count_new(t->right);
}

/* Maps top down, as the kernel does; then each of many children maps one thing of its own. */
static void fork_costs(void)
{
	enum { MAPPINGS = 3000, CHILDREN = 2000 };
	static struct maps children[CHILDREN];
	struct maps parent = { 0 };
	bool good = true, changed = false;

	for (uint64_t i = MAPPINGS; i > 0; i--)
		good &= maps_add(&parent, &(struct map){ i * 16, i * 16 + 8, 0, 1, 5 }, &changed);
	good &= !changed && maps_count(&parent) == MAPPINGS && sound(parent.root, 0, UINT64_MAX);
	check(good, "mappings that come top down stay balanced");
	for (size_t i = 0; i < CHILDREN; i++) {
		uint64_t at = 16 * random_below(MAPPINGS) + 8;

		maps_copy(&children[i], &parent);
		good &= maps_add(&children[i], &(struct map){ at, at + 8, 0, 2, 5 }, &changed);
		count_new(children[i].root);
	}
	check(good && live_nodes < CHILDREN * 40, "a child that maps something shares all but a path with its parent");
	for (size_t i = 0; i < CHILDREN; i++)
		maps_release(&children[i]);
	maps_release(&parent);
}

/*
 * A library in many pieces, and children that each map all of it as one: a walk over the pieces takes hours.
 */
static void fork_over_all(void)
{
	enum { MAPPINGS = 300000, CHILDREN = 300000 };
	struct maps parent = { 0 }, child = { 0 };
	struct map all = { 0, MAPPINGS * 16, 0, 1, 5 };
	bool good = true, changed = false;

	for (uint64_t i = 0; i < MAPPINGS; i++)
		good &= maps_add(&parent, &(struct map){ i * 16, i * 16 + 16, i * 16, 1, 5 }, &changed);
	for (size_t i = 0; i < CHILDREN; i++) {
		maps_copy(&child, &parent);
		good &= maps_add(&child, &all, &changed) && maps_count(&child) == 1;
		maps_release(&child);
	}
	check(good && !changed, "a child that maps all that its parent has, at the same places, changes nothing");
	all.offset = 1;
	maps_copy(&child, &parent);
	check(maps_add(&child, &all, &changed) && changed, "  and one that maps it at others does");
	maps_release(&child);
	maps_release(&parent);
}

int main(void)
{
	random_changes();
	edges();
	fork_costs();
	fork_over_all();
	return checks_done();
}
