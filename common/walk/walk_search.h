/*
 * The mapping that contains an address, and the row of its file's table: both by binary search. Mappings are
 * cached here, rows in walk_cache.h.
 *
 *	if (walk_enter(env, pc) == WALK_ON)
 *		rule = walk_row(env, w, pc - w->start + w->offset, &left);
 */
#ifndef CPROF_WALK_WALK_SEARCH_H
#define CPROF_WALK_WALK_SEARCH_H

#include "common/walk/walk_env.h"

enum { WALK_NOWHERE = 0xffffffff };

/* The compiler forgets the value's origin here: it keeps checks for the verifier, and makes no branch. */
#define walk_opaque(value) __asm__ volatile("" : "+r"(value))

/*
 * The steps of both searches have no branches: none can be mispredicted, and the verifier need not follow
 * every path. Both are functions of their own, because the verifier follows the code after a loop once for
 * each iteration at which the loop can end.
 */

/* Returns the index in the shard of the last of n mappings, from first on, that starts at pc or before. */
WALK_FN __u32 walk_find_mapping(WALK_ENV env, __u32 shard, __u32 first, __u32 n, __u64 pc)
{
	const struct unwind_mapping *maps = walk_mappings(env, shard);

	if (!maps || n == 0)
		return WALK_NOWHERE;
	for (int i = 0; i < 15 && n > 1; i++) {
		__u32 half = n / 2;
		__u64 ahead = pc - maps[(first + half) & (UNWIND_SHARD_MAPPINGS - 1)].start;

		walk_opaque(ahead); /* otherwise the compiler makes the sign or the bit a branch again */
		ahead >>= 63;
		walk_opaque(ahead);
		first += half & ((__u32)ahead - 1);
		n -= half;
	}
	return first & (UNWIND_SHARD_MAPPINGS - 1);
}

/* Returns the index in the shard of the last of n rows, from first on, whose offset is not after key's. */
WALK_FN __u32 walk_find_row(WALK_ENV env, __u32 shard, __u32 first, __u32 n, __u32 key)
{
	const __u32 *rows = walk_rows(env, shard);

	if (!rows)
		return WALK_NOWHERE;
	for (int i = 0; i < 14 && n > 1; i++) {
		__u32 half = n / 2;
		__u64 ahead = (__u64)key - rows[(first + half) & (UNWIND_SHARD_ROWS - 1)];

		walk_opaque(ahead); /* otherwise the compiler makes the sign or the bit a branch again */
		ahead >>= 63;
		walk_opaque(ahead);
		first += half & ((__u32)ahead - 1);
		n -= half;
	}
	return first & (UNWIND_SHARD_ROWS - 1);
}

static WALK_INLINE int walk_search_mapping(WALK_ENV env, struct walk *w, __u64 pc)
{
	__u32 shard = w->space.first / UNWIND_SHARD_MAPPINGS;
	__u32 at = walk_find_mapping(env, shard, w->space.first & (UNWIND_SHARD_MAPPINGS - 1), w->space.n, pc);
	const struct unwind_mapping *m = walk_mappings(env, shard);
	const struct unwind_file *files = walk_files(env);

	if (at == WALK_NOWHERE || !m || !files)
		return WALK_NO_MAPPING;
	m += at & (UNWIND_SHARD_MAPPINGS - 1);
	if (pc < m->start || pc >= m->end)
		return WALK_NO_MAPPING;
	w->start = m->start;
	w->end = m->end;
	w->offset = m->offset;
	w->file_at = m->file & (UNWIND_FILES - 1);
	w->file = files[w->file_at];
	if (!w->file_at)
		w->file.load = 0; /* it counts changes: no row is of that load */
	return WALK_ON;
}

static WALK_INLINE int walk_look_for_mapping(WALK_ENV env, struct walk *w, __u64 pc)
{
#ifdef WALK_LIVE
	if (w->space.generation & UNWIND_LIVE)
		return WALK_LIVE(env, pc);
#endif
#ifdef WALK_SEARCH
	(void)w;
	return WALK_SEARCH(env, pc);
#else
	return walk_search_mapping(env, w, pc);
#endif
}

/* Returns the number of changes on the way to the rows; 0: unknown. Data read later is at least that new. */
static WALK_INLINE __u32 walk_changes(WALK_ENV env)
{
	const struct unwind_file *files = walk_files(env);

	return files ? *(const volatile __u32 *)&files->load : 0;
}

/* Returns the cache slot of a mapping, by 64 KiB of addresses; a mapping may fill many. */
static WALK_INLINE struct unwind_place *walk_place(WALK_ENV env, const struct walk *w, __u64 pc)
{
	__u32 hash = ((__u32)(pc >> 16) ^ w->space.generation * 0x85ebca6bu) * 0x9e3779b1u;
	struct unwind_memory *m = walk_memory(env);

	return m && w->space.generation ? &m->places[hash >> (32 - UNWIND_PLACES_BITS)] : NULL;
}

/* Sets the current mapping to the one that contains pc. */
WALK_FN int walk_enter(WALK_ENV env, __u64 pc)
{
	__u32 changes = walk_changes(env);
	struct walk *w = walk_state(env);
	struct unwind_place *p;
	int end;

	if (!w)
		return WALK_NO_MAPPING;
	p = walk_place(env, w, pc);
	if (p && changes && p->changes == changes && p->generation == w->space.generation && pc >= p->start && pc < p->end) {
		w->start = p->start;
		w->end = p->end;
		w->offset = p->offset;
		w->file_at = p->file_at;
		w->file = p->file;
		return WALK_ON;
	}
	end = walk_look_for_mapping(env, w, pc);
	if (p && changes && end == WALK_ON) {
		p->start = w->start;
		p->end = w->end;
		p->offset = w->offset;
		p->generation = w->space.generation;
		p->changes = changes;
		p->file_at = w->file_at;
		p->file = w->file;
	}
	return end;
}

/* Is there a mapping with code at pc? If so, it is the current one. */
static WALK_INLINE int walk_is_mapped(WALK_ENV env, const struct walk *w, __u64 pc)
{
	return (pc >= w->start && pc < w->end) || walk_enter(env, pc) == WALK_ON;
}

/*
 * Returns the number of the rule at an offset in the file, and sets w->distance to the distance from its row.
 * *left: bytes up to the next row, 0: nothing is known here.
 */
static WALK_INLINE __u32 walk_row(WALK_ENV env, struct walk *w, __u64 offset, __u32 *left)
{
	__u64 page = (offset >> UNWIND_PAGE_SHIFT) - w->file.first_page;
	__u32 low = offset & ((1 << UNWIND_PAGE_SHIFT) - 1), shard, first, at, n, row;
	const struct unwind_page *pages = walk_pages(env);
	const __u32 *rows;

	w->distance = *left = 0;
	if (page >= w->file.n_pages || !pages)
		return UNWIND_GAP;
	pages += (w->file.pages + (__u32)page) & (UNWIND_PAGES - 1);
	n = pages->n;
	first = pages->first & (UNWIND_SHARD_ROWS - 1);
	shard = pages->first / UNWIND_SHARD_ROWS;
	rows = walk_rows(env, shard);
	if (n == 0 || n > UNWIND_PAGE_ROWS || !rows)
		return UNWIND_GAP;
	at = walk_find_row(env, shard, first, n, low << 16 | 0xffff) & (UNWIND_SHARD_ROWS - 1);
	row = rows[at];
	n -= at - first; /* rows from this one on */
	*left = (n > 1 ? rows[(at + 1) & (UNWIND_SHARD_ROWS - 1)] >> 16 : 1 << UNWIND_PAGE_SHIFT) - low;
	w->distance = low - (row >> 16);
	return row & 0xffff;
}

#endif
