/* Shared by vma.bpf.h and user space: where members of the kernel's structures are, and working memory. */
#ifndef CPROF_BPF_MM_VMA_H
#define CPROF_BPF_MM_VMA_H

#include "common/walk/space.h"

/* Offsets, from BTF. VMA_MM 0: they are not known. */
enum vma_place {
	VMA_MM,	  /* struct task_struct */
	VMA_ROOT, /* struct mm_struct: the root of its maple tree */
	/* struct vm_area_struct */
	VMA_START,
	VMA_END,
	VMA_OWNER,
	VMA_FLAGS,
	VMA_OPS,
	VMA_PGOFF,
	VMA_FILE,
	VMA_INODE, /* struct file */
	/* struct inode; VMA_CHANGED: its ctime, in s and ns */
	VMA_INO,
	VMA_SB,
	VMA_SIZE,
	VMA_CHANGED,
	VMA_CHANGED_NS,
	VMA_GENERATION,
	VMA_DEV, /* struct super_block */
	VMA_PLACES,
};

enum {
	VMA_BYTES = 256, /* size of a node of a maple tree; other structures are read up to here */
	VMA_FILES = 4096, /* files that the program can know */
};

/* Working memory of a CPU. */
struct vma_memory {
	unsigned char bytes[VMA_BYTES];
	struct unwind_live found; /* the last mapping that was looked up; id.inode 0: it has no file, or none was */
	__u32 unknown;		  /* its file is not known */
	__u32 nothing;		  /* the last address that was looked up certainly has no code */
};

#endif
