/*
 * One step up the stack, from a frame's registers to its caller's. The same source is compiled into the BPF
 * program and for the host, which walks recorded states (registers, stack, mappings): in unit tests, and to
 * finish walks that the program could not for lack of a table.
 *
 *	#define WALK_ENV struct unwind_host *
 *	#define WALK_FN static
 *	#define WALK_INLINE inline
 *	#include "common/walk/walk.h"
 *	...the functions that walk_env.h declares...
 *
 *	while ((end = walk_step(host)) == WALK_ON)
 *		...
 *
 * Its parts, the first to be read first:
 *
 *	walk_env.h	what the includer defines: the macros, and functions that reach memory and tables
 *	walk_search.h	from an address to its mapping, and to a row of the table
 *	walk_fp.h	the step without a row: by frame pointer
 *	walk_rule.h	the step by the rule of a row
 *	walk_cache.h	the rows that earlier walks met
 */
#ifndef CPROF_WALK_WALK_H
#define CPROF_WALK_WALK_H

#include "common/walk/walk_cache.h"
#include "common/walk/walk_fp.h"
#include "common/walk/walk_rule.h"

/*
 * Finds the row for pc and stores it in the walk (WALK_FOUND). Without a row, takes the step itself or
 * returns the reason the walk ends.
 */
static WALK_INLINE int walk_find(WALK_ENV env, struct walk *w, __u64 pc)
{
	int end;

#ifdef WALK_LANG_STEP
	end = WALK_LANG_STEP(env, pc);
	if (end != WALK_FOUND)
		return end;
#endif
	if (pc < w->start || pc >= w->end) {
		end = walk_enter(env, pc);
#ifndef WALK_LANG_STEP
		if (end != WALK_ON && w->space.lang)
			return WALK_LANG;
#endif
		if (end != WALK_ON)
			return end;
	}
	if (w->file.state == UNWIND_FILE_ASK) {
		w->start = w->end = 0;
		return WALK_ASK;
	}
	if (!w->file_at && walk_trampoline(env, WALK_NO_TABLE) == WALK_ON)
		return WALK_ON;
	if (w->file.state != UNWIND_FILE_READY)
		return walk_by_fp(env, w->file.state == UNWIND_FILE_REFUSED ? WALK_BUDGET : WALK_NO_TABLE);
	return walk_look_up(env, pc) ? WALK_NO_TABLE : WALK_FOUND;
}

/* Goes up one frame: WALK_ON, WALK_ASK (nothing has changed: repeat once there is a table) or an end. */
static WALK_INLINE int walk_step(WALK_ENV env)
{
	struct walk *w = walk_state(env);
	int is = WALK_FOUND;
	__u64 pc;

	if (!w)
		return WALK_NO_TABLE;
	pc = w->regs[UNWIND_RIP] - !w->exact;
	if (walk_recall(env, pc))
		is = walk_find(env, w, pc);
	return is == WALK_FOUND ? walk_by_rule(env, w, &w->rule, w->distance) : is;
}

#endif
