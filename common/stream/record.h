/*
 * The records of a cprof stream as C structures. cprof-stream(5) defines the format.
 *
 * Ids are dense, start at 1 (0 means none, or the kernel) and are valid within one segment. Times are
 * nanoseconds of CLOCK_MONOTONIC on the recorded host. Slices are borrowed: a reader's are valid until its
 * next call, and a writer copies its input.
 *
 * The table in record.c holds the name and the fields of each type. It drives coding, text and checks: a new
 * record is a new row, and no number is ever reused.
 */
#ifndef CPROF_STREAM_RECORD_H
#define CPROF_STREAM_RECORD_H

#include "common/base/buf.h"
#include "common/base/cursor.h"

enum {
	STREAM_MAJOR = 1, /* a reader refuses a stream that needs a higher one */
	STREAM_MINOR = 8,
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

/*
 * Nodes below NODE_FIRST are roots: the parent of a stack's outermost frame is a root, which says how the
 * stack ended. A sample whose stack has no frames names the root itself.
 */
enum root {
	ROOT_COMPLETE = 0,   /* the outermost frame is the true one; without frames: there is no such stack */
	ROOT_FP_END = 1,     /* the frame-pointer chain ended: complete if all code keeps it, unverified */
	ROOT_DEPTH = 2,      /* the depth limit was reached: outer frames are missing */
	ROOT_UNREADABLE = 3, /* a page of the stack could not be read */
	ROOT_BROKEN = 4,     /* the chain led to a value that is not a return address */
	ROOT_NO_REGS = 5,    /* there were no user registers */
	ROOT_KTHREAD = 6,    /* no user stack: a kernel thread, a worker, or a thread whose memory is gone */
	/* 7 to 10: unwinding by tables stopped, and frame pointers led no further either. */
	ROOT_NO_TABLE = 7,   /* the code has no table: JIT-compiled code, or a file without unwind data */
	ROOT_NO_MAPPING = 8, /* no mapping of the address is known */
	ROOT_GAP = 9,        /* the file's table does not cover the address */
	ROOT_BAD_RULE = 10,  /* the table's rule for the address cannot be followed */
	ROOT_FAILED = 11,    /* the kernel returned an error instead of a stack */
	ROOT_NOT_ASKED = 12, /* this half of the stack was switched off (-U, -K) */
	ROOT_COPY = 13,      /* unwound in user space; the stack is longer than the part that was copied */
	ROOT_BUDGET = 14,    /* the table did not fit into the memory limit for tables */
	ROOT_FORGOTTEN = 15, /* waiting time: there were too many wait sites to keep the stack of each */
	ROOTS,
	NODE_FIRST = 16,
};

enum frame_kind {
	FRAME_EXACT = 0,  /* an instruction interrupted by the sample or by a signal */
	FRAME_RETURN = 1, /* a return address: the call is before it, look up address - 1 */
	FRAME_KINDS,
};

enum process_via { VIA_SNAPSHOT = 0, VIA_FORK = 1, VIA_EXEC = 2, VIAS };

enum jitcode_kind { JITCODE_LOAD = 0, JITCODE_MOVE = 1, JITCODE_CLOSE = 2, JITCODE_MARK = 3, JITCODE_KINDS };

/* The outcome of each tick. The counts of all outcomes with outcome_is_tick add up to EXPECTED. */
enum outcome {
	OUTCOME_EXPECTED = 0, /* online CPU time / period */
	OUTCOME_EMITTED = 1,
	OUTCOME_IDLE = 2,
	OUTCOME_FILTERED = 3,  /* the process or thread was not selected */
	OUTCOME_GUEST = 4,     /* a virtual machine's guest was running */
	OUTCOME_RING_FULL = 5, /* lost: user space was late */
	OUTCOME_NESTED = 6,    /* lost: due during another sample or another program of the recorder */
	OUTCOME_FAILED = 7,    /* lost: the kernel returned an error, or the CPU could not be sampled */
	OUTCOME_THROTTLED = 8, /* lost: the kernel throttled the event */
	OUTCOME_OFFLINE = 9,   /* lost: the CPU was offline until the recorder attached again */
	OUTCOME_NO_MEMORY = 10,
	OUTCOME_MISSED = 11,   /* no tick came: late timer, suspended machine, task younger than a period */
	OUTCOME_SIDEBAND_LOST = 12, /* not ticks: lost records of mappings, commands and forks */
	OUTCOME_NO_SPACE = 13, /* lost: there was no space to write them to */
	OUTCOME_WAITS_LOST = 14, /* not ticks: lost records of waiting time, of one wait or many short ones */
	OUTCOME_REST = 15, /* TALLY only: events after the last sample, which no sample stands for */
	OUTCOMES,
};

/* Returns true for the outcomes of a tick: together they add up to the ticks expected. */
static inline bool outcome_is_tick(uint64_t outcome)
{
	return outcome != OUTCOME_EXPECTED && outcome < OUTCOMES && outcome != OUTCOME_SIDEBAND_LOST &&
	       outcome != OUTCOME_WAITS_LOST && outcome != OUTCOME_REST;
}

/* Returns true if the tick should have become a sample. */
static inline bool outcome_is_lost(uint64_t outcome)
{
	return (outcome >= OUTCOME_RING_FULL && outcome <= OUTCOME_NO_MEMORY) || outcome == OUTCOME_NO_SPACE;
}

/* Like outcome_is_lost, for events that are not ticks: missed ones did happen, so they count as lost too. */
static inline bool outcome_is_lost_event(uint64_t outcome)
{
	return outcome_is_lost(outcome) || outcome == OUTCOME_MISSED;
}

enum cost {
	COST_USER_NS = 0, /* the recorder's CPU time */
	COST_SYSTEM_NS = 1,
	COST_BPF_NS = 2, /* run time of the BPF program, as the kernel accounts it */
	COST_BPF_RUNS = 3,
	COST_BYTES = 4,  /* bytes written to the stream */
	COST_RSS_BYTES = 5, /* peak resident memory of the recorder */
	COST_TABLE_BYTES = 6, /* peak kernel memory of unwind tables and mappings */
	COST_TABLES = 7, /* unwind tables built; a table built twice counts twice */
	COST_TABLES_REFUSED = 8, /* times that a table or a process's mappings found no room in that memory */
	COST_TABLES_EVICTED = 9, /* tables evicted to make room for others */
	COST_STACKS_DEFERRED = 10, /* stacks unwound in user space */
	COSTS,
};

/* Returns true for costs that are peaks: over several segments the largest counts, not the sum. */
static inline bool cost_is_peak(uint64_t cost)
{
	return cost == COST_RSS_BYTES || cost == COST_TABLE_BYTES;
}

/* Languages whose functions the recorder reads from the interpreter's memory. */
enum language {
	LANGUAGE_NONE = 0,
	LANGUAGE_PYTHON = 1,
	LANGUAGE_RUBY = 2,
	LANGUAGE_PHP = 3,
	LANGUAGE_PERL = 4,
	LANGUAGE_JAVASCRIPT = 5,
	LANGUAGE_JAVA = 6,
	LANGUAGES,
};

/* Whether a frame's function is known, and if not, why. */
enum lang_state {
	LANG_OK = 0,
	LANG_NO_METADATA = 1,  /* the interpreter's file lacks the data that tells where its state is */
	LANG_UNSUPPORTED = 2,  /* a version or build of the interpreter whose structures are not known */
	LANG_NOT_YET = 3,      /* the interpreter was not known yet when the sample was taken */
	LANG_UNREADABLE = 4,   /* its memory could not be read, or did not hold the expected data */
	LANG_OVER_BUDGET = 5,  /* the sample met more new functions than one sample may read */
	LANG_LOST = 6,         /* the record with the name was lost */
	LANG_DEPTH = 7,        /* outer frames are missing: the limit of frames was reached */
	LANG_STATES,
};

/* How the code of a frame was made. */
enum lang_tier {
	LANG_TIER_NONE = 0, /* unknown, or the language has only one */
	LANG_TIER_INTERPRETED = 1,
	LANG_TIER_BASELINE = 2, /* by a compiler that hardly optimizes */
	LANG_TIER_OPTIMIZED = 3,
	LANG_TIER_BUILTIN = 4, /* a part of the runtime with a name of the language */
	LANG_TIER_NATIVE = 5,  /* a function of the language whose body is machine code */
	LANG_TIER_STUB = 6,    /* glue that the runtime has made */
	LANG_TIERS,
};

/* Bits of record_function.flags. */
enum { FUNCTION_TOP_LEVEL = 1, FUNCTION_BUILTIN = 2, FUNCTION_EVAL = 4, FUNCTION_INFERRED = 8 };

/* The end of a wait. */
enum woken_by {
	WOKEN_BY_UNKNOWN = 0,
	WOKEN_BY_TASK = 1, /* the waker; all others are no thread's work */
	WOKEN_BY_TIMER = 2,
	WOKEN_BY_DISK = 3,
	WOKEN_BY_NETWORK = 4,
	WOKEN_BY_INTERRUPT = 5, /* another device, or another CPU */
	WOKEN_BY_SOFTIRQ = 6,   /* for no known device */
	WOKEN_BY_IDLE = 7,      /* the idle task */
	WOKEN_BY_BRIEF = 8,     /* not recorded, because the thread slept for less than the least time */
	WOKEN_BYS,
};

/* The futex that a thread waited for. The first four have a holder. */
enum lock_kind {
	LOCK_FUTEX = 0,  /* a condition variable, a semaphore, or a lock that does not tell its holder */
	LOCK_MUTEX = 1,
	LOCK_PI = 2,     /* a mutex with priority inheritance */
	LOCK_ROBUST = 3, /* a mutex that survives its holder */
	LOCK_RWLOCK = 4, /* held for writing */
	LOCK_JOIN = 5,   /* the end of a thread, which is the holder */
	LOCK_KINDS,
};

enum end_reason { END_CLOSED = 0, END_CONTINUES = 1, END_ERROR = 2, END_REASONS };

/* The source of a name. If two names are for the same frame and time, the one with the higher rank counts. */
enum name_source {
	NAME_NONE = 0, /* looked for and not found; SOURCE says why */
	NAME_DYNSYM = 1,
	NAME_PLT = 2,
	NAME_PERFMAP = 3,
	NAME_SYMTAB = 4,
	NAME_KSYM = 5,
	NAME_DEBUG = 6, /* a separate debug file */
	NAME_GO = 7,        /* .gopclntab */
	NAME_MINIDEBUG = 8, /* .gnu_debugdata */
	NAME_BOUNDS = 9,    /* no name, only the function's start: "[libx.so+0x1230]" */
	NAME_JITDUMP = 10,
	NAME_LABEL = 11, /* the frame is not code: its name is an argument of a probe */
	NAME_SOURCES,
};

/* Returns the rank of a source; 0 is the lowest. */
static inline unsigned int name_source_rank(uint64_t source)
{
	static const unsigned char ranks[NAME_SOURCES] = {
		[NAME_NONE] = 0,    [NAME_BOUNDS] = 1,	  [NAME_DYNSYM] = 2, [NAME_PLT] = 3,  [NAME_PERFMAP] = 4,
		[NAME_JITDUMP] = 5, [NAME_MINIDEBUG] = 6, [NAME_GO] = 7,     [NAME_SYMTAB] = 8, [NAME_KSYM] = 9,
		[NAME_DEBUG] = 10,  [NAME_LABEL] = 11,
	};

	return source < NAME_SOURCES ? ranks[source] : 0;
}

/* The result of opening a file to name its frames. */
enum source_status {
	SOURCE_OK = 0,
	SOURCE_NO_FILE = 1,
	SOURCE_MISMATCH = 2, /* the build ID differs: the file was replaced */
	SOURCE_STRIPPED = 3, /* the right file, without symbols */
	SOURCE_NOT_ELF = 4,
	SOURCE_PERMISSION = 5,
	SOURCE_DAMAGED = 6,
	SOURCE_NOT_A_FILE = 7, /* anonymous memory */
	SOURCE_CHANGED = 8,    /* no build ID was recorded, and inode or time show another file */
	SOURCE_STATUSES,
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

enum field_kind {
	FIELD_U,    /* varint, decimal */
	FIELD_X,    /* varint, hexadecimal */
	FIELD_TIME, /* zigzag difference to the last time in the block */
	FIELD_ENUM, /* varint with names */
	FIELD_TEXT, /* slice, quoted */
	FIELD_HEX,  /* slice, hexadecimal digits */
};

struct field {
	const char *name;
	enum field_kind kind;
	uint16_t at;              /* offset in struct record */
	const char *const *names; /* FIELD_ENUM: one per value */
	uint16_t n_names;
};

struct record_desc {
	const char *name; /* NULL: the number is not used */
	const struct field *fields;
	size_t n;
	size_t least; /* fields of the first version that had the record; further ones may be missing, and are 0 */
	bool trims;   /* further ones are left out if they and all after them are 0 */
};

/* Returns the row of a type, or NULL if this version does not know the type. */
const struct record_desc *record_desc(uint32_t type);

/*
 * Decode or encode the body of one record by the table. *time is the last time in the block; both update it.
 * Decoding returns false if the body ends before desc.least fields do, and makes bytes after the known
 * fields the tail. Slices in r point into body. Not for FRAME, NODE and SAMPLE, which are coded as runs
 * (batch.h, writer.c).
 */
bool record_decode(struct record *r, uint32_t type, struct slice body, uint64_t *time);
void record_encode(struct buf *out, const struct record *r, uint64_t *time);
/*
 * A faster record_encode for SYMBOL, because there may be one per frame. Stores at most RECORD_SYMBOL_MAX
 * bytes and returns the address after them.
 */
enum { RECORD_SYMBOL_MAX = 8 * VARINT_MAX };
uint8_t *record_store_symbol(uint8_t *p, const struct record_symbol *s, uint64_t *time);

/* Appends one record as a line of text, without the newline. */
void record_print(struct buf *out, const struct record *r);
/* Parses such a line. Slices in r point into scratch. Returns false after putting a sentence into error. */
bool record_parse(struct record *r, const char *line, struct buf *scratch, struct buf *error);

/* Names of values in the text form, or "unknown". */
const char *root_name(uint64_t root);       /* "complete", "depth", … */
const char *outcome_name(uint64_t outcome); /* "emitted", … */
const char *source_status_name(uint64_t status);
const char *name_source_name(uint64_t source);
const char *language_name(uint64_t language);     /* "python", … */
const char *lang_state_name(uint64_t state);      /* "ok", "not-yet", … */
const char *woken_by_name(uint64_t by);           /* "task", "timer", … */
const char *lock_kind_name(uint64_t kind);        /* "mutex", "join", … */

#endif
