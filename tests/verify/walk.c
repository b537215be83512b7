#include "tests/verify/walk.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/elf/elffile.h"
#include "common/unwind/build.h"
#include "common/walk/host_walk.h"

enum { DEPTH_MAX = 1023, BUDGET = 1 << 29 };

static void push(struct chain *c, uint64_t pc, bool exact)
{
	if (!c->frames) {
		c->frames = calloc(DEPTH_MAX, sizeof(*c->frames));
		if (!c->frames)
			die("out of memory");
	}
	c->frames[c->n++] = (struct frame){ pc, exact };
}

static void by_fp(const struct states *all, struct state *s)
{
	uint64_t bp = s->regs[UNWIND_RBP], sp = s->regs[UNWIND_RSP], saved[2];
	struct chain *c = &s->ours;

	push(c, s->regs[UNWIND_RIP], true);
	c->end = CHAIN_CUT;
	c->why = "no frame pointer";
	while (c->n < DEPTH_MAX && bp >= sp && state_read(all, s, bp, saved, sizeof(saved)) && saved[1]) {
		push(c, saved[1], false);
		sp = bp + sizeof(saved);
		bp = saved[0];
	}
}

void walk_fp(struct states *all)
{
	for (size_t i = 0; i < all->n; i++)
		by_fp(all, &all->items[i]);
}

struct tables {
	struct states *all;
	void **shards; /* memory of the store */
	size_t n_shards, cap_shards;
	struct store *store;
	uint32_t *numbers; /* numbers of files in the store */
	struct unwind_mapping *mappings;
	size_t n_mappings, cap_mappings;
};

static void *shard(void *arg, enum store_area area, uint32_t number, size_t bytes)
{
	struct tables *t = arg;

	(void)area;
	(void)number;
	GROW(t->shards, t->cap_shards, t->n_shards);
	t->shards[t->n_shards] = calloc(1, bytes);
	return t->shards[t->n_shards] ? t->shards[t->n_shards++] : NULL;
}

static void load(struct tables *t, uint32_t number)
{
	struct unwind_table table = { 0 };
	struct elf_file *f = NULL;
	size_t i = 1;
	bool built;

	while (i < t->all->n_files && t->numbers[i] != number)
		i++;
	if (i == t->all->n_files || t->all->files[i].fd < 0 || elf_open(dup(t->all->files[i].fd), &f) != ELF_OPENED) {
		store_mark(t->store, number, UNWIND_FILE_NONE);
		return;
	}
	built = unwind_build(f, &table) == UNWIND_BUILT;
	if (!built)
		store_mark(t->store, number, UNWIND_FILE_NONE);
	else if (store_load(t->store, number, &table) != STORE_LOADED)
		die("%s: its table does not fit", t->all->files[i].path);
	unwind_table_release(&table);
	elf_close(f);
}

static void list_mappings(struct tables *t, size_t image)
{
	const struct maps *maps = &t->all->images[image].maps;

	t->n_mappings = 0;
	for (const struct map *m = maps_from(maps, 0); m; m = maps_from(maps, m->end)) {
		if (!(m->prot & 4))
			continue;
		GROW(t->mappings, t->cap_mappings, t->n_mappings);
		t->mappings[t->n_mappings++] =
			(struct unwind_mapping){ m->start, m->end, m->offset, m->file ? t->numbers[m->file] : 0, 0 };
	}
}

/*
 * A stack through a gap is not called complete unless its code was checked, which is not available here;
 * frames are compared.
 */
static void finish(struct chain *c, int end, const struct unwind_host *h)
{
	static const char *const why[] = {
		[WALK_FP_END] = "end of frame pointers", [WALK_UNREADABLE] = "unreadable",
		[WALK_BROKEN] = "broken", [WALK_NO_REGS] = "no registers", [WALK_NO_TABLE] = "no table",
		[WALK_NO_MAPPING] = "no mapping", [WALK_GAP] = "gap", [WALK_BAD_RULE] = "bad rule",
		[WALK_BUDGET] = "budget",
	};

	c->end = end == WALK_COMPLETE || (end == WALK_FP_END && h->walk.unchecked) ? CHAIN_COMPLETE : end == WALK_ON ? CHAIN_DEPTH : CHAIN_CUT;
	if (c->end == CHAIN_CUT)
		c->why = h->beyond ? "memory not copied" : why[end];
}

static void by_table(struct tables *t, struct state *s)
{
	struct unwind_host h = {
		.store = t->store, .mappings = t->mappings, .n_mappings = t->n_mappings,
		.stack_at = s->regs[UNWIND_RSP], .stack = { s->stack, s->stack_n },
		.walk = { .exact = 1, .inner = 1, .bx_known = 1 },
	};
	int end = WALK_ON;

	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		h.walk.regs[i] = s->regs[i];
	push(&s->ours, s->regs[UNWIND_RIP], true);
	while (s->ours.n < DEPTH_MAX) {
		end = unwind_host_step(&h);
		if (end == WALK_ASK)
			load(t, h.walk.file_at);
		else if (end == WALK_ON)
			push(&s->ours, h.walk.regs[UNWIND_RIP], h.walk.exact);
		else
			break;
	}
	finish(&s->ours, end, &h);
}

void walk_table(struct states *all)
{
	struct tables t = { .all = all };
	struct store_backing backing = { shard, &t };
	size_t image = SIZE_MAX;

	t.store = store_new(&backing, BUDGET);
	t.numbers = calloc(all->n_files + 1, sizeof(*t.numbers));
	if (!t.store || !t.numbers)
		die("out of memory");
	for (size_t i = 1; i < all->n_files; i++)
		t.numbers[i] = store_file(t.store);
	for (size_t i = 0; i < all->n; i++) {
		if (all->items[i].image != image)
			list_mappings(&t, image = all->items[i].image);
		by_table(&t, &all->items[i]);
	}
	store_free(t.store);
	while (t.n_shards)
		free(t.shards[--t.n_shards]);
	free(t.shards);
	free(t.numbers);
	free(t.mappings);
}
