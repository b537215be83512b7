/*
 * The running processes and threads with their names and executable mappings, as of the last applied change.
 * The data comes from one scan of /proc, then from the side-band in order of time. Times are CLOCK_MONOTONIC,
 * in ns.
 *
 * An exec makes a new image: a new struct proc with the same pid. Exited processes and threads stay for a
 * while, because their samples may still come; procs_sweep removes them.
 */
#ifndef CPROF_RECORD_PROCESS_PROCS_H
#define CPROF_RECORD_PROCESS_PROCS_H

#include "cmd/cprof-record/process/proc_scan.h"
#include "cmd/cprof-record/process/readings.h"
#include "common/base/idmap.h"
#include "common/capture/maps.h"
#include "common/stream/record.h"
#include "common/walk/space.h"

/* An executable file, which any number of processes map. */
struct exe {
	uint8_t *key; /* its identity; slices point into it. NULL: this entry is free */
	size_t key_n;
	uint64_t major, minor, inode, generation;
	struct slice build_id, path;
	uint8_t *read_id; /* build ID from the file, if the kernel reports none (Go's); build_id uses it */
	bool used; /* some process maps it; used to find the files that none maps */
	uint32_t segment; /* the segment that defines it, and its id there */
	uint64_t id;
	uint32_t table; /* its number among the unwind tables; 0: none yet */
	uint32_t question; /* number of the pending question to the opener for its build ID; 0: none */
	uint64_t asked;    /* when */
	uint64_t due;      /* there was no room or no answer: when to ask again; 0: need not be asked again */
	uint64_t rest;     /* its file system did not answer: how long the file rests; 0: it did */
	uint32_t image;    /* index + 1 among the interpreters (lang/runtimes.h); 0: none is known */
	bool late;         /* it is one of them, and there was no index */
};

/*
 * Data for the user walk of a process: user_walk.c. Data published to the sampling program has a generation
 * number, and each stack carries the generation by which it was walked.
 */
struct space {
	bool wanted, dirty; /* the program is to have the data; its data is not current */
	bool in_program;    /* the program has the data */
	uint64_t changed;   /* when published data last became wrong */
	uint64_t calm;      /* ns without such a change before the data is published again */
	uint64_t due;       /* not before this time, in any case */
	struct unwind_space published; /* last */
	uint32_t language;	       /* enum lang_kind, for the next publication */
	struct jit_codes *jit; /* for jit_tables.c; NULL: no unwind information of its JIT code is known */
	uint32_t jit_table; /* number of the table of that code; 0: none */
	uint32_t jit_published; /* likewise, in `published` */
	uint64_t jit_start, jit_end; /* the addresses that it may know */
	uint32_t first;     /* first generation that belongs to this image */
	struct stale {
		uint64_t start, end;
		uint32_t generation; /* this generation and older ones are wrong in this range */
	} *stale;
	size_t n_stale, cap_stale;
};

struct proc {
	uint32_t pid;
	uint64_t serial; /* unique number of this image */
	enum process_via via;
	uint64_t time;  /* when this image began */
	uint64_t start; /* when the process began; 0: unknown */
	uint64_t generation;
	uint64_t seen;  /* time of the /proc read; older changes are already included */
	uint64_t whole; /* mappings and names are complete as of this time, unless records were lost since */
	uint64_t asked; /* when its last reading was queued; 0: none was, or it came to nothing */
	uint64_t tried; /* when a reading was last wanted */
	struct maps maps; /* file: index in exes + 1 */
	uint64_t pruned;  /* when it was last asked for mappings that are gone */
	size_t prune_at;  /* mappings until /proc is compared: perf reports no munmap; 0: PRUNE_LEAST */
	uint64_t version; /* changes with maps */
	bool unread;       /* its mappings are to be read when it is sampled */
	bool reading;      /* it is being read, or waits for that */
	struct maps since; /* its changes meanwhile: the reading may or may not have them */
	uint64_t parent_serial, parent_version; /* after a fork: the parent's values at that time */
	uint32_t parent_pid;
	uint64_t exec_of; /* after an exec: the stream's id of the previous image, in exec_segment */
	uint32_t exec_segment;
	bool kernel, dead;
	uint32_t jit_segment; /* the segment in which its perf map was last asked for; 0: none */
	uint64_t died;
	size_t tasks;       /* number of live tasks */
	struct task *first; /* all its tasks, including exited ones */
	/* State in the stream. */
	uint32_t segment;
	uint64_t id;
	size_t mappings; /* in the segment, so far */
	bool by_frames;  /* the segment has the mappings of frames only: */
	struct maps said;
	bool said_is_old; /* frames that the segment has may be in other mappings by now */
	struct maps missed; /* addresses of frames that had no mapping, if the segment has the process */
	uint64_t cgroup; /* written last */
	uint32_t owner;  /* likewise: uid + 1; 0: none */
	uint32_t running, group_running, parallel_segment; /* likewise, in that segment */
	/* As the process of samples outside of the recording: its thread and names in the stream. */
	struct proc_outside {
		uint32_t segment;
		uint64_t process, thread, cgroup;
		char comm[64];
	} outside;
	struct space space;
	struct proc_lang {
		uint32_t image; /* index + 1 of its interpreter; 0: none is known */
		uint64_t bias;  /* run-time address less linked address */
		uint64_t since; /* when the program was told; 0: not yet */
	} lang;
};

/* Are all its mappings known? lost: when records were last lost. */
static inline bool proc_is_whole(const struct proc *p, uint64_t lost)
{
	return p->whole >= lost && !p->unread;
}

struct task {
	uint32_t tid;
	uint32_t at; /* index in tasks */
	struct proc *proc;
	struct task *next, *prev; /* in the same process */
	char comm[64];
	bool dead;
	bool missing; /* the kernel did not know it at the last check */
	uint64_t died;
	uint32_t segment;
	uint64_t id;
	uint64_t renamed; /* when, if the stream does not have that name yet; otherwise 0 */
};

/* Exited processes or tasks in order of time, so that removing them needs no search through live ones. */
struct deaths {
	struct death {
		uint64_t time;
		uint32_t id; /* tid or pid */
	} *items;
	size_t first, n, cap; /* items[first] to items[n - 1] are pending */
};

/* A process as /proc showed it after a loss, to be taken in when the recording comes to that moment. For reread.c. */
struct reread {
	uint64_t time;   /* when it was read */
	uint32_t pid;
	uint64_t serial; /* image that was sampled */
	struct maps maps; /* below until */
	uint64_t until;
	bool compared, again; /* again: the second reading, because the first one showed another image */
	uint64_t at;      /* mappings below this address are done */
	unsigned int tasks; /* threads done so far */
	char comm[64];
};

struct procs {
	struct proc **items;
	size_t n, cap;
	struct task **tasks;
	size_t n_tasks, cap_tasks;
	struct idmap by_pid, by_tid; /* index in items, tasks */
	struct deaths dead_procs, dead_tasks;
	uint64_t audit_next; /* time and index of the next audit of tasks */
	size_t audit_at;
	struct proc **replaced;      /* old images after an exec; freed by procs_sweep */
	size_t n_replaced, cap_replaced;
	struct exe *exes;
	size_t n_exes, cap_exes;
	struct idmap exe_keys;  /* hash of the key to index in exes */
	uint32_t *free_exes;    /* free indices in exes */
	size_t n_free, cap_free;
	size_t clear_at;        /* number of exes from which on unused ones are searched for */
	bool clear_images;      /* search at the next sweep, and remove unused ones with an image */
	void (*exe_gone)(void *arg, struct exe *x); /* called when an executable is removed */
	void *exe_gone_arg;
	uint64_t serials;
	struct proc_scan scan;      /* how /proc is read, and the opener that is asked for files */
	uint32_t questions;
	size_t unidentified;   /* exes with a pending question */
	uint64_t due;          /* when exes are to be asked for again; 0: none is */
	uint64_t due_pause;    /* but not before this time */
	bool failed;            /* memory ran out once: data is incomplete */
	struct readings readings;
	uint64_t maps_dropped;  /* mappings of processes with more than PROCS_MAPPINGS */
	/* reread.c */
	uint64_t lost;          /* when the side-band last lost records; 0: never */
	struct reread *rereads; /* pending results in order of time */
	size_t n_rereads, cap_rereads;
	uint64_t n_reread;      /* number of processes read again, ever */
};

enum { PROCS_MAPPINGS = 32768 }; /* in a process, as many as a reading has */

/* Effects of a change that the stream may have to record. */
struct change_effect {
	struct proc *proc;
	struct task *task;
	const struct map *mapped; /* a mapping added to proc */
	bool renamed, exited;
};

void procs_init(struct procs *ps);
void procs_release(struct procs *ps);
/* Reads all processes from /proc. */
void procs_scan(struct procs *ps);
/* Applies a change from the side-band. Changes must come in order of time. */
void procs_apply(struct procs *ps, const struct change *c, struct change_effect *effect);
/* Returns the thread; if no change reported it, it is created from /proc. Returns NULL if out of memory. */
struct task *procs_task(struct procs *ps, uint32_t pid, uint32_t tid, uint64_t now);
/* Returns the thread, or NULL if no change reported it. */
struct task *procs_known_task(const struct procs *ps, uint32_t tid);
/* Returns NULL if the pid is unknown. */
struct proc *procs_find(const struct procs *ps, uint32_t pid);
/* Marks a process as exited; procs_sweep will remove it. */
void procs_bury(struct procs *ps, struct proc *p, uint64_t time);
/*
 * Removes processes and tasks that exited before this time. Calls gone(arg, proc) before each removal of a
 * process. The time it takes grows with the number of exited ones, not of live ones. To find exits that the
 * side-band lost, it asks the kernel about a few tasks each second.
 */
void procs_sweep(struct procs *ps, uint64_t before, void (*gone)(void *arg, struct proc *p), void *arg);

/* Takes the opener's answer to a question for a build ID. */
void procs_identified(struct procs *ps, const struct opener_answer *a);
/*
 * Return true while the opener may still answer with the build ID of this mapping's file, or of any file that
 * the process maps. Records that describe the file should wait for it.
 */
bool procs_awaits(const struct procs *ps, const struct map *m, uint64_t now);
bool procs_awaits_any(const struct procs *ps, const struct proc *p, uint64_t now);

/* Adds a mapping that was read to the reading. */
void procs_found(struct procs *ps, struct reading *r, const struct change *c);
/* Has a process read. time: as in struct reading. Returns false if it will not be read. */
bool procs_want(struct procs *ps, struct proc *p, enum reading_what what, uint64_t time);
/* Is there room for one more mapping? Otherwise it is counted as left out. */
bool procs_has_room(struct procs *ps, struct proc *p, const struct map *m);
/* Forgets mappings that a reading does not have. */
void procs_prune(struct proc *p, const struct reading *r);

struct proc *procs_new(struct procs *ps, uint32_t pid);
struct task *procs_new_task(struct procs *ps, struct proc *p, uint32_t tid, struct slice comm);
/* Reads one process from /proc into p. Returns false if it is gone. */
bool procs_read(struct procs *ps, struct proc *p);

#endif
