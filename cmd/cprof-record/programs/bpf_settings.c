#include "cmd/cprof-record/programs/bpf_settings.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "bpf/mm/vma.h"
#include "bpf/sample.skel.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/programs/run_queues.h"

enum { WANTED_MAX = 65536,
       SPACES_MOST = 131072, SPACES_LEAST = 32768, SPACES_PER_CPU = 4096 };

/* Returns the offset of task_struct.stack; 0: not found in BTF. */
static uint32_t find_task_stack(void)
{
	struct btf_place stack = { "task_struct", "stack", 0 };

	return btf_find(BTF_KERNEL, &stack, 1) ? stack.at : 0;
}

/* Returns the size of the process map. Without preallocation, only its hash table costs memory and time. */
static uint32_t spaces_of(const struct bpf_way *way)
{
	uint32_t n = SPACES_LEAST, cpus = (uint32_t)libbpf_num_possible_cpus();

	while (!way->preallocate && n < SPACES_MOST && n / SPACES_PER_CPU < cpus)
		n *= 2;
	return n;
}

static void configure_walk(struct sample_bpf *s, const struct options *o, const struct bpf_way *way)
{
	s->rodata->by_table = way->by_table;
	s->rodata->user_depth = o->depth;
	s->rodata->regs_by = way->regs;
	s->rodata->always_copy = o->always_copy;
	if (way->regs == REGS_BY_STACK)
		s->rodata->task_stack_at = find_task_stack();
	bpf_map__set_max_entries(s->maps.row_shards, way->by_table ? UNWIND_SHARDS : 1);
	bpf_map__set_max_entries(s->maps.mapping_shards, way->by_table ? UNWIND_SHARDS : 1);
	bpf_map__set_max_entries(s->maps.spaces, way->by_table ? spaces_of(way) : 1);
	if (way->preallocate)
		bpf_map__set_map_flags(s->maps.spaces, 0);
	else if (way->by_table)
		bpf_map__set_max_entries(s->maps.known_files, VMA_FILES);
}

/* Without the offsets, an interpreter that a script's first line names does not wake the recorder. */
static void find_file_name(struct sample_bpf *s)
{
	struct btf_place at[] = { { "linux_binprm", "file", 0 }, { "file", "f_path", 0 },
				  { "path", "dentry", 0 },	 { "dentry", "d_name", 0 },
				  { "qstr", "name", 0 } };

	if (!btf_find(BTF_KERNEL, at, sizeof(at) / sizeof(at[0])))
		return;
	s->rodata->file_at = at[0].at;
	s->rodata->dentry_at = at[1].at + at[2].at;
	s->rodata->name_at = at[3].at + at[4].at;
}

void bpf_settings_apply(struct sample_bpf *s, const struct options *o, const struct idle_ranges *idle,
			const struct bpf_way *way)
{
	bpf_map__set_max_entries(s->maps.wanted, options_targeted(o) ? WANTED_MAX : 1);
	s->rodata->has_calls = way->calls && !o->kernel_only && (o->languages || o->calls);
	bpf_program__set_autoload(s->progs.finish, way->calls);
	if (s->rodata->has_calls)
		find_file_name(s);
	s->rodata->depth = o->chain_depth;
	s->rodata->want_user = !o->kernel_only;
	s->rodata->want_kernel = !o->user_only;
	s->rodata->want_weight = o->cycles;
	s->rodata->looks_back = o->n_events > 0 || o->calls;
	s->rodata->filter_groups = (unsigned int)o->n_groups;
	bpf_map__set_max_entries(s->maps.groups, o->n_groups ? (uint32_t)o->n_groups : 1);
	s->rodata->filter_tids = o->n_tids > 0;
	s->rodata->filter_pids = options_targeted(o) && o->n_tids == 0;
	s->rodata->want_outside = o->off_cpu && o->ticks && (o->n_groups || options_targeted(o));
	configure_walk(s, o, way);
	run_queues_configure(s, o->latency);
	for (int i = 0; i < 2; i++) {
		s->rodata->idle_start[i] = idle->start[i];
		s->rodata->idle_end[i] = idle->end[i];
	}
}

/*
 * Fills in the offsets of these members. within: they are read with others, so they must be words within
 * VMA_BYTES.
 */
static bool find_places(unsigned int *at, enum vma_place first, struct btf_place *places, size_t n, bool within)
{
	if (!btf_find(BTF_KERNEL, places, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (within && (places[i].at > VMA_BYTES - 8 || places[i].at % 8))
			return false;
		at[first + i] = places[i].at;
	}
	return true;
}

/* ctime is a structure before 6.11, with another name before 6.6. */
static bool find_changed(unsigned int *at)
{
	struct btf_place now[] = { { "inode", "i_ctime_sec", 0 }, { "inode", "i_ctime_nsec", 0 } },
			 before[] = { { "inode", "__i_ctime", 0 } }, at_first[] = { { "inode", "i_ctime", 0 } };

	if (find_places(at, VMA_CHANGED, now, 2, true))
		return true;
	if (!find_places(at, VMA_CHANGED, before, 1, true) && !find_places(at, VMA_CHANGED, at_first, 1, true))
		return false;
	at[VMA_CHANGED_NS] = at[VMA_CHANGED] + sizeof(uint64_t);
	return true;
}

void bpf_settings_mappings(struct sample_bpf *walk)
{
	struct btf_place mm[] = { { "task_struct", "mm", 0 }, { "mm_struct", "mm_mt", 0 },
				  { "maple_tree", "ma_root", 0 }, { "file", "f_inode", 0 }, { "super_block", "s_dev", 0 } };
	struct btf_place vma[] = { { "vm_area_struct", "vm_start", 0 }, { "vm_area_struct", "vm_end", 0 },
				   { "vm_area_struct", "vm_mm", 0 },	{ "vm_area_struct", "vm_flags", 0 },
				   { "vm_area_struct", "vm_ops", 0 },	{ "vm_area_struct", "vm_pgoff", 0 },
				   { "vm_area_struct", "vm_file", 0 } };
	struct btf_place inode[] = { { "inode", "i_ino", 0 }, { "inode", "i_sb", 0 }, { "inode", "i_size", 0 } };
	struct btf_place generation[] = { { "inode", "i_generation", 0 } };
	unsigned int at[VMA_PLACES] = { 0 };

	if (bpf_map__max_entries(walk->maps.known_files) < VMA_FILES || !btf_find(BTF_KERNEL, mm, 5) ||
	    !find_places(at, VMA_START, vma, 7, true) || !find_places(at, VMA_INO, inode, 3, true) ||
	    !find_places(at, VMA_GENERATION, generation, 1, false) || !find_changed(at))
		return;
	at[VMA_MM] = mm[0].at;
	at[VMA_ROOT] = mm[1].at + mm[2].at;
	at[VMA_INODE] = mm[3].at;
	at[VMA_DEV] = mm[4].at;
	memcpy(walk->rodata->vma_at, at, sizeof(at));
}
