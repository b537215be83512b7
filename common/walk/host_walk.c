#include "common/walk/host_walk.h"

#include <string.h>

#define WALK_ENV struct unwind_host *
#define WALK_FN static
#define WALK_INLINE inline
#define WALK_SEARCH search_mapping
static int search_mapping(struct unwind_host *h, uint64_t pc);
#include "common/walk/walk.h"

static inline struct walk *walk_state(struct unwind_host *h)
{
	return &h->walk;
}

static inline const __u32 *walk_rows(struct unwind_host *h, __u32 shard)
{
	return store_shard(h->store, STORE_ROWS, shard);
}

/* The mappings of the one process. */
static inline const struct unwind_mapping *walk_mappings(struct unwind_host *h, __u32 shard)
{
	return shard == 0 ? h->mappings : NULL;
}

static inline const struct unwind_rule *walk_rules(struct unwind_host *h)
{
	return store_shard(h->store, STORE_RULES, 0);
}

static inline const struct unwind_page *walk_pages(struct unwind_host *h)
{
	return store_shard(h->store, STORE_PAGES, 0);
}

static inline const struct unwind_file *walk_files(struct unwind_host *h)
{
	return store_shard(h->store, STORE_FILES, 0);
}

static inline struct unwind_memory *walk_memory(struct unwind_host *h)
{
	return h->memory;
}

static inline int walk_read(struct unwind_host *h, void *to, __u32 n, __u64 from)
{
	uint64_t at = from - h->stack_at;

	if (from < h->stack_at || at > h->stack.n || n > h->stack.n - at) {
		h->beyond = h->beyond || from >= h->stack_at;
		return -1;
	}
	memcpy(to, h->stack.p + at, n);
	return 0;
}

static inline int walk_read_code(struct unwind_host *h, __u64 *to, __u64 from)
{
	uint64_t at = from - h->code_at;

	if (from < h->code_at || at > h->code.n || sizeof(*to) > h->code.n - at)
		return -1;
	memcpy(to, h->code.p + at, sizeof(*to));
	return 0;
}

static int search_mapping(struct unwind_host *h, uint64_t pc)
{
	if (h->find) {
		h->mappings = &h->found;
		h->walk.space.n = h->find(h->find_arg, pc, &h->found);
	}
	return walk_search_mapping(h, &h->walk, pc);
}

int unwind_host_step(struct unwind_host *h)
{
	int end;

	h->walk.space = (struct unwind_space){
		.n = (uint32_t)(h->n_mappings < UNWIND_SPACE_MAPPINGS ? h->n_mappings : UNWIND_SPACE_MAPPINGS),
		.generation = h->memory != NULL };
	end = walk_step(h) & ~WALK_UNSURE; /* no caller knows more */
	return end == WALK_COMPLETE && h->walk.unchecked ? WALK_FP_END : end;
}
