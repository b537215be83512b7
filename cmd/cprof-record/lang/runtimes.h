/*
 * Interpreters: the files that hold one, and the processes that run them.
 *
 * The worker that makes a file's unwind table finds the interpreter in it. Mappings of this file, forks and
 * execs then show which processes run it. At fork and exec, the BPF programs find this out themselves.
 */
#ifndef CPROF_RECORD_LANG_RUNTIMES_H
#define CPROF_RECORD_LANG_RUNTIMES_H

#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/lang/java_procs.h"
#include "cmd/cprof-record/lang/lang_codes.h"
#include "cmd/cprof-record/lang/script_functions.h"
#include "cmd/cprof-record/process/procs.h"
#include "cmd/cprof-record/process/targets.h"
#include "cmd/cprof-record/programs/bpf_lang.h"
#include "cmd/cprof-record/unwind/user_walk.h"

enum { RUNTIMES_OF_ONE = LANG_IMAGES / 4 }; /* images in files of one owner, unless it is root */

struct runtimes {
	const struct options *options; /* lent */
	struct bpf_lang *bpf;	       /* lent */
	struct procs *procs;
	const struct targets *targets; /* lent */
	struct table_cache *tables;  /* lent */
	struct user_walk *user_walk; /* lent */
	struct java_procs *java;     /* NULL: no libjvm was found yet */
	struct script_functions functions;
	struct lang_codes codes;
	struct lang_image images[LANG_IMAGES];
	uid_t owners[LANG_IMAGES]; /* owners of the files with the images */
	bool published[LANG_IMAGES]; /* the BPF programs have the image */
	bool crowded;    /* many images are of no process any more: they go at the next segment */
	uint64_t looked; /* when files without processes were last searched for */
	uint64_t refused; /* files whose image found no index */
	int epoll; /* lent: wakes the recorder when many functions are pending */
	bool watched;
	uint32_t expected; /* bits by enum lang_kind: a file with such a name was mapped, and is being read */
	struct buf complaint; /* a sentence that is not printed yet, or empty */
};

void runtimes_init(struct runtimes *r);
void runtimes_release(struct runtimes *r);
/* The file holds this interpreter. For table_cache.interpreter. */
void runtimes_found(void *runtimes, uint32_t exe, const struct lang_image *image);
/* Note a change that procs has applied: a mapping; a child; the end of a process. */
void runtimes_mapped(struct runtimes *r, struct proc *p, const struct map *m);
void runtimes_forked(struct runtimes *r, const struct proc *parent, struct proc *child);
void runtimes_gone(struct runtimes *r, const struct proc *p);
/*
 * Looks for images of no process, once a second, after procs_sweep: if many are, runtimes_full returns
 * true.
 */
void runtimes_sweep(struct runtimes *r, uint64_t now);
/* Takes the functions that the programs have sent. Call it after the samples are drained. */
void runtimes_drain(struct runtimes *r);
/* Returns true if there are so many functions that they should be forgotten at the next segment. */
bool runtimes_full(const struct runtimes *r);
/*
 * Forgets all functions; those that still run are sent again. Frees the images of no process if they are
 * many.
 */
void runtimes_restart(struct runtimes *r);
/*
 * Parts of it. Returns the index of the image, a new one if need be; LANG_IMAGES: there are too many, or too
 * many of this owner's.
 */
uint32_t runtimes_add_image(struct runtimes *r, const struct lang_image *image, uid_t owner);
void runtimes_free_images(struct runtimes *r, uint64_t now);

/*
 * This bit marks an entry of a user stack that is a language frame instead of an address. The other bits are
 * the sample's frame, without LANG_ENTRY and LANG_STACK.
 */
#define STACK_LANG LANG_BY_PROBE
/*
 * A frame without a function has its state at bit LANG_POSITION_SHIFT. Its language is STACK_LANG_STATE_BITS
 * bits higher.
 */
enum { STACK_LANG_STATE_BITS = LANG_STATE_BITS };
/* Functions of languages whose frames are machine frames have less space for the position, and these bits: */
#define STACK_LANG_POSITION ((1u << 26) - 1) /* the highest position: it is unknown */
#define STACK_LANG_TIER_SHIFT 58	     /* three bits of an enum lang_tier */
#define STACK_LANG_INLINED (1ull << 61)

/* Returns the address of the instruction that runs: for a return address, one byte back, inside the call. */
static inline uint64_t stack_run_address(uint64_t address)
{
	return (address & ~SAMPLE_EXACT) - !(address & SAMPLE_EXACT);
}

/*
 * Puts the frames of a language into the machine's stack of p: the frames that one call of the interpreter's
 * loop runs come directly above the loop's frame. `out` must have space for LANG_FRAMES more addresses. time:
 * that of the sample.
 */
void runtimes_merge(const struct runtimes *r, const struct proc *p, const uint64_t *frames, int n,
		    uint64_t time, struct user_stack *out);

/* Parts of it. Replaces machine frames by what the marks say of them: n slots of struct lang_mark. */
void runtimes_put_marks(const struct runtimes *r, const struct proc *p, const uint64_t *slots, int n,
			uint64_t time, struct user_stack *out);
/* Returns whether the address, as in struct user_stack, is in code that no file has. */
bool runtimes_is_memory(const struct proc *p, uint64_t address);
/* Returns why a stack of p has no frames of its language, though it should. */
enum lang_state runtimes_missing_state(const struct runtimes *r, const struct proc *p, uint64_t time);

#endif
