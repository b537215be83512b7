/*
 * The perf maps of processes that make code at run time, read while they grow.
 *
 *	struct jitmaps *js = jitmaps_new(opener);
 *
 *	jitmaps_watch(js, process_id, pid, 0);
 *	...what the opener answers: jitmaps_opened(js, &answer, now)...
 *	...each second, or each 10 ms while jitmaps_busy(js, now):
 *	do
 *		got = jitmaps_poll(js, now, write_record, arg);
 *	while (got > 0);
 *	...when the process has exited, or becomes another by exec:
 *	jitmaps_finish(js, process_id, now, write_record, arg);
 *
 * A JIT compiler appends "START SIZE name" lines to /tmp/perf-PID.map, in its own mount and PID
 * namespace, and may use an address again. So lines are delivered as they come, and the file is kept
 * open: it can be read to its end after the process has gone. Whole lines only.
 *
 * Files are found and opened by the opener, so a map is there some time after it was asked for. One that is not on local
 * disk is a copy, and a newer one is asked for each second.
 *
 * What is believed: a regular file, no symbolic link, that belongs to the process's effective user,
 * not older than the process. Another inode at the path, a file that shrank, or one whose bytes
 * before our place have changed begins a new generation, which is read from its start. No more than
 * 256 MiB of one process are read.
 */
#ifndef CPROF_RECORD_JITMAP_H
#define CPROF_RECORD_JITMAP_H

#include "cmd/cprof-record/jitbudget.h"
#include "cmd/cprof-record/opener.h"

struct jitmaps;

enum {
	JITMAP_CHUNK = 64 * 1024,         /* the most that is delivered at once */
	JITMAP_POLL_MAX = 4 << 20,        /* the most that one poll reads of one process */
	JITMAP_PROCESS_MAX = 256 << 20,   /* the most that is read of one process, bytes */
};

/* Both are lent. NULL without memory. */
struct jitmaps *jitmaps_new(struct opener *o, struct jitbudget *budget);
void jitmaps_free(struct jitmaps *js);

/*
 * From now on looks for the map of a process; pid is as we see it, nspid as the process sees itself
 * (0: /proc/PID/status tells). Looks at once, then at each poll at growing distances (0.1 s to 16 s)
 * until there is one: 30 µs the first time, 8 µs each later one. A process that has exited before the
 * call has no map, since nobody can tell any more whose it is. Nothing happens for a process_id that is watched
 * already, but that after jitmaps_restart it is looked at again. False without memory.
 */
bool jitmaps_watch(struct jitmaps *js, uint64_t process_id, pid_t pid, pid_t nspid);

/* The answer to one of our questions: its place is the process_id. The descriptor is taken over. */
void jitmaps_opened(struct jitmaps *js, const struct opener_answer *a, uint64_t now);
/*
 * The process is gone, or the recording ends: its map is looked for once more. A process may write it at its exit, and if that
 * is over by now, the file in our /tmp counts that is of the owner that the process had, and not older than it.
 */
void jitmaps_exited(struct jitmaps *js, uint64_t process_id);
void jitmaps_ends(struct jitmaps *js);
/* How many answers are awaited. */
size_t jitmaps_asked(const struct jitmaps *js);

typedef void jitmap_sink(void *arg, uint64_t process_id, uint64_t generation, const uint8_t *data, size_t n);

/*
 * Delivers what was appended since the last poll, whole lines, at most JITMAP_CHUNK bytes a call. Files
 * that have been quiet for 2 s are looked at once a second, whatever the distance of the polls. now is
 * CLOCK_MONOTONIC. 1: a limit was reached and there is more; 0: that was all.
 */
int jitmaps_poll(struct jitmaps *js, uint64_t now, jitmap_sink *chunk, void *arg);
/* Delivers all that is left of one process's map, and forgets the process. */
void jitmaps_finish(struct jitmaps *js, uint64_t process_id, uint64_t now, jitmap_sink *chunk, void *arg);
/* The same for all at the end of a recording; none is forgotten. */
void jitmaps_end(struct jitmaps *js, uint64_t now, jitmap_sink *chunk, void *arg);
/* Closes its file. Nothing happens for one that is not watched. */
void jitmaps_forget(struct jitmaps *js, uint64_t process_id);
/* Did a file grow in the last 2 s? Then the next poll should come soon. */
bool jitmaps_busy(const struct jitmaps *js, uint64_t now);
/*
 * A new segment of the stream knows nothing of the one before: each map is delivered from its start once
 * more, but not before jitmaps_watch is called for its process again. Until then nobody looks at it.
 */
void jitmaps_restart(struct jitmaps *js);
/* Of the bytes delivered since the restart, how many had been delivered before it. */
uint64_t jitmaps_repeated(const struct jitmaps *js);

/* Bytes of maps that were not read, since the budget of their user was used up. */
uint64_t jitmaps_left_out(const struct jitmaps *js);

/*
 * What went wrong since the last call ("perf map of process 12: over 256 MiB, the rest is left out"),
 * one sentence; NULL: nothing. Each thing is said once a process. Lent until the next poll.
 */
const char *jitmaps_complaint(struct jitmaps *js);

/* How many processes are watched, and of how many a map is open. */
size_t jitmaps_watched(const struct jitmaps *js);
size_t jitmaps_open(const struct jitmaps *js);

#endif
