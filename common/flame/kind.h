/*
 * The kind of a frame, from its name. The colours of a flame graph show kinds.
 *
 *	struct slice text;
 *	enum kind kind = kind_of(name, &text);	// "vfs_read_[k]": KIND_KERNEL, "vfs_read"
 *
 * The suffixes are those that `cprof-fold -a`, perf and bcc write. Interpreted frames have the suffix `_[l]`,
 * or are recognized by their names: perf's trampolines for Python are called "py::name:file", and V8 marks functions run by its
 * interpreter with "~". Some names in brackets are known without a suffix, for example "[kernel]" and
 * "[jit]".
 */
#ifndef CPROF_FLAME_KIND_H
#define CPROF_FLAME_KIND_H

#include "common/base/cursor.h"

/* The numbers are those of the data block; see page_data.h. */
enum kind {
	KIND_USER,
	KIND_KERNEL,
	KIND_INLINED,
	KIND_JIT,
	KIND_INTERPRETED,
	KIND_ROOT,   /* the outermost frame: the process, thread or the like */
	KIND_NONAME, /* code without a name, shown by its place: "[libx.so+0x1231]", "[anon]", "[unknown]" */
	KIND_SLEEPING, /* not code: the state that a thread waited in, "[sleeping]" */
	KIND_LEFTOUT, /* stands for missing frames: "[other]", "[...]", "[truncated: depth]" */
	KIND_UNINTERRUPTIBLE, /* further states: "[uninterruptible]" */
	KIND_QUEUED,  /* "[waiting for a CPU]", "[throttled]" */
	KINDS
};

/*
 * Returns the kind of a frame that is not the outermost one. *text: the name without its suffix, a part of
 * it.
 */
enum kind kind_of(struct slice name, struct slice *text);
/* Returns the kind's name for the legend, "kernel". Static. */
const char *kind_name(enum kind kind);

#endif
