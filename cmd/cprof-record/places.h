/*
 * The places where threads wait, by the key that the program in the kernel has given each (bpf/offcpu.h): the stack
 * that it sent last, for the waits that come behind it. They outlive a segment, which knows its own nodes alone.
 */
#ifndef CPROF_RECORD_PLACES_H
#define CPROF_RECORD_PLACES_H

#include "cmd/cprof-record/stacks.h"

enum { PLACES_BYTES = 64 << 20 }; /* with more, all are forgotten */

struct place {
	uint64_t key;    /* 0: free */
	uint64_t serial; /* of the image whose user stack it is */
	uint64_t cgroup;
	uint64_t *addresses; /* of the user stack, then of the kernel's */
	struct stack stack;  /* points there */
	uint32_t segment;    /* that knows the nodes */
	uint64_t user, kernel;
};

struct places;

struct places *places_new(void); /* NULL without memory */
void places_free(struct places *ps);
/* Good until the next places_put. NULL: there is none. */
struct place *places_find(struct places *ps, uint64_t key);
/*
 * The stack is the place's from now on, in place of another. False: there were too many, or no memory, and all are
 * forgotten but this one: their stacks are to be sent again.
 */
bool places_put(struct places *ps, const struct sample_head *s, const struct proc *p, const struct stack *stack);
void places_remove(struct places *ps, uint64_t key);
/* As stacks_nodes, once a segment. */
bool places_nodes(struct emit *e, struct place *place, const struct proc *p, uint64_t *user, uint64_t *kernel);

#endif
