/*
 * The records of a cprof stream as C structures. cprof-stream(5) defines the format.
 *
 * Ids are dense, start at 1 (0 means none, or the kernel) and are valid within one segment. Times are
 * nanoseconds of CLOCK_MONOTONIC on the recorded host. Slices are borrowed: a reader's are valid until its
 * next call, and a writer copies its input.
 *
 * Here are the types of records and their fields. The values of fields that are enumerations are in
 * record_values.h; record_coding.h turns records into bytes and text. No number of a type is ever reused.
 */
#ifndef CPROF_STREAM_RECORD_H
#define CPROF_STREAM_RECORD_H

#include "common/base/slice.h"
#include "common/stream/record_values.h"

enum {
	STREAM_MAJOR = 1, /* a reader refuses a stream that needs a higher one */
	STREAM_MINOR = 9,
};

enum record_type {
	/* Made by the reader; these numbers are never on the wire. */
	RECORD_FLUSH = 0,     /* a block has ended: everything recorded up to then has been delivered */
	RECORD_SEGMENT = 1,   /* a header block begins: forget every id, META and EVENT follow */
	/* On the wire. */
	RECORD_META = 2,
	RECORD_EVENT = 3,
	RECORD_PROCESS = 4,
	RECORD_THREAD = 5,
	RECORD_COMM = 6,
	RECORD_EXIT = 7,
	RECORD_FILE = 8,
	RECORD_MAPPING = 9,
	RECORD_UNMAP = 10,
	RECORD_FRAME = 11,  /* many in one wire record */
	RECORD_NODE = 12,   /* many in one wire record */
	RECORD_SAMPLE = 13, /* many in one wire record */
	RECORD_KSYM = 14,
	RECORD_IMAGE = 15,
	RECORD_JITMAP = 16,
	RECORD_CGROUP = 17,
	RECORD_MEMBER = 18,
	RECORD_LEDGER = 19,
	RECORD_COST = 20,
	RECORD_END = 21,
	RECORD_DAMAGE = 22,
	RECORD_STRING = 23,
	RECORD_SYMBOL = 24,
	RECORD_SOURCE = 25,
	RECORD_JITCODE = 26,
	/* 27 to 31: native code, later. 37 to 47: interpreted languages, later. */
	RECORD_SCRIPT = 32,
	RECORD_FUNCTION = 33,
	RECORD_LANG_FRAME = 34,
	RECORD_LANG_LINE = 35,
	RECORD_SCRIPT_SOURCE = 36,
	RECORD_TALLY = 48,
	RECORD_RAN = 49,
	RECORD_LEFT_OUT = 50,
	RECORD_WOKEN = 51,
	RECORD_PARALLEL = 52,
	RECORD_LOCK = 53,
	RECORD_OUTSIDE = 54,
	RECORD_USER = 55,
	RECORD_OWNER = 56,
	RECORD_TYPES,
};

struct record_segment {
	uint64_t major, minor; /* the writer's version */
	uint64_t least;        /* the major version that a reader must know */
};

/* META: one field of the header. cprof-stream(5) lists the keys. */
struct record_meta {
	struct slice key, value;
};

/* The header key for how far waits reach back (segment_extent.h), and the prefix of wait events' names. */
#define META_WAITS_SINCE "waits-since-monotonic-ns"
#define META_PARALLELISM "parallelism" /* "process,group": there are PARALLEL records */
#define EVENT_OFF_CPU "off-cpu:"

struct record_event {
	uint64_t id;
	struct slice name;   /* "cpu-clock" */
	struct slice unit;   /* the unit of weights: "ns" */
	uint64_t period;     /* weight of a sample without one, in that unit */
	uint64_t millihertz; /* requested rate, 1/1000 Hz; 0: not sampled at a rate */
};

/* One image of a process: an exec begins a new one with the same pid. */
struct record_process {
	uint64_t id, time, pid;
	uint64_t nspid;  /* pid in its innermost PID namespace; 0: same as pid, or unknown */
	uint64_t parent; /* after a fork the parent, whose mappings it inherits; after exec the old image */
	uint64_t start;  /* time when the process (not the image) began; 0: unknown */
	uint64_t generation; /* number of execs seen */
	uint64_t via;    /* enum process_via */
};

struct record_thread {
	uint64_t id, time, process, tid;
};

struct record_comm {
	uint64_t time, thread;
	struct slice comm;
};

struct record_exit {
	uint64_t time, thread;
};

struct record_file {
	uint64_t id;
	uint64_t dev_major, dev_minor, inode, generation; /* 0: unknown */
	struct slice build_id; /* empty: unknown */
	struct slice path;     /* as the process saw it; "[vdso]", "//anon" and the like are not files */
};

struct record_mapping {
	uint64_t time, process, start, length, offset;
	uint64_t prot; /* 1 read, 2 write, 4 execute */
	uint64_t file; /* 0: anonymous */
};

struct record_unmap {
	uint64_t time, process, start, length;
};

struct record_frame {
	uint64_t id;
	uint64_t process; /* 0: the kernel */
	uint64_t kind;    /* enum frame_kind */
	uint64_t address; /* as it was in the stack */
};

struct record_node {
	uint64_t id, parent, frame;
};

struct record_sample {
	uint64_t time, event, cpu, thread;
	uint64_t user, kernel; /* nodes; below NODE_FIRST: no frames */
	uint64_t weight;       /* in the event's unit */
};

struct record_ksym {
	uint64_t time, address, size; /* size 0: unknown */
	struct slice name, module;    /* module empty: the kernel itself */
};

struct record_image {
	struct slice name, build_id, data; /* name as in FILE */
};

/* Whole lines of a perf map, read at this time. A new generation is a new file. */
struct record_jitmap {
	uint64_t time, process, generation;
	struct slice data;
};

/* An entry of a jitdump file about a piece of code. The file gives the time. */
struct record_jitcode {
	uint64_t time, process, kind; /* enum jitcode_kind */
	uint64_t address, size; /* 0 for a close and a mark */
	uint64_t old;           /* the previous address of a move; otherwise 0 */
	struct slice name;      /* the function's name in a load; otherwise empty */
};

struct record_cgroup {
	uint64_t id; /* the kernel's own id of the cgroup */
	struct slice path;
};

struct record_member {
	uint64_t time, process, cgroup;
};

/*
 * Cumulative from the segment's start: the last record of a CPU and an outcome counts. cpu is the CPU + 1, or
 * 0 for no particular CPU.
 */
struct record_ledger {
	uint64_t time, cpu, outcome, count;
};

/*
 * The outcomes of events that are not ticks, as numbers of events, not of samples. Cumulative from the
 * segment's start. EXPECTED is how many events happened; the other outcomes add up to it.
 */
struct record_tally {
	uint64_t time, event, outcome, count;
};

/* In the span nanoseconds before time, the thread was on a CPU for ns nanoseconds. */
struct record_ran {
	uint64_t time, thread, ns, span;
};

/*
 * A wait of at least the least time, as a whole. The thread slept, was woken, and was queued until time. Its
 * last part is in the samples of the thread right before; earlier parts may be in earlier samples at the same
 * wait site.
 */
struct record_woken {
	uint64_t time, thread;
	uint64_t slept, queued; /* ns; slept 0: it was preempted */
	uint64_t by;            /* enum woken_by */
	uint64_t waker;         /* THREAD id; 0: no thread, or unknown */
	uint64_t user, kernel;  /* nodes of the waker's stack; 0: it was not taken */
	uint64_t lock;          /* LOCK id; 0: it did not wait for a futex, or unknown */
	uint64_t owner;         /* THREAD id: held the lock when the wait began; 0: unknown */
	uint64_t throttled;     /* ns: the part of queued in which a quota kept the thread from running */
};

/* A futex, with a new id when another object is there. */
struct record_lock {
	uint64_t id, process;
	uint64_t kind;    /* enum lock_kind */
	uint64_t address; /* the lock's; for LOCK_FUTEX and LOCK_JOIN, the futex's */
};

/*
 * From here on, samples of the process were taken while this number of its threads had a CPU, and of the
 * threads of its control group. Before the first record of a process both are 1.
 */
struct record_parallel {
	uint64_t time, process, running, group_running;
};

/*
 * A sample of a thread that was not to be recorded, on the CPU for which a recorded thread was queued. Its
 * weight is the event's period. It adds to no sum, and the ledger counts it as FILTERED.
 */
struct record_outside {
	uint64_t time, event, cpu, thread;
};

/* A user of the recorded host; id is the uid. */
struct record_user {
	uint64_t id;
	struct slice name; /* empty: none is known */
};

/* From here on, the process runs as this user: the real uid, as the host numbers it. */
struct record_owner {
	uint64_t time, process, user;
};

/*
 * Samples that a filter left out here because they are outside the time window. The first sample of an epoch
 * of a process has a record of its own, with its thread, because the names of epochs depend on it. The other
 * samples share a record, with thread 0.
 */
struct record_left_out {
	uint64_t first, event, thread, samples, weight, last; /* first and last are times */
};

struct record_cost {
	uint64_t time, what, count; /* enum cost in what; count is cumulative from the segment's start */
};

struct record_end {
	uint64_t time, reason, samples;
};

/* Input that a reader left out. Filters pass it on, so that no later reader takes the rest for all. */
struct record_damage {
	uint64_t offset, bytes; /* in its input (for a record, of its block); bytes left out, with heads */
	uint64_t blocks;        /* blocks missing by their sequence numbers */
	struct slice what;      /* a sentence for people */
};

struct record_string {
	uint64_t id;
	struct slice text;
};

/*
 * A name for a frame, valid from a time on (0: always). Level 0 is the function that the machine code belongs
 * to and begins a new list; levels 1, 2, … are functions inlined into the one before.
 */
struct record_symbol {
	uint64_t frame, from, level, source; /* source: enum name_source */
	uint64_t name;   /* string; 0: no name */
	uint64_t offset; /* bytes from the function's start to the frame's address */
	uint64_t file, line; /* string, line; 0: unknown */
};

struct record_source {
	uint64_t file; /* FILE id; 0: the kernel */
	uint64_t status;   /* enum source_status */
	uint64_t kind;     /* the best name_source that it gave */
	struct slice path; /* the file opened, or the last one tried */
};

/* A file, or another text, that functions of a language come from. */
struct record_script {
	uint64_t id, language; /* enum language */
	uint64_t process;      /* the process that sees this path; 0: any */
	struct slice path;     /* as the interpreter has it: "/usr/lib/python3.11/json/decoder.py", "<string>" */
	/* From minor 5 on, of scripts whose frames have positions instead of lines: */
	uint64_t units;        /* length of the text in UTF-16 units; 0: unknown */
	uint64_t file, offset; /* FILE id that contains the text, and its linked address; 0, 0: path has it */
	uint64_t width;        /* bytes of a unit there: 1 (Latin-1) or 2; 0: the address is not known */
};

struct record_function {
	uint64_t id, script;
	struct slice name;  /* UTF-8, as users write it: "Decoder.decode", "Foo#bar", "main::f" */
	uint64_t line;      /* its first line; 0: unknown */
	uint64_t flags;     /* FUNCTION_... */
	/* From minor 5 on: where its text begins in the script, in UTF-16 units, plus 1; 0: unknown. */
	uint64_t start;
};

/*
 * A frame of an interpreted language, in the id space of FRAME. In a stack, the frames that one call of the
 * interpreter's loop runs stand directly above that loop's machine frame, on the side of the leaf.
 */
struct record_lang_frame {
	uint64_t id, process;
	uint64_t language;       /* enum language */
	uint64_t function, line; /* 0: unknown */
	uint64_t state;          /* enum lang_state; other than LANG_OK: function is 0 */
	/* From minor 5 on: */
	uint64_t tier;     /* enum lang_tier */
	uint64_t inlined;  /* 1: the compiler has put it into the frame on the side of the root */
	uint64_t position; /* instead of a line: in the script, in UTF-16 units, plus 1; 0: unknown */
};

/* The line of a frame, or of a function's start, by the script's text. The other id is 0. */
struct record_lang_line {
	uint64_t frame, function, line;
};

/* The result of reading a script's text for lines. */
struct record_script_source {
	uint64_t script;
	uint64_t status;   /* enum source_status; SOURCE_CHANGED: the text has another length */
	struct slice path; /* the file opened, or the last one tried */
};

struct record {
	uint32_t type;
	bool last; /* the last record of its run, if it is in one */
	union {
		struct record_segment segment;
		struct record_meta meta;
		struct record_event event;
		struct record_process process;
		struct record_thread thread;
		struct record_comm comm;
		struct record_exit exit;
		struct record_file file;
		struct record_mapping mapping;
		struct record_unmap unmap;
		struct record_frame frame;
		struct record_node node;
		struct record_sample sample;
		struct record_ksym ksym;
		struct record_image image;
		struct record_jitmap jitmap;
		struct record_cgroup cgroup;
		struct record_member member;
		struct record_ledger ledger;
		struct record_cost cost;
		struct record_end end;
		struct record_damage damage;
		struct record_string string;
		struct record_symbol symbol;
		struct record_source source;
		struct record_jitcode jitcode;
		struct record_tally tally;
		struct record_ran ran;
		struct record_woken woken;
		struct record_lock lock;
		struct record_parallel parallel;
		struct record_outside outside;
		struct record_user user;
		struct record_owner owner;
		struct record_left_out left_out;
		struct record_script script;
		struct record_function function;
		struct record_lang_frame lang_frame;
		struct record_lang_line lang_line;
		struct record_script_source script_source;
	};
	struct slice tail; /* fields that a newer minor version added, or the body of an unknown record */
};

/*
 * A run of FRAME, NODE or SAMPLE records in a block, as bytes; see reader_batch and writer_put_batch. A
 * sample without a weight has the period of its event in the segment's EVENT records.
 */
struct stream_batch {
	uint32_t type;
	uint64_t time, time_after; /* the last time in the block, before and after the run */
	struct slice body;
};

#endif
