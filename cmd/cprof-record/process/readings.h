/*
 * Mappings of processes, read during the recording without waiting for them.
 *
 *	readings_want(&r, pid, serial, READ_MAPPINGS, time);
 *	...
 *	readings_step(&r, &scan, now, &taker);	// at each drain: taker.done(arg, &reading, true) after a reading
 *
 * A process with tens of thousands of mappings takes long to read, longer if it changes them meanwhile, and
 * any user can have many such processes. So one process is read at a time, the turn goes to the user whose
 * processes took the least time, and a user whose processes take more than a part of the time rests.
 * Times are CLOCK_MONOTONIC, in ns.
 */
#ifndef CPROF_RECORD_PROCESS_READINGS_H
#define CPROF_RECORD_PROCESS_READINGS_H

#include "cmd/cprof-record/process/proc_scan.h"
#include "common/capture/maps.h"

enum {
	READINGS_MOST = 256,   /* waiting */
	READINGS_OF_ONE = 64,  /* for one user */
	READINGS_USERS = 64,   /* remembered; the one who may go on first makes room */
};

enum reading_what {
	READ_MAPPINGS,
	READ_AGAIN,     /* because the first reading showed another image */
	READ_ADDRESSES, /* to forget mappings that are gone */
};

struct reading {
	uint32_t pid;
	uint64_t serial; /* the image's */
	uint64_t time;   /* the moment in the recording for which it was wanted */
	uid_t uid;
	enum reading_what what;
	/* The result: */
	struct maps maps; /* below `until` */
	uint64_t until;
};

struct readings {
	struct reading items[READINGS_MOST];
	size_t n;
	struct reading current;
	uint64_t began; /* when it was asked for; 0: there is none */
	struct reading_user {
		uid_t uid;
		uint64_t paid; /* when the time that its processes took is a small part of all time */
	} users[READINGS_USERS];
	size_t n_users;
	uint64_t refused; /* processes that were not read, because there was no room or their user rests */
};

/*
 * Queues a process, unless it is queued already. Returns false if it is not read: there is no room, or its user
 * rests.
 */
bool readings_want(struct readings *r, uint32_t pid, uint64_t serial, enum reading_what what, uint64_t time);
/* Should samples of this image wait for its reading? */
bool readings_awaits(const struct readings *r, uint64_t serial);
/* Is a process being read? */
bool readings_busy(const struct readings *r);
/* For readings that others do: does the process's user rest? Adds the time that a reading took. */
bool readings_rest(const struct readings *r, uint32_t pid);
void readings_charge(struct readings *r, uint32_t pid, uint64_t took);

struct readings_taker {
	bool (*wants)(void *arg, const struct reading *r); /* still? */
	void (*found)(void *arg, struct reading *r, const struct change *c); /* to be added to r->maps */
	void (*done)(void *arg, struct reading *r, bool read);
	void *arg;
};

/* Takes the mappings that were read, and begins the next reading. */
void readings_step(struct readings *r, struct proc_scan *scan, uint64_t now,
		   const struct readings_taker *taker);
void readings_release(struct readings *r);

#endif
