/*
 * Goes on with the walk that a sampling program has ended with WALK_LANG, because the frame is for the program
 * of the process's language. The language defines WALK_LANG_STEP or WALK_LANG_FRAME (common/walk/walk_env.h)
 * before it includes percpu.bpf.h or event_ring.bpf.h, and their functions after; this walk calls them.
 */
#ifndef CPROF_BPF_LANG_RESUME_H
#define CPROF_BPF_LANG_RESUME_H

#include "bpf/lang/program.bpf.h"

/* Returns the index of the frame that the walk is at; 0 is the leaf. */
static __always_inline unsigned int resumed_frame(const struct scratch *s)
{
	return (unsigned int)(s->head.user_n - 1);
}

/*
 * The last address is that of the state: the step from it is still to be made. On other machines than x86-64
 * no walk by tables is there to go on with.
 */
static __always_inline void resume_walk(WALK_ENV env, struct scratch *s)
{
#if defined(__TARGET_ARCH_x86)
	int end;

	if (s->head.user_by != SAMPLE_BY_TABLE || s->head.user_end != WALK_LANG || s->head.user_n <= 0)
		return;
	end = walk_slowly(env);
	if (end == WALK_ON)
		end = walk_up(env);
	defer_if(env, s, note_end(s, end));
#else
	(void)env;
	(void)s;
#endif
}

#endif
