/* The executables that hold an interpreter: found by what the kernel itself calls them. */
#ifndef CPROF_BPF_LANG_EXE_H
#define CPROF_BPF_LANG_EXE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/mm/kernel.bpf.h"
#include "common/lang/lang.h"

struct lang_exe {
	__u32 image;
	__u32 library; /* 1: the interpreter is in a library that the executable loads */
	__u64 text; /* linked address of the lowest code */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct lang_file);
	__type(value, struct lang_exe);
} lang_files SEC(".maps");

/* Offsets in the kernel's structures, from BTF. */
struct lang_at {
	__u32 mm;	   /* struct task_struct */
	__u32 exe, code;   /* struct mm_struct: exe_file, start_code */
	__u32 f_inode;	   /* struct file */
	__u32 i_ino, i_sb; /* struct inode */
	__u32 s_dev;	   /* struct super_block */
};

/* Finds the executable of the current process. Returns the address of its lowest code; key->inode 0: none. */
static __always_inline __u64 lang_executable(const struct lang_at *at, struct lang_file *key)
{
	__u64 mm = kernel64(bpf_get_current_task() + at->mm), file, inode;

	file = mm ? kernel64(mm + at->exe) : 0;
	inode = file ? kernel64(file + at->f_inode) : 0;
	if (!inode)
		return 0;
	key->inode = kernel64(inode + at->i_ino);
	key->dev = kernel32(kernel64(inode + at->i_sb) + at->s_dev);
	return kernel64(mm + at->code);
}

#endif
