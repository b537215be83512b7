/*
 * Unwind tables, made by processes that may do nothing else.
 *
 *	struct worker *w = worker_new(false);	// early: before there are rings and maps in our memory
 *	struct worker_answer a;
 *
 *	worker_ask(w, id, fd);
 *	...when worker_fd(w) can be read...
 *	while ((said = worker_take(w, 0, &a)) != WORKER_NOTHING)
 *		if (said == WORKER_ANSWER && a.result == UNWIND_BUILT && unwind_table_read(&t, a.table))
 *			...
 *		else
 *			...no table for a.id; a.why is a sentence...
 *	worker_free(w);
 *
 * The recorder is root and ELF files are anybody's, and a reader of ELF files can have a hole. So a file is read by
 * a process of its own, forked for this one question, which gets the descriptor and an empty memfd and has nothing
 * else: another user, no capabilities, an empty root directory, limits, and a filter that lets it neither open nor
 * send nor begin anything (confine.h). It writes the table into the memfd and ends. A hostile file can thus spoil its
 * own table, cost the CPU time of its size and 1 GiB for as long, and that is all: no later question meets a process that
 * read it.
 *
 * These are not forked by the recorder but by a small process that the recorder forked before anything else, for
 * three reasons. The recorder's memory later holds rings and tables that are shared with the kernel, and a child
 * could write into those. It forks faster, being small. And it waits for them: it kills what takes too long, and
 * tells what became of each, so the recorder needs no time-out, and has one child only, that no SIGCHLD
 * is expected of. Itself it has no privileges either, and never sees a byte of a file. A question costs 0.6 ms
 * beyond the building. If it is lost, to the kernel's want of memory or to somebody's kill, another one is forked, at most one
 * a second: without what the recorder shares by then, though with the rest of its memory.
 *
 * What comes back is still what a process said that may have been taken over: its length is checked here, its
 * contents by unwind_table_read. It is read once the process is dead, so it does not change meanwhile.
 */
#ifndef CPROF_RECORD_WORKER_H
#define CPROF_RECORD_WORKER_H

#include "common/unwind/build.h"

struct worker;

/* Lost: with the process that forks; the question may be asked again. */
enum worker_said { WORKER_NOTHING, WORKER_ANSWER, WORKER_DIED, WORKER_LOST };

struct worker_answer {
	uint32_t id;
	enum unwind_built result; /* of an answer */
	struct slice table;       /* where it was built: bytes for unwind_table_read; lent until the next call */
	const char *why;          /* no table: "killed by signal 11 (Segmentation fault)", "damaged"; lent likewise */
	uint64_t cpu_ns;          /* of this question */
};

/* The product's are those of worker_new. */
struct worker_setup {
	enum unwind_built (*build)(struct elf_file *f, struct unwind_table *t);
	unsigned int cpu_s, wall_ms; /* limits of one question */
	bool by_size; /* and of CPU time as much as a file of its size may take, if that is less: half a second, or 20 ms a MB */
};

/*
 * Forks, and waits until the child has given up its privileges. NULL: errno. Later: with the first question, which is more,
 * for one that is seldom asked.
 */
struct worker *worker_new(bool later);
struct worker *worker_new_as(const struct worker_setup *s);

/* Can be read when worker_take has something to say. Always the same. */
int worker_fd(const struct worker *w);

/*
 * Asks for the table of a file or memfd, that is read at offsets only: the place in it does not move. The caller
 * keeps and closes its descriptor. Any number may be under way; those that the socket has no room for are kept
 * here, with a descriptor each. False: nothing was asked; errno (EMFILE: take some answers first; EPIPE: the
 * process that forks was lost, and it is too soon for another one).
 */
bool worker_ask(struct worker *w, uint32_t id, int fd);

/*
 * The next answer, in the order of the questions. Each question gets one, be it that its process died. Waits so long
 * while any is under way (0: not at all, -1: until there is one, or a signal).
 */
enum worker_said worker_take(struct worker *w, int timeout_ms, struct worker_answer *a);

/* How often the process that forks was lost. */
uint64_t worker_losses(const struct worker *w);

/* Ends and reaps; what is under way is dropped. NULL is fine. */
void worker_free(struct worker *w);

#endif
