/*
 * Reads the perf maps of processes that generate code at run time, while the maps grow.
 *
 *	struct perf_maps *js = perf_maps_new(opener, budget);
 *
 *	perf_maps_watch(js, process_id, pid, 0);
 *	...for each answer of the opener: perf_maps_opened(js, &answer, now)...
 *	...each second, or each 10 ms while perf_maps_busy(js, now):
 *	do
 *		got = perf_maps_poll(js, now, write_record, arg);
 *	while (got > 0);
 *	...when the process has exited, or becomes another by exec:
 *	perf_maps_finish(js, process_id, now, write_record, arg);
 *
 * A JIT compiler appends "START SIZE name" lines to /tmp/perf-PID.map, in its own mount and PID
 * namespace, and may use an address again. So whole lines are delivered as they come, and the file is
 * kept open: it can be read to its end after the process has gone.
 *
 * The opener finds and opens the files, so a map arrives some time after the request. A file that is not on
 * local disk arrives as a copy, and a newer copy is requested each second.
 *
 * A map is trusted if it is a regular file, not a symbolic link, belongs to the process's effective user, and
 * is not older than the process. Another inode at the path, a file that shrank, or a file whose bytes before
 * our offset have changed begins a new generation, which is read from its start. At most 256 MiB of one
 * process are read.
 */
#ifndef CPROF_RECORD_PROCESS_PERF_MAPS_H
#define CPROF_RECORD_PROCESS_PERF_MAPS_H

#include "cmd/cprof-record/process/jit_budget.h"
#include "cmd/cprof-record/helper/opener.h"

struct perf_maps;

enum {
	PERF_MAP_CHUNK = 64 * 1024,       /* the most that is delivered at once */
	PERF_MAP_POLL_MAX = 4 << 20,      /* the most that one poll reads of one process */
	PERF_MAP_PROCESS_MAX = 256 << 20, /* the most that is read of one process, bytes */
	PERF_MAPS_NOTES = 64,
};

/* Both arguments are lent. Returns NULL if out of memory. */
struct perf_maps *perf_maps_new(struct opener *o, struct jit_budget *budget);
void perf_maps_free(struct perf_maps *js);

/*
 * Starts looking for the map of a process; pid is as we see it, nspid as the process sees itself (0: read
 * from /proc/PID/status). Looks at once, then in polls at growing intervals (0.1 s to 16 s) until there is a
 * map: 30 µs the first time, 8 µs each later time. A process that exited before the call has no map, because
 * its owner can no longer be determined, unless it was noted. Has no effect on a process_id that is watched,
 * except that after perf_maps_restart it is polled again. Returns false if out of memory.
 */
bool perf_maps_watch(struct perf_maps *js, uint64_t process_id, pid_t pid, pid_t nspid);
/*
 * Notes the owner of a process that may be watched only later, when it may have exited. Has no effect if the
 * process was noted less than a second ago. The last PERF_MAPS_NOTES processes are kept.
 */
void perf_maps_note(struct perf_maps *js, pid_t pid, uint64_t now);

/* Takes the opener's answer, whose place is the process_id, and ownership of its descriptor. */
void perf_maps_opened(struct perf_maps *js, const struct opener_answer *a, uint64_t now);
/*
 * Look for the map once more, after the process has exited or when the recording ends: a process may write
 * its map at its exit. If the process is gone, a file in our /tmp is accepted that belongs to the process's
 * former owner and is not older than the process.
 */
void perf_maps_exited(struct perf_maps *js, uint64_t process_id);
void perf_maps_ends(struct perf_maps *js);
/* Returns the number of answers still awaited. */
size_t perf_maps_asked(const struct perf_maps *js);

typedef void perf_map_sink(void *arg, uint64_t process_id, uint64_t generation, const uint8_t *data,
			   size_t n);

/*
 * Delivers whole lines appended since the last poll; each call of chunk has at most PERF_MAP_CHUNK bytes. A
 * file that has been quiet for 2 s is checked once a second, however often polls come. now is CLOCK_MONOTONIC
 * in ns. Returns 1 if a limit was reached and there is more, otherwise 0.
 */
int perf_maps_poll(struct perf_maps *js, uint64_t now, perf_map_sink *chunk, void *arg);
/* Delivers the rest of one process's map, and forgets the process. */
void perf_maps_finish(struct perf_maps *js, uint64_t process_id, uint64_t now, perf_map_sink *chunk,
		      void *arg);
/* Delivers the rest of all maps at the end of a recording; forgets no process. */
void perf_maps_end(struct perf_maps *js, uint64_t now, perf_map_sink *chunk, void *arg);
/* Closes the map of a process; has no effect if it is not watched. */
void perf_maps_forget(struct perf_maps *js, uint64_t process_id);
/* Returns true if a map grew in the last 2 s: the next poll should come soon. */
bool perf_maps_busy(const struct perf_maps *js, uint64_t now);
/*
 * For a new segment, which refers to nothing before it: each map is delivered from its start again, but not
 * before perf_maps_watch is called for its process again. Until then the map is not polled.
 */
void perf_maps_restart(struct perf_maps *js);
/* Returns the bytes delivered since the restart that had also been delivered before it. */
uint64_t perf_maps_repeated(const struct perf_maps *js);

/* Returns the bytes of maps that were not read because their user's budget was used up. */
uint64_t perf_maps_left_out(const struct perf_maps *js);

/*
 * Returns a sentence about the errors since the last call ("perf map of process 12: over 256 MiB, the rest is
 * left out"); NULL: none. Each error is reported once per process. Lent until the next poll.
 */
const char *perf_maps_complaint(struct perf_maps *js);

/* Return the number of watched processes, and of those with an open map. */
size_t perf_maps_watched(const struct perf_maps *js);
size_t perf_maps_open(const struct perf_maps *js);

#endif
