/*
 * The jitdump files of processes that make code at run time, read while they grow.
 *
 *	struct jitdumps *js = jitdumps_new(opener);
 *
 *	if (jitdumps_is(mapping->path))
 *		jitdumps_watch(js, process_id, pid, &mapping);
 *	...what the opener answers: jitdumps_opened(js, &answer)...
 *	while (jitdumps_poll(js, sink, arg) > 0)	// each step
 *		;
 *	jitdumps_finish(js, process_id, sink, arg);	// the process is gone: the rest of its files
 *	jitdumps_free(js);
 *
 * A JIT compiler that writes one maps a page of it executable, so that a profiler hears of it: "jit-PID.dump",
 * with its pid as it sees it itself, or "jit", anything, and ".dump" (JavaScriptCore: "jitTID-PID.dump"), if its header
 * has that pid. So the file is the one that is mapped. It is believed if it is a regular file that belongs to the
 * process's effective user. It stays open, and can be read to its end after the process has gone; what is not on local disk
 * is copied each second.
 * Only names are taken, the code itself is not read. A process may have JITDUMPS_OF_ONE of them.
 *
 * Some write through a buffer, so that what they tell is old when it can be read. While that is so, or nothing at
 * all was written yet, marks are delivered between the pieces of code: they divide the time, and what is told later
 * names the samples of each part by itself.
 */
#ifndef CPROF_RECORD_JITDUMP_H
#define CPROF_RECORD_JITDUMP_H

#include "cmd/cprof-record/jitbudget.h"
#include "cmd/cprof-record/opener.h"
#include "common/resolve/jitfile.h"

struct jitdumps;

enum {
	JITDUMP_POLL_MAX = 4 << 20,       /* the most that one poll reads of one file, bytes */
	JITDUMP_FILE_MAX = 512 << 20,     /* the most that is read of one file */
	JITDUMPS_OF_ONE = 8,
	JITDUMP_MARK_MS = 200,            /* marks are so far apart at least */
	JITDUMP_LATE_MS = 100,            /* what is older when it is read was written late */
};

/* A mapping, as side-band or /proc told of it. */
struct jitdump_mapping {
	struct slice path;   /* as the process saw it */
	uint64_t start, end;
	uint64_t inode; /* 0: unknown */
};

/* Both are lent. NULL without memory. */
struct jitdumps *jitdumps_new(struct opener *o, struct jitbudget *budget);
void jitdumps_free(struct jitdumps *js);

/* Is a file of this path one, by its name? */
bool jitdumps_is(struct slice path);
/*
 * From now on reads this file of the process; pid is as we see it. Nothing happens for one that is read
 * already, but that after jitdumps_restart it is read again. A file of another process is closed when its header says
 * so. False without memory.
 */
bool jitdumps_watch(struct jitdumps *js, uint64_t process_id, pid_t pid, const struct jitdump_mapping *m);

/* The answer to one of our questions: its place is the process_id. The descriptor is taken over. */
void jitdumps_opened(struct jitdumps *js, const struct opener_answer *a);
/* Bytes of files that were not read, since the budget of their user was used up. */
uint64_t jitdumps_left_out(const struct jitdumps *js);
/* How many answers are awaited. */
size_t jitdumps_asked(const struct jitdumps *js);

/* Of the code the time is of CLOCK_MONOTONIC and not after now. */
typedef void jitdump_sink(void *arg, uint64_t process_id, const struct jitfile_code *code);

/*
 * Delivers what was appended since the last poll, and marks where they are due. 1: a limit was reached and there is
 * more; 0: that was all.
 */
int jitdumps_poll(struct jitdumps *js, jitdump_sink *sink, void *arg);
/* Delivers all that is left of one process's files, and forgets the process. */
void jitdumps_finish(struct jitdumps *js, uint64_t process_id, jitdump_sink *sink, void *arg);
/* Closes its files. Nothing happens for one that is not watched. */
void jitdumps_forget(struct jitdumps *js, uint64_t process_id);
/* A new segment: each file is delivered from its start once more, when it is watched again. */
void jitdumps_restart(struct jitdumps *js);
/* Of the bytes read since the restart, how many had been read before it. */
uint64_t jitdumps_repeated(const struct jitdumps *js);
/* What went wrong since the last call, one sentence; NULL: nothing. Lent until the next poll. */
const char *jitdumps_complaint(struct jitdumps *js);
size_t jitdumps_open(const struct jitdumps *js);

#endif
