/*
 * Settings and maps of the BPF objects beside the sampling one: those of waits and of other events. They filter and walk as it does,
 * by its maps.
 *
 *	bpf_beside_configure(b, options, sample, by_tables, MEMORY_EVENT_STACK);
 *	if (!bpf_beside_share(b, sample) || event_bpf__load(b) != 0)
 *		...errno...
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_BESIDE_H
#define CPROF_RECORD_PROGRAMS_BPF_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;

struct bpf_beside_map {
	struct bpf_map *own, *its;
};

/* Makes each own map the same as its counterpart, before the object is loaded. False: errno. */
bool bpf_beside_reuse(const struct bpf_beside_map *maps, size_t n);

/* Macros, because each skeleton has its own type. b and sample are opened skeletons. */
#define bpf_beside_configure(b, o, sample, tables, stack_bytes) do {              \
	(b)->rodata->depth = (o)->chain_depth;                                    \
	(b)->rodata->user_depth = (o)->depth;                                     \
	(b)->rodata->stack_limit = (stack_bytes);                                 \
	(b)->rodata->by_table = (tables);                                         \
	(b)->rodata->want_user = !(o)->kernel_only;                               \
	(b)->rodata->want_kernel = !(o)->user_only;                               \
	(b)->rodata->filter_pids = (sample)->rodata->filter_pids;                 \
	(b)->rodata->filter_tids = (sample)->rodata->filter_tids;                 \
	(b)->rodata->filter_groups = (sample)->rodata->filter_groups;             \
} while (0)

#define bpf_beside_share(b, sample) bpf_beside_reuse((const struct bpf_beside_map[]){                                  \
	{ (b)->maps.wanted, (sample)->maps.wanted },         { (b)->maps.groups, (sample)->maps.groups },              \
	{ (b)->maps.spaces, (sample)->maps.spaces },         { (b)->maps.rules, (sample)->maps.rules },                \
	{ (b)->maps.pages, (sample)->maps.pages },           { (b)->maps.files, (sample)->maps.files },                \
	{ (b)->maps.row_shards, (sample)->maps.row_shards }, { (b)->maps.mapping_shards, (sample)->maps.mapping_shards } }, 8)

#endif
