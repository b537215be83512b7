/*
 * The row at an address: the cached one, or the one that a search finds, which is then cached. The structures
 * of the cache, and why there is one, are in walk_memory.h.
 *
 *	if (walk_recall(env, pc) == 0 || walk_look_up(env, pc) == 0)
 *		...w->rule holds at pc, which is w->distance bytes into it...
 */
#ifndef CPROF_WALK_WALK_CACHE_H
#define CPROF_WALK_WALK_CACHE_H

#include "common/walk/walk_rule.h"

static WALK_INLINE __u32 walk_hash(__u32 load, __u64 offset)
{
	return ((__u32)(offset >> 4) ^ load * 0x85ebca6bu) * 0x9e3779b1u;
}

static WALK_INLINE int walk_holds(const struct unwind_known *k, __u32 load, __u64 offset)
{
	return k->load == load && offset - k->from < k->bytes;
}

/*
 * Returns the cached row at an offset of a file, or NULL. *at, unless exact: the index in the trail of the
 * row that was found last. The next row is usually the one after it.
 */
static WALK_INLINE const struct unwind_known *walk_known(const struct unwind_memory *m, __u32 load, __u64 offset,
							 int exact, __u32 *at)
{
	const struct unwind_known *k;

	if (exact) {
		k = &m->leaves[walk_hash(load, offset) >> (32 - UNWIND_LEAVES_BITS)];
		return walk_holds(k, load, offset) ? k : NULL;
	}
	*at = (*at + 1) & (UNWIND_TRAIL - 1);
	k = &m->trail[*at];
	if (walk_holds(k, load, offset))
		return k;
	*at = m->where[walk_hash(load, offset) >> (32 - UNWIND_TRAIL_BITS)] & (UNWIND_TRAIL - 1);
	k = &m->trail[*at];
	return walk_holds(k, load, offset) ? k : NULL;
}

/* Sets the current row to the one that contains pc, if it is cached. Returns 0 if it is. */
WALK_FN int walk_recall(WALK_ENV env, __u64 pc)
{
	struct unwind_memory *m = walk_memory(env);
	struct walk *w = walk_state(env);
	const struct unwind_known *k;
	__u64 offset;

	if (!w || !m || !walk_is_mapped(env, w, pc))
		return -1;
	offset = pc - w->start + w->offset;
	k = walk_known(m, w->file.load, offset, w->exact, &w->at);
	if (!k)
		return -1;
	w->rule = k->rule;
	w->distance = (__u32)(offset - k->from);
	return 0;
}

/* Is a register's slot in a run above rsp once all of the run's instructions were executed? */
static WALK_INLINE int walk_is_above(__u8 saved, __s32 at, __s32 cfa)
{
	return saved != UNWIND_AT_CFA || at + cfa >= 0;
}

/*
 * Beyond the last instruction of a run of pushes or pops, its row is a plain one: most calls are made there,
 * and quick steps know plain rows only.
 */
static WALK_INLINE void walk_simplify(struct unwind_known *k, __u32 distance)
{
	__s32 bytes = 8 * (__s32)walk_bits(k->rule.mask, UNWIND_RUN), cfa = k->rule.cfa;

	if (distance < UNWIND_RUN || (k->rule.kind != UNWIND_PUSHES && k->rule.kind != UNWIND_POPS))
		return;
	cfa += k->rule.kind == UNWIND_PUSHES ? bytes : -bytes;
	if (!walk_is_above(k->rule.bp, k->rule.bp_at, cfa) || !walk_is_above(k->rule.bx, k->rule.bx_at, cfa))
		return;
	k->rule.kind = UNWIND_CFA_RSP;
	k->rule.reg = k->rule.mask = 0;
	k->rule.cfa = cfa;
	k->from += UNWIND_RUN;
	k->bytes -= UNWIND_RUN;
}

/* Caches the current row, which was searched for at this offset and holds for `left` more bytes. */
static WALK_INLINE void walk_remember(WALK_ENV env, struct walk *w, __u64 offset, __u32 left)
{
	struct unwind_memory *m = walk_memory(env);
	__u32 load = w->file.load;
	struct unwind_known *k;

	if (!m || !left || !load)
		return;
	if (w->exact) {
		k = &m->leaves[walk_hash(load, offset) >> (32 - UNWIND_LEAVES_BITS)];
	} else {
		w->at = m->next++ & (UNWIND_TRAIL - 1);
		m->where[walk_hash(load, offset) >> (32 - UNWIND_TRAIL_BITS)] = (__u16)w->at;
		k = &m->trail[w->at & (UNWIND_TRAIL - 1)];
	}
	k->from = offset - w->distance;
	k->load = load;
	k->bytes = w->distance + left;
	k->rule = w->rule;
	walk_simplify(k, w->distance);
}

/* Sets the current row to the one of the current mapping that contains pc. Returns 0 on success. */
WALK_FN int walk_look_up(WALK_ENV env, __u64 pc)
{
	const struct unwind_rule *rules = walk_rules(env);
	struct walk *w = walk_state(env);
	__u32 rule, left;
	__u64 offset;

	if (!w || !rules)
		return -1;
	offset = pc - w->start + w->offset;
	rule = walk_row(env, w, offset, &left);
	w->rule = rules[rule & (UNWIND_RULES - 1)];
	walk_remember(env, w, offset, left);
	return 0;
}

#endif
