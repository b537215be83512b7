/*
 * Reads the layout and the code heaps of JVMs, in a process of its own.
 *
 *	struct java_reader *r = java_reader_new();
 *
 *	java_reader_ask(r, &question);		// does not wait
 *	...when java_reader_fd(r) is readable, and at each drain...
 *	while (java_reader_take(r, now, &answer))
 *		...answer->found...
 *	java_reader_free(r);
 *
 * Memory of another process may be a file on a server that does not answer, or wait for a handler of page
 * faults (userfaultfd): any user can arrange both. So the recorder never reads it. The reader does, and is
 * killed and replaced if it is silent for JAVA_PATIENCE. Its questions are then asked again, one at a time,
 * which shows whose memory does not answer.
 *
 * A JVM that is not set up yet is read again every JAVA_AGAIN_MS, more seldom after a second, for
 * JAVA_AGAIN_MOST ms: the reader answers as soon as it is.
 */
#ifndef CPROF_RECORD_LANG_JAVA_READER_H
#define CPROF_RECORD_LANG_JAVA_READER_H

#include "common/hotspot/java_heap.h"

struct java_reader;

#define JAVA_PATIENCE 4000000000ull /* ns */

enum { JAVA_AGAIN_MS = 5, JAVA_AGAIN_MOST = 5000, JAVA_ASKED_MOST = 64 };

struct java_question {
	uint64_t id; /* chosen by the caller; comes back with the answer */
	uint32_t pid;
	uint32_t again; /* 1: waits until the JVM is set up */
	uint64_t bias;	/* run-time address less linked address, of libjvm */
	uint64_t state; /* as in its image */
	uint32_t at[JAVA_SYMBOLS];
};

struct java_answer {
	uint64_t id;
	uint64_t cpu_ns; /* the reader's so far */
	uint32_t found;	 /* enum java_found */
	int32_t error;	/* errno of JAVA_UNREADABLE, or 0. ETIMEDOUT: its memory does not answer */
	char why[JAVA_WHY];
	/* Only valid for JAVA_FOUND: */
	struct java_layout layout;
	struct java_process process;
};

/* Returns NULL with errno. No process is forked before the first question. */
struct java_reader *java_reader_new(void);
/* Returns a descriptor that is readable when java_reader_take may have an answer. It never changes. */
int java_reader_fd(const struct java_reader *r);
/* Returns false if no further question can be asked now: ask again later. */
bool java_reader_ask(struct java_reader *r, const struct java_question *q);
/*
 * Takes an answer, without waiting; lent until the next call. Returns NULL if there is none now. Each question
 * gets one, in any order. It is checked here, because it comes from a process that read hostile memory.
 * JAVA_UNREADABLE with EAGAIN: ask again.
 */
const struct java_answer *java_reader_take(struct java_reader *r, uint64_t now);
/* Returns how often a process's memory did not answer. */
uint64_t java_reader_silent(const struct java_reader *r);
/* Returns the CPU time of its processes, in ns, as of their last messages. */
uint64_t java_reader_cpu_ns(const struct java_reader *r);
void java_reader_free(struct java_reader *r);

#endif
