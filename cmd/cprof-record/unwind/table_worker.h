/*
 * Makes unwind tables, in processes that may do nothing else.
 *
 *	struct worker *w = table_worker_new(false);	// early: before there are rings and maps in our memory
 *	struct table_worker_answer a;
 *
 *	table_worker_ask(w, id, fd);
 *	...when table_worker_fd(w) can be read...
 *	while ((said = table_worker_take(w, 0, &a)) != TABLE_WORKER_NOTHING)
 *		if (said == TABLE_WORKER_ANSWER && a.result == UNWIND_BUILT && unwind_table_read(&t, a.table))
 *			...
 *		else
 *			...no table for a.id; a.why is a sentence...
 *	table_worker_free(w);
 *
 * The recorder is root, ELF files can come from any user, and ELF readers can have vulnerabilities. So a file
 * is read by a process of its own, the worker, forked for this one question. The worker gets the descriptor
 * and an empty memfd and has nothing else: another user, no capabilities, an empty root directory, limits,
 * and a filter that lets it neither open nor send nor begin anything (sandbox.h). It writes the table into
 * the memfd and ends. A hostile file can only corrupt its own table, use the CPU time allowed for its size,
 * and hold the memory of table_worker_limit meanwhile: no later question meets a process that read it. If the
 * kernel is out of memory, it kills the worker before any other process.
 *
 * Workers are forked by the fork server, a small process that the recorder forked before anything else, for
 * three reasons. The recorder's memory later holds rings and tables that are shared with the kernel, and a
 * child could write into those. The fork server forks faster, because it is small. And it waits for the
 * workers: it kills those that take too long, and reports how each of them ended. So the recorder needs no
 * time-out, and has only one child, from which no SIGCHLD is expected. The fork server has no privileges
 * either, and never sees a byte of a file. A question costs 0.6 ms beyond the building. If the fork server is
 * lost, because memory ran out or somebody killed it, another one is forked, at most one a second: without
 * the memory that the recorder shares by then, though with the rest.
 *
 * An answer still comes from a process that may have been taken over: its length is checked here, its
 * contents by unwind_table_read. It is read once the process is dead, so it does not change meanwhile.
 */
#ifndef CPROF_RECORD_UNWIND_TABLE_WORKER_H
#define CPROF_RECORD_UNWIND_TABLE_WORKER_H

#include "cmd/cprof-record/unwind/table_build.h"

struct worker;

/* TABLE_WORKER_LOST: the fork server was lost with the question, which may be asked again. */
enum table_worker_said { TABLE_WORKER_NOTHING, TABLE_WORKER_ANSWER, TABLE_WORKER_DIED, TABLE_WORKER_LOST };

struct table_worker_answer {
	uint32_t id;
	enum unwind_built result; /* for TABLE_WORKER_ANSWER */
	struct slice table;       /* if it was built: bytes for unwind_table_read; lent until the next call */
	bool passing;             /* no table, and the file is not the reason: ask again, but later */
	bool has_image;           /* the file holds an interpreter, ... */
	struct lang_image image;  /* ... of this layout */
	const char *why;          /* no table: "killed by signal 11 (Segmentation fault)", "damaged"; lent likewise */
	uint64_t cpu_ns;          /* CPU time of this question */
};

/* The product's values are those of table_worker_new. */
struct table_worker_setup {
	table_build_of_file *build;
	table_build_of_codes *build_codes; /* NULL: questions are ELF files */
	unsigned int cpu_s, wall_ms; /* limits of one question */
	bool by_size; /* limits CPU time by the file's size, too: to 20 ms a MB, and at least half a second */
};

/*
 * Forks the fork server, and waits until it has given up its privileges. later: forks with the first question
 * instead, which costs more then, for a worker that is seldom asked. NULL with errno.
 */
struct worker *table_worker_new(bool later);
/* The same, later, for memfds with pieces of JIT code, of unwind_codes_add. */
struct worker *table_worker_new_for_codes(void);
/* The same as table_worker_new, at once and with another setup, for tests. */
struct worker *table_worker_new_as(const struct table_worker_setup *s);

/* Returns a descriptor that is readable when table_worker_take has an answer; always the same one. */
int table_worker_fd(const struct worker *w);

/*
 * Asks for the table of a file or memfd, which is read at offsets only: its file position does not move. The
 * caller keeps and closes its descriptor. Any number of questions may be under way; those without room in the
 * socket are kept here, with a descriptor each. False with errno: nothing was asked (EMFILE: take some
 * answers first; EPIPE: the fork server was lost, and it is too soon for another one).
 */
bool table_worker_ask(struct worker *w, uint32_t id, int fd);

/*
 * Returns the next answer, in the order of the questions. Each question gets one, even if its process died.
 * Waits up to timeout_ms while any is under way (0: not at all, -1: until there is an answer, or a signal).
 */
enum table_worker_said table_worker_take(struct worker *w, int timeout_ms, struct table_worker_answer *a);

/* Limits the memory that the maker of each table from now on may take; at first it is 1 GiB. */
void table_worker_limit(struct worker *w, uint64_t bytes);

/* Returns how often the fork server was lost. */
uint64_t table_worker_losses(const struct worker *w);

/* Ends and reaps the fork server; questions under way are dropped. NULL is fine. */
void table_worker_free(struct worker *w);

#endif
