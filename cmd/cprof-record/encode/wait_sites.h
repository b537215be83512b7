/*
 * The wait sites: each is a key chosen by the BPF program (bpf/offcpu.h) and the last stack that the program
 * sent for it, which later waits refer to; emit_waits.c writes those. Wait sites outlive a segment; node ids
 * are valid only in one segment.
 */
#ifndef CPROF_RECORD_ENCODE_WAIT_SITES_H
#define CPROF_RECORD_ENCODE_WAIT_SITES_H

#include "cmd/cprof-record/encode/emit_stacks.h"

enum { WAIT_SITES_BYTES = 64 << 20 }; /* with more, all sites are evicted */

struct wait_site {
	uint64_t key;    /* 0: free */
	uint64_t serial; /* the process image (proc.serial) of the user stack */
	uint64_t cgroup;
	uint32_t owner;      /* as in struct sample_head */
	uint64_t *addresses; /* user stack, then kernel stack */
	struct stack stack;  /* points into addresses */
	uint32_t segment;    /* the segment in which the nodes are valid */
	uint64_t user, kernel;
};

struct wait_sites;

struct wait_sites *wait_sites_new(void); /* NULL if out of memory */
void wait_sites_free(struct wait_sites *ps);
/* Returns NULL if the key is unknown. The result is valid until the next wait_sites_put. */
struct wait_site *wait_sites_find(struct wait_sites *ps, uint64_t key);
/*
 * Copies the stack as that of the wait site with key s->weight, replacing an earlier one. Returns false if
 * there were too many sites or no memory: then all other sites are evicted, and the program must send their
 * stacks again.
 */
bool wait_sites_put(struct wait_sites *ps, const struct sample_head *s, const struct proc *p, const struct stack *stack);
void wait_sites_remove(struct wait_sites *ps, uint64_t key);
/* As stacks_nodes, but at most once per segment. Leaves the user stack out if p is another image. */
bool wait_sites_nodes(struct stacks *st, uint32_t segment, struct wait_site *site, const struct proc *p, uint64_t *user, uint64_t *kernel);

#endif
