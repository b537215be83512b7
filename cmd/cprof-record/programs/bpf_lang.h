/*
 * The BPF programs that walk interpreted languages, and their maps. Nothing is loaded until the first image
 * comes.
 *
 *	struct bpf_lang *l = bpf_lang_new(options, sample);
 *
 *	if (!bpf_lang_image(l, index, &image, &error))	// loads the programs of its language
 *		...a sentence: its processes stay without frames of the language...
 *	bpf_lang_proc(l, pid, &proc);
 *	bpf_lang_drain(l, take, arg);	// after the samples that refer to the functions
 *	bpf_lang_free(l);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_LANG_H
#define CPROF_RECORD_PROGRAMS_BPF_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/lang/lang.h"

struct bpf_lang;
struct bpf_map;
struct bpf_program;
struct options;
struct sample_bpf;

/* Both are lent. NULL if out of memory. */
struct bpf_lang *bpf_lang_new(const struct options *o, struct sample_bpf *sample);
void bpf_lang_free(struct bpf_lang *l);

/* A kind of program whose samples get frames of languages, by tail calls through its map calls. */
struct bpf_lang_hook {
	const struct bpf_program *program; /* one of the kind, loaded: the walks are of its type */
	struct bpf_map *calls, *data,
		*ring; /* data: the map of scratches; ring: where samples go, or the waker */
	uint32_t stack_limit;
	const char *attached; /* the tracepoint of a BTF program, as "sched_switch"; otherwise NULL */
};

enum { BPF_LANG_HOOKS = 5 }; /* ticks; events of three types; waits */

/* Adds a kind. Call it before the first image; the first one is that of the ticks. */
void bpf_lang_add_hook(struct bpf_lang *l, const struct bpf_lang_hook *hook);
/*
 * Registers the program that finishes samples of this event. event: its index among those of -e; 0 for ticks
 * and waits.
 */
bool bpf_lang_finish(struct bpf_map *calls, uint32_t event, const struct bpf_program *program);

/*
 * Publishes an image under an index below LANG_IMAGES, after loading the programs of its language. If loading
 * fails, returns false and fills error with a sentence. Leaves error empty if loading of this language failed
 * before.
 */
bool bpf_lang_image(struct bpf_lang *l, uint32_t index, const struct lang_image *image, struct buf *error);
/* Publishes a process; proc NULL: it is gone, or runs no interpreter. */
void bpf_lang_proc(struct bpf_lang *l, uint32_t pid, const struct lang_proc *proc);
/* Forgets the executables and processes of all images but these, by index, so that an index may be reused. */
void bpf_lang_keep(struct bpf_lang *l, const bool *images);
/* Forgets all functions: each is sent again with its next sample. */
void bpf_lang_restart(struct bpf_lang *l);

/*
 * Loads the programs of a language before its first image comes. False: error is a sentence, or stays as it
 * is if loading of this language failed before.
 */
bool bpf_lang_load(struct bpf_lang *l, uint32_t language, struct buf *error);

/* The maps of call probes (bpf_calls.h). */
struct bpf_lang_calls {
	struct bpf_map *ring, *threads, *stacks, *functions;
};

/* Adds the frames of call probes to all samples. Call it after the hooks are added. False: errno. */
bool bpf_lang_calls(struct bpf_lang *l, const struct bpf_lang_calls *maps);
/* Returns the distance of two ids of functions. The first ids of objects without a hook begin at *first. */
uint32_t bpf_lang_ids(uint32_t *first);

typedef void bpf_lang_fn(void *arg, const struct lang_function *f);
typedef void bpf_lang_code_fn(void *arg, const struct lang_code *code);
/*
 * Passes on the functions and the code that were sent. Call it after the samples are drained: those that
 * these samples name have then arrived.
 */
void bpf_lang_drain(struct bpf_lang *l, bpf_lang_fn *take, bpf_lang_code_fn *take_code, void *arg);
/* Returns the descriptor of a map of the language's own objects; -1: they are not loaded, or have no such map. */
int bpf_lang_map(const struct bpf_lang *l, uint32_t language, const char *name);
/* Returns a descriptor that is readable when many functions are pending; -1: nothing is loaded yet. */
int bpf_lang_ring(const struct bpf_lang *l);

#endif
