/* Tells walk.h which functions to call for V8. Include it before all other headers. */
#ifndef CPROF_BPF_LANG_JAVASCRIPT_WALK_H
#define CPROF_BPF_LANG_JAVASCRIPT_WALK_H

#define WALK_ENV unsigned int

int javascript_step(WALK_ENV env, unsigned long long pc);
int javascript_frame(WALK_ENV env);

#define WALK_LANG_STEP javascript_step
#define WALK_LANG_FRAME javascript_frame

#endif
