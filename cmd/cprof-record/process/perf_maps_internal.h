/*
 * The watched perf maps, for the parts of perf_maps.h: perf_maps.c reads them, and perf_maps_file.c finds the
 * file of each, by the opener's answers.
 *
 *	perf_maps_ask(js, w, OPENER_PERF_MAP);
 *	...an answer for w->question...
 *	taken = perf_maps_take(js, w, &answer, now);	// or perf_maps_take_none: there is no file
 */
#ifndef CPROF_RECORD_PROCESS_PERF_MAPS_INTERNAL_H
#define CPROF_RECORD_PROCESS_PERF_MAPS_INTERNAL_H

#include <time.h>

#include "cmd/cprof-record/process/perf_maps.h"
#include "common/base/idmap.h"

enum { PERF_MAP_TAIL = 32 /* bytes before our offset that are compared, to notice a rewritten file */ };

/* Complaints that were already made. */
enum { SAID_SIZE = 1, SAID_OWNER = 2, SAID_OPEN = 4, SAID_BUDGET = 8, SAID_COPY = 16 };

struct watch {
	uint64_t process_id;
	pid_t pid, nspid;
	int fd;   /* -1: no map yet */
	int next; /* a file that has replaced this one, and is read after it; -1: none */
	struct source {
		uint64_t dev, inode;
		uid_t owner;
		struct jit_copy copy;
	} of, of_next;
	uint32_t question; /* id of the pending question to the opener; 0: none */
	bool again;        /* ask once more after the answer */
	bool from_start;   /* ask for all of the file: another one is at the path than the copy is of */
	bool gone, full;
	bool resting; /* not watched again since the restart */
	unsigned int said;

	/* The process when the watch began, to check a map that it leaves at its exit. */
	uid_t uid;
	int64_t start;
	bool is_known;

	/* While there is no map. */
	uint64_t next_try, delay;
	uint64_t rest, rests_until; /* its file system did not answer: how long it is left alone; 0: it did */
	uint64_t whole; /* size of the file, if its last copy lacks the end, or had no room; otherwise 0 */

	/* The map. */
	uint64_t generation;
	uint64_t offset; /* where the next line begins */
	uint64_t known;  /* offset up to which it was delivered before a restart */
	uint64_t total;  /* bytes read, all generations */
	uint64_t looked, path_looked, grew; /* times */
	off_t seen_size;
	struct timespec seen_mtime;
	bool more;       /* a limit was reached */
	bool held;       /* the budget was used up */
	bool skipping;   /* in a line that is too long */
	uint8_t tail[PERF_MAP_TAIL];
	size_t tail_n;
};

/* The owner of a process, while it was alive. */
struct note {
	pid_t pid, nspid;
	uid_t uid;
	int64_t start;
	uint64_t time;
};

struct perf_maps {
	struct note notes[PERF_MAPS_NOTES]; /* pid 0: none */
	size_t next_note;
	struct watch *items;
	size_t n, cap;
	struct idmap index; /* process_id to item */
	struct opener *opener;
	struct jit_budget *budget;
	uint64_t left_out;
	uint32_t questions;
	uint64_t grew;      /* when a file grew last; 0: never */
	uint64_t repeated;
	int fd_max;         /* descriptors from this number on are for other uses */
	struct buf complaint;
	bool complaint_lent;
	uint8_t bytes[PERF_MAP_TAIL + PERF_MAP_CHUNK];
};

/* Adds a sentence about the map to the complaints, unless the watch had one of this kind. */
void perf_maps_complain(struct perf_maps *js, struct watch *w, unsigned int what, const char *why);
/* Reads when a process began, as a file time. False: it is gone. */
bool perf_maps_start(pid_t pid, int64_t *start);
/* Asks the opener for the map, or notes that it must be asked again after its pending answer. */
void perf_maps_ask(struct perf_maps *js, struct watch *w, enum opener_want want);
/* Returns true if the descriptor is kept: the file is the process's own, and is not open yet. */
bool perf_maps_take(struct perf_maps *js, struct watch *w, const struct opener_answer *a, uint64_t now);
/* Decides when to ask again. */
void perf_maps_take_none(struct perf_maps *js, struct watch *w, const struct opener_answer *a, uint64_t now);

#endif
