/*
 * The contract between the walk and its includer: what the includer defines before it includes walk.h, and the
 * functions that it defines afterwards.
 *
 * Before the #include, define
 *
 *	WALK_ENV	the type of every function's first argument. In BPF the program's context or a number.
 *	WALK_FN		how functions are declared. In BPF they are global, so that each is verified once
 *			and not once for each path that leads to it; so they take numbers only.
 *	WALK_INLINE	the other functions: inline, in BPF always
 *
 * and then define the functions that are declared here: in BPF they are map lookups.
 *
 * A language's own walk goes through code that has no table. It defines one or both of
 *
 *	WALK_LANG_STEP(env, pc)	goes up one frame whose code may be the language's. WALK_FOUND: it is not.
 *	WALK_LANG_FRAME(env)	is called before each step by frame pointer, also by a rule that was found in code
 *
 * Without them, such a walk ends with WALK_LANG at the first frame of a process whose space has a language.
 *
 * With WALK_LIVE(env, pc), mappings of a process whose space is UNWIND_LIVE come from the kernel: it does what
 * walk_search_mapping does. With WALK_SEARCH(env, pc), all mappings come from there.
 */
#ifndef CPROF_WALK_WALK_ENV_H
#define CPROF_WALK_WALK_ENV_H

#include <stddef.h>

#include "common/walk/state.h"
#include "common/walk/walk_memory.h"

/* NULL: there is none. Arrays of UNWIND_SHARD_ROWS, _SHARD_MAPPINGS, _RULES, _PAGES, _FILES. */
static WALK_INLINE struct walk *walk_state(WALK_ENV env);
static WALK_INLINE const __u32 *walk_rows(WALK_ENV env, __u32 shard);
static WALK_INLINE const struct unwind_mapping *walk_mappings(WALK_ENV env, __u32 shard);
static WALK_INLINE const struct unwind_rule *walk_rules(WALK_ENV env);
static WALK_INLINE const struct unwind_page *walk_pages(WALK_ENV env);
static WALK_INLINE const struct unwind_file *walk_files(WALK_ENV env);
/* Not shared during a walk; NULL: there is no cache. */
static WALK_INLINE struct unwind_memory *walk_memory(WALK_ENV env);
/* Reads memory of the thread that is walked. Returns 0 on success. */
static WALK_INLINE int walk_read(WALK_ENV env, void *to, __u32 n, __u64 from);
/* Reads eight bytes of its code. Returns 0 on success. */
static WALK_INLINE int walk_read_code(WALK_ENV env, __u64 *to, __u64 from);

enum { WALK_FOUND = 66 /* returned by WALK_LANG_STEP; not a walk_end */ };

#endif
