/*
 * States of threads (registers, stack, mappings) to verify, each with the frames that cprof made of it.
 *
 * There are two sources: perf_states() takes states with perf events and requires no privilege; those of
 * record_states() carry the frames that the recorder found.
 */
#ifndef CPROF_VERIFY_STATE_H
#define CPROF_VERIFY_STATE_H

#include <stdio.h>
#include <sys/types.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/capture/maps.h"
#include "common/unwind/rule.h"

/* A file that is mapped executable somewhere; opened while its process was alive. */
struct code_file {
	char *path;
	int fd;       /* -1: it could not be opened */
	int truth_fd; /* libdw's input: the twin, the same text with more debug info; otherwise fd */
	uint64_t dev, inode;
};

/* The mappings of a process at one time; map.file is an index in files, 0 is none. */
struct image {
	struct maps maps;
};

struct frame {
	uint64_t pc;
	bool exact; /* an interrupted instruction, not a return address */
};

/* How cprof's walk ended. */
enum chain_end { CHAIN_NONE, CHAIN_COMPLETE, CHAIN_DEPTH, CHAIN_CUT };

struct chain {
	struct frame *frames; /* leaf first */
	size_t n;
	enum chain_end end;
	const char *why; /* CHAIN_CUT: a short reason */
};

struct state {
	uint64_t time;
	uint32_t pid, tid;
	size_t image;
	uint64_t regs[UNWIND_REGISTERS]; /* by DWARF number */
	bool in_kernel;                  /* the sampling program walked it to its end */
	uint8_t *stack;                  /* from regs[rsp] on */
	size_t stack_n;
	struct chain ours;
};

struct states {
	struct state *items;
	size_t n, cap;
	struct image *images;
	size_t n_images, cap_images;
	struct code_file *files; /* files[0] is none */
	size_t n_files, cap_files;
	const char *twin_of, *twin; /* libdwfl reads mappings of the first file from the second */
	uint64_t lost;
};

/* Exits with a message; for failures that the verifier cannot go on without. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define GROW(array, cap, n) \
	do { \
		if (!grow_array(&(array), &(cap), (n), sizeof(*(array)))) \
			die("out of memory"); \
	} while (0)

/* Returns the number of this file, opened as the process sees it; 0 if it is not a file. */
uint32_t states_file(struct states *s, pid_t pid, const char *path);
/* Keeps a copy of these mappings; returns its number. */
size_t states_image(struct states *s, const struct maps *maps);
struct state *states_add(struct states *s);
/* Reads n bytes of memory at address, from the copied stack or a mapped file. */
bool state_read(const struct states *all, const struct state *s, uint64_t address, void *to, size_t n);
/* Returns "/usr/bin/sort+0x1234", by file offset; valid until the call after next. */
const char *state_place(const struct states *all, const struct state *s, uint64_t address);
void states_release(struct states *s);

struct source_options {
	char **argv;
	unsigned int frequency;
	size_t most; /* states; then the command is killed */
	unsigned int seconds;
};

/* Runs the command and fills in states, without our frames. */
void perf_states(struct states *s, const struct source_options *o);
/* Does the same by the recorder, with the given engine; the states have the frames that it found. */
void record_states(struct states *s, const struct source_options *o, const char *engine);

#endif
