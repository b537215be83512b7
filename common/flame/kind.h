/*
 * What a frame is, from what it is called: that is what a flame graph's colours are about.
 *
 *	struct slice text;
 *	enum kind kind = kind_of(name, &text);	// "vfs_read_[k]": KIND_KERNEL, "vfs_read"
 *
 * The suffixes are those that `cprof-fold -a`, perf and bcc write. Interpreters tell of themselves: perf's
 * trampolines of Python are called "py::name:file", and V8 marks what its interpreter runs by "~". What stands in
 * brackets is the kernel's or a JIT compiler's if it says so, without a suffix too.
 */
#ifndef CPROF_FLAME_KIND_H
#define CPROF_FLAME_KIND_H

#include "common/base/cursor.h"

/* The numbers are those of the data block; see block.h. */
enum kind {
	KIND_USER,
	KIND_KERNEL,
	KIND_INLINED,
	KIND_JIT,
	KIND_INTERPRETED,
	KIND_ROOT,   /* the outermost frame: what ran */
	KIND_NONAME, /* code without a name is called by its place: "[libx.so+0x1231]", "[anon]", "[unknown]" */
	KIND_WAITING, /* no code: what a thread waited for, "[sleeping]" */
	KIND_LEFTOUT, /* stands for frames that are not there: "[other]", "[...]", "[truncated: depth]" */
	KINDS
};

/* Of a frame that is not the outermost one; text is the name without its suffix. */
enum kind kind_of(struct slice name, struct slice *text);
/* For the legend: "kernel". */
const char *kind_name(enum kind kind);

#endif
