/*
 * Who is running: processes, threads, their commands and executable mappings, as of the change
 * applied last. Fed by the side-band in order of time, after one reading of /proc.
 *
 * An exec makes a new image: a new struct proc with the same pid. Who has exited is kept for a while,
 * because a sample may still come; procs_sweep forgets them.
 */
#ifndef CPROF_RECORD_PROCS_H
#define CPROF_RECORD_PROCS_H

#include "cmd/cprof-record/opener.h"
#include "cmd/cprof-record/sideband.h"
#include "common/base/hash.h"
#include "common/capture/maps.h"
#include "common/stream/record.h"
#include "common/unwind/space.h"

/* An executable file, of any number of processes. */
struct exe {
	uint8_t *key; /* who it is; the slices point into it. NULL: this place is free */
	size_t key_n;
	uint64_t major, minor, inode, generation;
	struct slice build_id, path;
	uint8_t *read_id; /* what the kernel did not say and we have read from the file: Go's; build_id points there */
	bool used; /* some process maps it: for the clearing of those that none does */
	uint32_t segment; /* the segment that knows it, and its id there */
	uint64_t id;
	uint32_t table; /* its number among the unwind tables; 0: none yet */
	uint32_t question; /* the opener is asked for its build ID by this number; 0: it is not */
	uint64_t asked;
};

/*
 * What the walk of user stacks knows of a process: spaces.c. Generations number what the sampling program
 * was told; a stack says by which one it was walked.
 */
struct space {
	struct unwind_mapping *view; /* of the mappings, as of version; NULL: not made */
	size_t n;
	uint64_t version;
	bool wanted, dirty; /* the program is to know it; and it does not yet as it is now */
	bool in_program;    /* it was told */
	bool too_many;      /* mappings: more than a walk can search */
	uint64_t changed;   /* what it was told became untrue last */
	uint64_t calm;      /* so long it must not have, before the program is told again */
	struct unwind_space told; /* last */
	uint32_t first;     /* the first generation that is of this image */
	struct stale {
		uint64_t start, end;
		uint32_t generation; /* this one and older ones are wrong here */
	} *stale;
	size_t n_stale, cap_stale;
};

struct proc {
	uint32_t pid;
	uint64_t serial; /* of this image, never used again */
	enum process_via via;
	uint64_t time;  /* when this image began */
	uint64_t start; /* when the process began; 0: unknown */
	uint64_t generation;
	uint64_t seen;  /* /proc was read then: older changes are in it already */
	uint64_t whole; /* mappings and names are complete as of then, if no record was lost since */
	uint64_t asked; /* reread.c reads it for what was lost: the last time */
	struct maps maps; /* file: index in exes + 1 */
	size_t prune_at;  /* so many mappings are compared with /proc, since no unmapping is told; 0: PRUNE_LEAST */
	uint64_t version; /* changes with maps */
	uint64_t parent_serial, parent_version; /* after a fork: the parent's at that moment */
	uint32_t parent_pid;
	uint64_t exec_of; /* after an exec: the stream's id of the image before, in this segment */
	uint32_t exec_segment;
	bool kernel, dead;
	uint32_t jit_segment; /* its perf map was last asked for in this one; 0: never */
	uint64_t died;
	size_t tasks;       /* those that live */
	struct task *first; /* all that it has, also those that have exited */
	/* What the stream knows. */
	uint32_t segment;
	uint64_t id;
	uint64_t cgroup; /* the one said last */
	struct space space;
};

struct task {
	uint32_t tid;
	uint32_t at; /* in tasks */
	struct proc *proc;
	struct task *next, *prev; /* of the same process */
	char comm[64];
	bool dead;
	bool missing; /* the kernel did not know it when it was asked last */
	uint64_t died;
	uint32_t segment;
	uint64_t id;
};

/* Who has exited, in order of time: what is to be forgotten is found without looking at all the others. */
struct deaths {
	struct death {
		uint64_t time;
		uint32_t id; /* tid or pid */
	} *items;
	size_t first, n, cap; /* items[first] to items[n - 1] wait */
};

struct procs {
	struct proc **items;
	size_t n, cap;
	struct task **tasks;
	size_t n_tasks, cap_tasks;
	struct idmap by_pid, by_tid; /* to index in items, tasks */
	struct deaths dead_procs, dead_tasks;
	uint64_t audit_next; /* when tasks are looked after next, and where */
	size_t audit_at;
	struct proc **replaced;      /* by an exec; freed by procs_sweep */
	size_t n_replaced, cap_replaced;
	struct exe *exes;
	size_t n_exes, cap_exes;
	struct idmap exe_keys;  /* hash of the key to index in exes */
	uint32_t *free_exes;    /* places in exes */
	size_t n_free, cap_free;
	size_t clear_at;        /* so many exes are worth a look at which are in use */
	void (*exe_gone)(void *arg, struct exe *x); /* an executable is forgotten */
	void *exe_gone_arg;
	uint64_t serials;
	struct opener *opener; /* lent; NULL: no file is opened */
	unsigned int patient;  /* before there are samples: so many file systems may not answer */
	uint32_t questions;
	size_t unidentified;   /* exes that are asked for */
	bool failed;            /* memory ran out once: something is missing */
	/* reread.c */
	uint64_t lost;          /* the side-band lost records, the last time; 0: never */
	uint64_t reread_at;     /* not before this is another process read again */
	struct reread *rereads; /* in order of time: what they say has not been taken in */
	size_t n_rereads, cap_rereads;
	uint64_t n_reread;      /* processes, ever */
};

/* What a change means for what the stream may have to be told. */
struct change_effect {
	struct proc *proc;
	struct task *task;
	const struct map *mapped; /* a mapping that was added to proc */
	bool renamed, exited;
};

void procs_init(struct procs *ps);
void procs_release(struct procs *ps);
/* Reads /proc: every process where only is NULL. */
void procs_snapshot(struct procs *ps);
void procs_apply(struct procs *ps, const struct change *c, struct change_effect *effect);
/* The thread, made up by a look at /proc where no change told of it. NULL without memory. */
struct task *procs_task(struct procs *ps, uint32_t pid, uint32_t tid, uint64_t now);
struct proc *procs_find(const struct procs *ps, uint32_t pid);
/* The process is no more; procs_sweep will forget it. */
void procs_bury(struct procs *ps, struct proc *p, uint64_t time);
/*
 * Forgets who has exited before this time; gone(arg, proc) is called before. The time it takes grows with
 * those who went, not with those who stay. Exits that the side-band lost are found by asking the kernel
 * for a few tasks each second.
 */
void procs_sweep(struct procs *ps, uint64_t before, void (*gone)(void *arg, struct proc *p), void *arg);

/* An answer that the opener gave to one of our questions. */
void procs_identified(struct procs *ps, const struct opener_answer *a);
/*
 * Is the opener asked for the build ID of this mapping's file, or of one of the process's, and not for longer
 * than it may take? Then what tells of the file should wait.
 */
bool procs_awaits(const struct procs *ps, const struct map *m, uint64_t now);
bool procs_awaits_any(const struct procs *ps, const struct proc *p, uint64_t now);

/* For snapshot.c. */
struct proc *procs_new(struct procs *ps, uint32_t pid);
struct task *procs_new_task(struct procs *ps, struct proc *p, uint32_t tid, struct slice comm);
void procs_map(struct procs *ps, struct proc *p, const struct change *c, struct change_effect *effect);
/*
 * Asks for the build ID of a file that was just mapped, where the kernel tells none; and for the file of a
 * mapping. It is the one with the device and inode that were mapped, or with the build ID. False: there is
 * none of whom anybody could be asked.
 */
bool snapshot_ask_identity(struct procs *ps, uint32_t pid, const struct change *c, uint32_t id, uint64_t place);
bool snapshot_ask_file(struct procs *ps, uint32_t pid, const struct map *m, const struct exe *x, uint32_t id, uint64_t place);
/* Adds the executable mappings that a process has now. */
void snapshot_maps(struct procs *ps, struct proc *p);
/* Takes out the mappings that /proc does not know any more. */
void snapshot_prune(struct procs *ps, struct proc *p);
/* Reads one process from /proc into p; false where it is gone. */
bool snapshot_process(struct procs *ps, struct proc *p);

#endif
