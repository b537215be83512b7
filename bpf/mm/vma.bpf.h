/*
 * The mappings of a process as the kernel itself has them now, for walks through processes that user space
 * has not published. Most such processes are new and short, and run known files.
 *
 * bpf_find_vma finds only the first mapping of a sample: in an interrupt it unlocks the process's memory by
 * irq_work, which a CPU can queue only once, and that costs more than the rest of the sample. So the
 * process's tree of mappings is read without its lock. Nodes and mappings may change or be freed meanwhile:
 * a mapping counts only if it contains the address and belongs to the process. If anything does not fit,
 * the address has no mapping here, and user space finishes the walk.
 *
 * Device, inode, generation, size and time of change identify a file, so a rewritten file is another one.
 * User space learns them from the first sample that meets the file. It publishes the file's number under
 * them; the number is valid for one load of the file's table.
 *
 * Sources: include/linux/maple_tree.h and lib/maple_tree.c (6.1 and newer), include/linux/mm_types.h.
 */
#ifndef CPROF_BPF_MM_VMA_BPF_H
#define CPROF_BPF_MM_VMA_BPF_H

#include "bpf/mm/kernel.bpf.h"
#include "bpf/scratch.h"

const volatile unsigned int vma_at[VMA_PLACES] = { 0 };

/* Preallocated: below 6.1 a perf_event program may use no other hash map. Resized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct unwind_file_id);
	__type(value, struct unwind_file_known);
} known_files SEC(".maps");

enum {
	MAPLE_LEAF = 1, /* enum maple_type */
	MAPLE_ARANGE = 3,
	MAPLE_PIVOTS = 15, /* after the parent; then come the slots. An arange has 9 pivots and 10 slots. */
	MAPLE_ROOT = 2,	     /* set in the root, if that is a node */
	MAPLE_LEVELS = 6,
	VMA_PAGE_SHIFT = 12,
	VMA_WORDS = VMA_BYTES / 8,
	VMA_EXEC = 4,			    /* VM_EXEC */
};

/* A bit in the ns of ctime, from 6.13 on: the time has been queried. */
#define VMA_QUERIED (1u << 31)

static __always_inline struct vma_memory *vma_memory(void)
{
	struct scratch *s = my_scratch();

	if (!s)
		return NULL;
	/* Otherwise clang 19 adds the offset before it looks for NULL, which kernels up to 6.1 refuse. */
	walk_opaque(s);
	return &s->vma;
}

static __always_inline int vma_read(struct vma_memory *v, __u64 from)
{
	return (int)bpf_probe_read_kernel(v->bytes, VMA_BYTES, (const void *)from);
}

static __always_inline __u64 vma_word(const struct vma_memory *v, enum vma_place place)
{
	return *(const __u64 *)(v->bytes + (vma_at[place] & (VMA_BYTES - 8)));
}

/*
 * Returns the entry for an address in the middle of a page, by a node; 1: it cannot be read. A pivot is the
 * last address of its slot, 0 after the last pivot: those before the address are counted, without branches for
 * the verifier. The slots that follow an arange's pivots are addresses of the kernel's, which are higher.
 */
WALK_FN __u64 vma_down(WALK_ENV env, __u64 node, __u64 address)
{
	__u64 kind = node >> 3 & 15, at = kind == MAPLE_ARANGE ? 10 : 16;
	struct vma_memory *v = vma_memory();

	use_env(env);
	if (!v || vma_read(v, node & -(__u64)VMA_BYTES))
		return 1;
	for (int i = 1; i <= MAPLE_PIVOTS; i++) {
		__u64 before = (((const __u64 *)v->bytes)[i] - 1) >> 1;

		before -= address >> 1;
		walk_opaque(before);
		before >>= 63;
		walk_opaque(before);
		at += before;
	}
	return ((const __u64 *)v->bytes)[at & (VMA_WORDS - 1)];
}

/* Returns the struct vm_area_struct that may contain the address; 0: there is none, 1: it was not found. */
static __always_inline __u64 vma_find(WALK_ENV env, __u64 mm, __u64 address)
{
	__u64 entry = kernel64(mm + vma_at[VMA_ROOT]), node;

	if ((entry & MAPLE_ROOT) == 0) /* one mapping, or none */
		return 1;
	for (int i = 0; i < MAPLE_LEVELS && entry > VMA_BYTES; i++) {
		node = entry;
		entry = vma_down(env, node, address);
		if ((node >> 3 & 15) == MAPLE_LEAF)
			return entry;
	}
	return 1;
}

/* Reads the file's identity into v->found. Returns 0 on success. */
WALK_FN int vma_identify(WALK_ENV env, __u64 file)
{
	__u64 inode = kernel64(file + vma_at[VMA_INODE]);
	struct vma_memory *v = vma_memory();

	use_env(env);
	if (!v || !inode || vma_read(v, inode))
		return -1;
	v->found.id.inode = vma_word(v, VMA_INO);
	v->found.id.size = vma_word(v, VMA_SIZE);
	v->found.id.changed = vma_word(v, VMA_CHANGED);
	v->found.id.changed_ns = kernel32(inode + vma_at[VMA_CHANGED_NS]) & ~VMA_QUERIED;
	v->found.id.generation = kernel32(inode + vma_at[VMA_GENERATION]);
	v->found.id.dev = kernel32(vma_word(v, VMA_SB) + vma_at[VMA_DEV]);
	return v->found.id.inode ? 0 : -1;
}

/* Sets the current mapping to that of the file in v->found, if its file is known. */
static __always_inline int vma_enter_file(WALK_ENV env, struct walk *w, struct vma_memory *v)
{
	const struct unwind_file_known *known = bpf_map_lookup_elem(&known_files, &v->found.id);
	const struct unwind_file *files = walk_files(env);

	v->unknown = 1;
	if (!known || !files || files[known->file & (UNWIND_FILES - 1)].load != known->load)
		return WALK_ASK;
	v->unknown = 0;
	w->file_at = known->file & (UNWIND_FILES - 1);
	w->file = files[w->file_at];
	return WALK_ON;
}

/*
 * Finds the mapping that contains pc; *file: its struct file, or 0. Returns WALK_ON or an end. A process that
 * ends has no memory any more; memory without a file has no operations, but for the vDSO.
 */
static __always_inline int vma_look(WALK_ENV env, struct vma_memory *v, __u64 pc, __u64 *file)
{
	__u64 mm = kernel64(bpf_get_current_task() + vma_at[VMA_MM]), vma;

	if (!mm)
		return WALK_UNREADABLE;
	vma = vma_find(env, mm, pc >> VMA_PAGE_SHIFT << VMA_PAGE_SHIFT | 1 << (VMA_PAGE_SHIFT - 1));
	v->nothing = !vma;
	if (vma < VMA_BYTES || vma_read(v, vma))
		return WALK_NO_MAPPING;
	v->found.start = vma_word(v, VMA_START);
	v->found.end = vma_word(v, VMA_END);
	v->found.offset = vma_word(v, VMA_PGOFF) << VMA_PAGE_SHIFT;
	*file = vma_word(v, VMA_FILE);
	if (pc < v->found.start || pc >= v->found.end || vma_word(v, VMA_OWNER) != mm)
		return WALK_NO_MAPPING;
	v->nothing = !(vma_word(v, VMA_FLAGS) & VMA_EXEC);
	return v->nothing || (!*file && vma_word(v, VMA_OPS)) ? WALK_NO_MAPPING : WALK_ON;
}

WALK_FN int vma_enter(WALK_ENV env, __u64 pc)
{
	struct vma_memory *v = vma_memory();
	struct walk *w = walk_state(env);
	__u64 file = 0;
	int end;

	if (!v || !w || !vma_at[VMA_MM])
		return WALK_NO_MAPPING;
	v->found.id.inode = 0;
	end = vma_look(env, v, pc, &file);
	if (end != WALK_ON)
		return end;
	w->file_at = 0;
	w->file = (struct unwind_file){ .state = UNWIND_FILE_NONE };
	if (file && vma_identify(env, file))
		return WALK_NO_MAPPING;
	if (file)
		end = vma_enter_file(env, w, v);
	if (end != WALK_ON)
		return end;
	w->start = v->found.start;
	w->end = v->found.end;
	w->offset = file ? v->found.offset : 0;
	return WALK_ON;
}

#endif
