/*
 * One line of what perf script prints: the head of a sample, a frame of its stack, or the source line of that.
 *
 *	struct script_head h;
 *	struct script_frame f;
 *
 *	if (script_head_parse(line, &h))
 *		...h.comm, h.pid, h.time...
 *	else if (script_frame_parse(line, &f))
 *		...f.address, f.name, f.file...
 *
 * Which fields there are depends on perf script's -F. A head has a number of a process or thread at least, and a time or
 * an event: "x;y 12" is folded text. Commands may hold anything, so the head is where what follows it is one. Slices
 * point into the line.
 */
#ifndef CPROF_EXPORT_SCRIPTLINE_H
#define CPROF_EXPORT_SCRIPTLINE_H

#include "common/base/cursor.h"

#define SCRIPT_NOBODY UINT32_MAX /* no process has this number */

/* comm pid/tid [cpu] seconds.fraction: period event: rest */
struct script_head {
	struct slice comm, event; /* the event without its colon; either may be empty */
	uint64_t pid, tid;        /* the same where one number was given; SCRIPT_NOBODY where perf has -1 */
	uint64_t cpu, time, period;
	bool has_time, has_period;
	bool is_sample;    /* not a line of --show-mmap-events and the like */
	struct slice rest; /* without a callchain the only frame; else what a tracepoint says */
};

/* address name+0xoffset (file) */
struct script_frame {
	uint64_t address, offset, file_offset;
	struct slice name; /* empty where perf says "[unknown]"; without the symbol's version, "@@GLIBC_2.34" */
	struct slice file; /* likewise */
	bool has_offset, has_file_offset;
	bool inlined;      /* into the frame that follows; it has no file then */
};

bool script_head_parse(struct slice line, struct script_head *h);
bool script_frame_parse(struct slice line, struct script_frame *f);
/* "  file.c:12". True also where perf says that it does not know; file is empty then. */
bool script_source_parse(struct slice line, struct slice *file, uint64_t *number);

/*
 * Do the first bytes of a file say that it is such text? Its first line that is no comment is the head of a sample, with a
 * time; so is no line of folded text, which ends with a number.
 */
bool script_looks_like(struct slice start);

/* What the frame is of, by the name of its file and its address. */
enum script_kind {
	SCRIPT_USER,
	SCRIPT_KERNEL, /* the kernel proper */
	SCRIPT_MODULE, /* a module of it, or a BPF program */
	SCRIPT_JIT,    /* user code that a perf map names, or a jitdump file */
};

enum script_kind script_frame_kind(const struct script_frame *f);

#endif
