/*
 * Reads the jitdump files of processes that generate code at run time, while the files grow.
 *
 *	struct jit_dumps *js = jit_dumps_new(opener, budget);
 *
 *	if (jit_dumps_is(mapping->path))
 *		jit_dumps_watch(js, process_id, pid, &mapping);
 *	...for each answer of the opener: jit_dumps_opened(js, &answer)...
 *	while (jit_dumps_poll(js, sink, arg) > 0)	// each step
 *		;
 *	jit_dumps_finish(js, process_id, sink, arg);	// the process is gone: the rest of its files
 *	jit_dumps_free(js);
 *
 * A JIT compiler maps a page of its jitdump file executable, so that profilers notice it. The name is
 * "jit-PID.dump", with the pid as the process itself sees it. Any other name from "jit" to ".dump" is
 * accepted if the header has that pid (JavaScriptCore: "jitTID-PID.dump"). The mapping thus identifies the
 * file. It is trusted if it is a regular file that belongs to the process's effective user. It stays open,
 * and can be read to its end after the process has gone. A file that is not on local disk is copied each
 * second. A question without room or answer is asked again. Names and unwind information are read, not the
 * code itself. A process may have JIT_DUMPS_OF_ONE files.
 *
 * Some compilers write through a buffer, so that their records are old when they can be read. In that case,
 * and while a file is still empty, marks are delivered between the pieces of code. Marks divide the time:
 * code that is read later names the samples of each part separately.
 */
#ifndef CPROF_RECORD_PROCESS_JIT_DUMPS_H
#define CPROF_RECORD_PROCESS_JIT_DUMPS_H

#include "cmd/cprof-record/process/jit_budget.h"
#include "cmd/cprof-record/helper/opener.h"
#include "common/jit/jitfile.h"

struct jit_dumps;

enum {
	JITDUMP_POLL_MAX = 4 << 20,       /* the most that one poll reads of one file, bytes */
	JITDUMP_FILE_MAX = 512 << 20,     /* the most that is read of one file */
	JITDUMP_EH_FRAME_MAX = 16 << 10,  /* bytes of one piece of code's .eh_frame */
	JIT_DUMPS_OF_ONE = 8,
	JITDUMP_MARK_MS = 200,            /* least time between two marks */
	JITDUMP_LATE_MS = 100,            /* a record that is older when it is read was written late */
};

/* A mapping, as reported by the side-band or /proc. */
struct jitdump_mapping {
	struct slice path;   /* as the process saw it */
	uint64_t start, end;
	uint64_t inode; /* 0: unknown */
};

/* Both arguments are lent. Returns NULL if out of memory. */
struct jit_dumps *jit_dumps_new(struct opener *o, struct jit_budget *budget);
void jit_dumps_free(struct jit_dumps *js);

/* Returns true if the path has the name of a jitdump file. */
bool jit_dumps_is(struct slice path);
/*
 * Starts reading this file of the process; pid is as we see it. Has no effect on a file that is being read,
 * except that after jit_dumps_restart it is read again. A file is closed if its header shows that it belongs
 * to another process. Returns false if out of memory.
 */
bool jit_dumps_watch(struct jit_dumps *js, uint64_t process_id, pid_t pid, const struct jitdump_mapping *m);

/* Takes the opener's answer, whose place is the process_id, and ownership of its descriptor. */
void jit_dumps_opened(struct jit_dumps *js, const struct opener_answer *a);
/* Returns the bytes of files that were not read because their user's budget was used up. */
uint64_t jit_dumps_left_out(const struct jit_dumps *js);
/* Returns the number of answers still awaited. */
size_t jit_dumps_asked(const struct jit_dumps *js);

/* The code's time is CLOCK_MONOTONIC, and never later than now. */
typedef void jitdump_sink(void *arg, uint64_t process_id, const struct jitfile_code *code);

/*
 * Receives each load and move once, not again after a restart. uid: effective user of the process. eh_frame
 * is lent, and empty if the file has none for the code, or more than JITDUMP_EH_FRAME_MAX bytes.
 */
typedef void jitdump_unwinder(void *arg, uint64_t process_id, uid_t uid, const struct jitfile_code *code,
			      struct slice eh_frame);
void jit_dumps_unwind_by(struct jit_dumps *js, jitdump_unwinder *unwinder, void *arg);

/*
 * Delivers records appended since the last poll, and marks that are due. Returns 1 if a limit was reached
 * and there is more, otherwise 0. If a user has more than 100 files, each is read once in 0.1 ms times their
 * number, however often polls come: each of 1000 files ten times a second.
 */
int jit_dumps_poll(struct jit_dumps *js, jitdump_sink *sink, void *arg);
/* The recording ends: each poll reads all files. */
void jit_dumps_ends(struct jit_dumps *js);
/* Delivers the rest of one process's files, and forgets the process. */
void jit_dumps_finish(struct jit_dumps *js, uint64_t process_id, jitdump_sink *sink, void *arg);
/* Closes the files of a process; has no effect if it is not watched. */
void jit_dumps_forget(struct jit_dumps *js, uint64_t process_id);
/* For a new segment: each file is delivered from its start again once it is watched again. */
void jit_dumps_restart(struct jit_dumps *js);
/* Returns the bytes read since the restart that had also been read before it. */
uint64_t jit_dumps_repeated(const struct jit_dumps *js);
/* Returns a sentence about the errors since the last call; NULL: none. Lent until the next poll. */
const char *jit_dumps_complaint(struct jit_dumps *js);
/* Returns the number of open files. */
size_t jit_dumps_open(const struct jit_dumps *js);

#endif
