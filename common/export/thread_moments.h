/*
 * The moments of timed traces, thread by thread and in order of time.
 *
 *	struct thread_moments t;
 *
 *	if (!thread_moments_init(&t, &traces)) ...out of memory...
 *	for (i = 0; i < t.n; i++)
 *		for (at = t.threads[i].first; at < t.threads[i].end; at++)
 *			...traces.moments[at]...
 *	thread_moments_release(&t);
 *
 * It sorts the moments of the traces, which must be settled.
 */
#ifndef CPROF_EXPORT_THREAD_MOMENTS_H
#define CPROF_EXPORT_THREAD_MOMENTS_H

#include "common/export/traces.h"

struct thread_moments_thread {
	uint64_t pid, tid;
	uint32_t host;    /* text */
	uint32_t comm;    /* text: its last command */
	uint32_t process; /* text: the last command of its process's main thread, or of its first one */
	size_t first, end; /* in the moments */
};

struct thread_moments {
	struct thread_moments_thread *threads; /* by host, process and thread */
	size_t n, cap;
	uint64_t start, end; /* the first beginning and the last time, in ns; 0 without moments */
};

/* Returns false if out of memory; the object can be released even then. */
bool thread_moments_init(struct thread_moments *t, struct traces *s);
void thread_moments_release(struct thread_moments *t);

/* Returns the index of a thread; t->n if it has no moments. host: text. */
size_t thread_moments_find(const struct thread_moments *t, const struct traces *s, uint32_t host,
			   uint64_t pid, uint64_t tid);

/* Returns whether weights are nanoseconds. Waits have a beginning only then. */
bool thread_moments_timed(const struct traces *s);
/* Returns when a moment begins: a wait at its beginning, and a sample at its time. */
uint64_t thread_moments_begin(const struct traces *s, const struct traces_moment *m);

/* Returns the innermost frame of a wait as cprof-fold --wall has it: "[sleeping]"; NULL for none. */
const char *thread_moments_frame(uint32_t wait);
/* Returns the same without brackets, or "running". */
struct slice thread_moments_wait(uint32_t wait);

#endif
