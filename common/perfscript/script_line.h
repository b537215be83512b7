/*
 * One line of the output of perf script: the head of a sample, a frame of its stack, or that frame's source
 * line.
 *
 *	struct script_head h;
 *	struct script_frame f;
 *
 *	if (script_head_parse(line, &h))
 *		...h.comm, h.pid, h.time...
 *	else if (script_frame_parse(line, &f))
 *		...f.address, f.name, f.file...
 *
 * The fields depend on perf script's -F. A head has at least a process or thread number, and a time or an
 * event: "x;y 12" is folded text. Commands may contain anything, so the head begins at the first place from
 * which the rest parses. Slices point into the line.
 */
#ifndef CPROF_PERFSCRIPT_SCRIPT_LINE_H
#define CPROF_PERFSCRIPT_SCRIPT_LINE_H

#include "common/base/cursor.h"

#define SCRIPT_NOBODY UINT32_MAX /* no process has this number */

/* comm pid/tid [cpu] seconds.fraction: period event: rest */
struct script_head {
	struct slice comm, event; /* the event without its colon; either may be empty */
	uint64_t pid, tid;        /* equal if only one number was given; SCRIPT_NOBODY if perf has -1 */
	uint64_t cpu, time, period;
	bool has_time, has_period;
	bool is_sample;    /* not a line of --show-mmap-events and the like */
	struct slice rest; /* the only frame if there is no callchain; otherwise a tracepoint's text */
};

/* address name+0xoffset (file) */
struct script_frame {
	uint64_t address, offset, file_offset;
	/* empty if perf says "[unknown]"; without a symbol version such as "@@GLIBC_2.34" */
	struct slice name;
	struct slice file; /* empty if perf says "[unknown]" */
	bool has_offset, has_file_offset;
	bool inlined;      /* into the next frame; it has no file then */
};

/* These functions return false if the line has another form. */
bool script_head_parse(struct slice line, struct script_head *h);
bool script_frame_parse(struct slice line, struct script_frame *f);
/* Parses "  file.c:12". Returns true also if perf says that it does not know; file is empty then. */
bool script_source_parse(struct slice line, struct slice *file, uint64_t *number);

/*
 * Returns whether the first bytes of a file are such text: its first line that is not a comment must be the
 * head of a sample with a time. Folded text never matches, because its lines end with a number.
 */
bool script_looks_like(struct slice start);

/* The kind of code of a frame, by the name of its file and its address. */
enum script_kind {
	SCRIPT_USER,
	SCRIPT_KERNEL, /* the kernel proper */
	SCRIPT_MODULE, /* a kernel module, or a BPF program */
	SCRIPT_JIT,    /* user code named by a perf map or a jitdump file */
};

enum script_kind script_frame_kind(const struct script_frame *f);

#endif
