/* The maps of usdt_stacks.bpf.c that the sampling programs read. */
#ifndef CPROF_BPF_LANG_USDT_MAPS_H
#define CPROF_BPF_LANG_USDT_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/usdt_stacks.h"

/* By thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, USDT_THREADS);
	__type(key, unsigned int);
	__type(value, struct usdt_thread);
} usdt_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, USDT_STACKS);
	__type(key, struct usdt_key);
	__type(value, struct usdt_stack);
} usdt_stacks SEC(".maps");

/* Returns the stack that the thread is on; NULL: none is known. */
static __always_inline struct usdt_stack *usdt_stack_of(unsigned int tid, const struct usdt_thread *thread)
{
	struct usdt_key key = { tid, 0, thread->fiber };
	struct usdt_stack *s = bpf_map_lookup_elem(&usdt_stacks, &key);

	return s && s->serial == thread->serial ? s : NULL;
}

#endif
